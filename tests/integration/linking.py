# SPDX-License-Identifier: LGPL-2.1-or-later
"""linking.py RDMA_ID OPTION: checks that rdma_id is position-independent, and linked to what -Dstatic-helper=OPTION says."""
import os
import re
import subprocess
import sys

C, CPP = {'libc.so', 'libnl-3.so'}, {'libstdc++.so', 'libgcc_s.so'}
# the libraries that are shared, and those that are linked in
LIBRARIES = {'disabled': (C | {'libstdc++.so'}, set()), 'libstdc++': (C, CPP), 'enabled': (set(), C | CPP)}


def mistakes(headers, option):
    kind = re.search(r'^ *Type: *(\w+)', headers, re.M)[1]
    needed = {re.sub(r'\.so\..*', '.so', name) for name in re.findall(r'\(NEEDED\).*\[(.*)\]', headers)}
    shared, linked_in = LIBRARIES[option]
    if kind != 'DYN':
        yield f'it is {kind}, not position-independent'
    for name in sorted(shared - needed):
        yield f'{name} is not shared'
    for name in sorted(linked_in & needed):
        yield f'{name} is shared'


def main():
    program, option = sys.argv[1:]
    headers = subprocess.run(['readelf', '--wide', '--file-header', '--dynamic', program], capture_output=True, check=True, text=True,
                             env=os.environ | {'LC_ALL': 'C'}).stdout
    found = list(mistakes(headers, option))
    for what in found:
        print(f'{program}, static-helper={option}: {what}')
    sys.exit(bool(found))


main()
