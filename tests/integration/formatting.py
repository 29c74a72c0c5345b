#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""formatting.py SOURCE: the C++ files are as clang-format writes them. Versions differ: the one of Debian 12 judges."""
import re
import shutil
import subprocess
import sys

VERSION = '14'
FOLDERS = ('core', 'udev-helpers', 'daemon', 'ctl', 'tests')

program = shutil.which(f'clang-format-{VERSION}') or shutil.which('clang-format')
if not program:
    print('skipped: clang-format is not installed')
    sys.exit(77)
found = re.search(r'version (\d+)', subprocess.run([program, '--version'], capture_output=True, text=True).stdout)[1]
if found != VERSION:
    print(f'skipped: clang-format is version {found}, not {VERSION}')
    sys.exit(77)
files = subprocess.run(['find', *FOLDERS, '-name', '*.?pp'], cwd=sys.argv[1], capture_output=True, text=True).stdout.split()
assert len(files) > 40, files
sys.exit(subprocess.run([program, '--dry-run', '--Werror', *files], cwd=sys.argv[1]).returncode)
