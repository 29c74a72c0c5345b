#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""includes.py ROOT: holds each #include of the tree against the table of docs/ARCHITECTURE.md.

All of our headers are included by their path from the root, so Meson alone cannot stop a wrong one.
"""
import os
import re
import sys

# What the table calls a library, and its headers. libc and std are everybody's.
LIBRARIES = {
    'libnl': re.compile(r'netlink/(?!genl/)'),
    'libnl-genl': re.compile(r'netlink/genl/'),
    'libsystemd': re.compile(r'systemd/'),
    'libudev': re.compile(r'libudev\.h$'),
    'syslog': re.compile(r'(sys/)?syslog\.h$'),
    'nlohmann_json': re.compile(r'nlohmann/'),
    'fmt': re.compile(r'fmt/'),
    'CLI11': re.compile(r'CLI/'),
    'tl::expected': re.compile(r'tl/'),
}
FOLDER = re.compile(r'(core|interfaces|udev-helpers|daemon|ctl)(/\w+)?')
ROW = re.compile(r'^\| ([\w/, -]+?) \| ([^|]+) \|', re.MULTILINE)


def read_table(text):
    """Returns (folder, the folders of ours that it may use beside itself, the libraries that it may use) for each folder of the
    table of docs/ARCHITECTURE.md. The first row that fits a file counts."""
    table = []
    for left, right in ROW.findall(text):
        words = [word.strip() for word in right.split(',')]
        if left == 'folder' or set(left) == {'-'}:
            continue
        unknown = [word for word in words if word not in LIBRARIES and word not in ('libc', 'std') and not FOLDER.fullmatch(word)]
        assert not unknown, f'docs/ARCHITECTURE.md: {left} may use {unknown}, which is no folder or library known here'
        for folder in left.split(', '):
            table.append((folder, [word for word in words if FOLDER.fullmatch(word)], [word for word in words if word in LIBRARIES]))
    return table

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def is_below(path, folder):
    return path.startswith(folder + '/')


def complaint(table, path, quote, header, exists):
    """What is wrong with an include line of a file, None if nothing is."""
    row = next((row for row in table if is_below(path, row[0])), None)
    if not row:
        return 'the folder is not in the table'
    folder, folders, libraries = row
    if quote == '<':
        used = next((name for name, pattern in LIBRARIES.items() if pattern.match(header)), None)
        return None if used is None or used in libraries else f'{folder} may not use {used}'
    if not exists(header):
        return 'there is no such file below the root'
    if any(is_below(header, allowed) for allowed in [folder] + folders):
        return None
    return f'{folder} may not use {os.path.dirname(header)}'


def complaints(table, root):
    def exists(header):
        return any(os.path.isfile(os.path.join(root, header + suffix)) for suffix in ('', '.in'))

    for top in ['core', 'udev-helpers', 'daemon', 'ctl']:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith(('.cpp', '.hpp', '.c', '.h')):
                    continue
                full = os.path.join(directory, name)
                path = os.path.relpath(full, root)
                with open(full, encoding='utf-8') as file:
                    for number, line in enumerate(file, 1):
                        found = INCLUDE.match(line)
                        wrong = found and complaint(table, path, found[1], found[2], exists)
                        yield path, f'{path}:{number}: {line.strip()}: {wrong}' if wrong else None


def check_myself(table):
    """A test that finds nothing proves something only if it can find something."""
    wrong = [('core/base/text.cpp', '"', 'core/nldev/wire.hpp'), ('core/nldev/wire.cpp', '"', 'core/sysfs/directory.hpp'),
             ('core/sysfs/directory.cpp', '"', 'udev-helpers/rdma_id/log.hpp'), ('core/naming/links.cpp', '<', 'syslog.h'),
             ('core/nldev/client.cpp', '<', 'systemd/sd-event.h'), ('core/sysfs/directory.cpp', '<', 'netlink/netlink.h'),
             ('udev-helpers/rdma_id/main.cpp', '"', 'daemon/manager.hpp'), ('udev-helpers/rdma_id/main.cpp', '<', 'libudev.h'),
             ('ctl/list.cpp', '"', 'core/nldev/wire.hpp'), ('ctl/list.cpp', '<', 'systemd/sd-bus.h'), ('daemon/log.cpp', '"', 'ctl/list.hpp'),
             ('core/new/file.cpp', '<', 'string')]
    right = [('core/base/text.cpp', '"', 'core/base/text.hpp'), ('core/nldev/wire.cpp', '"', 'core/base/c_ptr.hpp'),
             ('core/nldev/wire.cpp', '<', 'netlink/attr.h'), ('udev-helpers/rdma_id/main.cpp', '"', 'core/nldev/client.hpp'),
             ('core/base/text.cpp', '<', 'linux/netlink.h')]
    for line in wrong:
        assert complaint(table, *line, lambda header: True), line
    for line in right:
        assert not complaint(table, *line, lambda header: True), line
    assert complaint(table, 'core/base/text.cpp', '"', 'text.hpp', lambda header: False)


def main(root):
    with open(os.path.join(root, 'docs', 'ARCHITECTURE.md'), encoding='utf-8') as file:
        table = read_table(file.read())
    check_myself(table)
    lines = list(complaints(table, root))
    assert any(path.startswith('core/nldev/') for path, _ in lines), 'no sources below ' + root
    wrong = [text for _, text in lines if text]
    print('\n'.join(wrong + [f'{len(lines)} lines, {len(wrong)} wrong']))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
