#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""rules.py ROOT: what 61-rdmad-id.rules imports from udev's database where the helper fails is what the helper prints.

A property that the rules miss would go with a failed lookup, and with it a unit; one that the helper no longer prints would stay.
What 59-rdmad-name.rules has imported is not imported again: that would run the helper twice in the first event of each node.
"""
import os
import re
import sys

# 59-rdmad-name.rules or the rules' own first line import it
BEFORE = {'ID_RDMA_INDEX'}
# rdma_id prints it for uverbs and issm, for umad rdma-core's rules assign it: the rules import it with a condition
CONDITIONAL = {'SYSTEMD_ALIAS'}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def imported(rules):
    """Returns the keys that the rules import between the call of the helper and the label after it, and those with a condition."""
    fallback = rules.split('LABEL="rdmad_id_links"')[0].rsplit('IMPORT{program}', 1)[1]
    lines = re.findall(r'^(.*)IMPORT\{db\}="(\w+)"', fallback, re.MULTILINE)
    return {key for condition, key in lines if not condition}, {key for condition, key in lines if condition}


def portions(rules):
    """Returns the keys of links that the rules assign to SYMLINK."""
    return set(re.findall(r'SYMLINK\+="\$env\{(\w+)\}"', rules))


def printed(source):
    """Returns the keys that output.cpp prints; those of links are one stem with a number behind it."""
    keys = set(re.findall(r'"((?:ID_RDMA|SYSTEMD)_[A-Z_]+)"', source))
    assert 'ID_RDMA_DEVLINKS' in keys and len(keys) > 10, keys
    return keys


def repetitions(naming, rules):
    """Yields why 61-rdmad-id.rules would import what 59-rdmad-name.rules (naming) has imported."""
    before, way_out, behind = rules.partition('ENV{.RDMAD_IMPORTED}=="1", GOTO="rdmad_id_links"\n')
    after = behind.partition('LABEL="rdmad_id_links"\n')[2]
    if not way_out or not after or 'IMPORT{' in before + after:
        yield '61-rdmad-id.rules imports outside of what it skips after an import'
    # 59 notes an alias that it has just imported, and only where that is gone 61 imports again
    noted = re.search(r'ENV\{\.RDMAD_IMPORTED\}="1"\n[^"]*KERNEL.*ENV\{SYSTEMD_ALIAS\}==("\S+"), ENV\{\.RDMAD_ALIASED\}="1"$',
                      naming, re.MULTILINE)
    again = [line for line in before.splitlines() if line.endswith('ENV{.RDMAD_IMPORTED}=""')]
    if not noted or again != [f'ENV{{.RDMAD_ALIASED}}=="1", ENV{{SYSTEMD_ALIAS}}!={noted[1]}, ENV{{.RDMAD_IMPORTED}}=""']:
        yield '61-rdmad-id.rules may import again for a node that had no alias'


def mistakes(rules, source):
    unconditional, conditional = imported(rules)
    links = portions(rules)
    wanted = printed(source) - BEFORE - CONDITIONAL | links
    if unconditional != wanted:
        yield f'the rules import {sorted(unconditional - wanted)} too much and miss {sorted(wanted - unconditional)}'
    if conditional != CONDITIONAL:
        yield f'imported with a condition: {sorted(conditional)}, not {sorted(CONDITIONAL)}'
    if 'ID_RDMA_DEVLINKS' not in links or any(not key.startswith('ID_RDMA_DEVLINKS') for key in links):
        yield f'SYMLINK has {sorted(links)}'


def main(root):
    rules = read(root, 'rules', '61-rdmad-id.rules')
    naming = read(root, 'rules', '59-rdmad-name.rules')
    source = read(root, 'udev-helpers', 'rdma_id', 'output.cpp')
    # a test that finds nothing proves something only if it can find something
    assert list(mistakes(rules.replace('IMPORT{db}="ID_RDMA_FW"', ''), source))
    assert list(mistakes(rules, source.replace('"ID_RDMA_FW"', '"ID_RDMA_FIRMWARE"')))
    assert list(repetitions(naming, 'IMPORT{db}="ID_RDMA_INDEX"\n' + rules))
    assert list(repetitions(naming, rules.replace('ENV{.RDMAD_ALIASED}=="1", ', '')))
    assert list(repetitions(naming.replace('ENV{.RDMAD_ALIASED}="1"', ''), rules))
    found = list(mistakes(rules, source)) + list(repetitions(naming, rules))
    print('\n'.join(found + [f'{len(found)} mistakes']))
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
