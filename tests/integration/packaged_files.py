#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""packaged_files.py SOURCE MESON: what the README tells packagers is what meson installs."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, MESON = sys.argv[1:3]
PROGRAMS = ['initrd-files', 'rdmad', 'rdmad-holders', 'rdmad-recovery']


def listed():
    """The files that the README lists."""
    with open(SOURCE + '/README.md', encoding='utf-8') as file:
        section = file.read().split('\n## For packagers\n')[1].split('\n## ')[0]
    return re.findall(r'^    (/\S+)$', section, re.M)


class Build:
    """A build tree that is set up, and not built."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix='rdmad-package')
        man = 'enabled' if shutil.which('rst2man') or shutil.which('rst2man.py') else 'disabled'
        # Debian 12 says /lib, which is a link to /usr/lib
        done = subprocess.run([MESON, 'setup', self.folder, SOURCE, '--prefix=/usr', '-Dudevdir=/usr/lib/udev', f'-Dman={man}',
                               '-Dsystemdsystemunitdir=/usr/lib/systemd/system', '-Dtests=disabled', '-Dstatic-helper=disabled', *options],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        self.has_man_pages = man == 'enabled'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def installed(self):
        done = subprocess.run([MESON, 'introspect', '--installed', self.folder], capture_output=True, text=True, check=True)
        return sorted(json.loads(done.stdout).values())

    def read(self, path):
        with open(f'{self.folder}/{path}', encoding='utf-8') as file:
            return file.read()


class PackagedFiles(unittest.TestCase):
    maxDiff = None

    def test_the_readme_lists_what_is_installed(self):
        files = listed()
        self.assertEqual(len(files), len(set(files)))
        with Build() as build:
            if not build.has_man_pages:
                files = [path for path in files if not path.startswith('/usr/share/man/')]
            self.assertEqual(sorted(files), build.installed())

    def test_other_folders_for_programs_and_no_initrd(self):
        with Build('-Dlibexecdir=libexec', '-Ddracut=false', '-Dinitramfs-tools=false') as build:
            installed = build.installed()
            self.assertEqual([path for path in installed if path.startswith('/usr/libexec/')],
                             [f'/usr/libexec/rdmad/{name}' for name in PROGRAMS])
            self.assertFalse([path for path in installed if '/usr/lib/rdmad' in path or 'dracut' in path or 'initramfs' in path])
            for name in PROGRAMS[1:]:
                self.assertIn(f'ExecStart=/usr/libexec/rdmad/{name}\n', build.read(f'units/{name}.service'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
