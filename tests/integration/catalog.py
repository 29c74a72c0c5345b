#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""catalog.py ROOT: each message ID of daemon/log.hpp has one entry in units/rdmad.catalog and one in rdmad.service(8), and entries
name no field that no message has."""
import os
import re
import sys

HEADERS = ('Subject', 'Defined-By', 'Support')
ID = '[0-9a-f]{32}'


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def entries(catalog):
    """(ID, what follows it) for each entry."""
    parts = re.split(rf'^-- ({ID})\n', catalog, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def mistakes(root):
    log, catalog, page = read(root, 'daemon', 'log.hpp'), read(root, 'units', 'rdmad.catalog'), read(root, 'man', 'rdmad.service.8.rst')
    ids = sorted(re.findall(rf'"({ID})"', log))
    fields = set(re.findall(r'constexpr std::string_view \w+ = "([A-Z_]+)"', log)) | {'MESSAGE'}
    assert ids and len(fields) > 1, 'daemon/log.hpp has no IDs or no fields'
    if (seen := sorted(found for found, _ in entries(catalog))) != ids:
        yield f'IDs of the catalog that log.hpp has not, or the other way round: {set(seen) ^ set(ids) or "one is there twice"}'
    if (seen := sorted(re.findall(rf'^({ID})$', page, re.M))) != ids:
        yield f'IDs of rdmad.service(8) that log.hpp has not, or the other way round: {set(seen) ^ set(ids) or "one is there twice"}'
    if missing := fields - {'MESSAGE'} - set(re.findall(r'\b[A-Z]+(?:_[A-Z]+)*\b', page)):
        yield f'fields that rdmad.service(8) does not tell: {missing}'
    for found, entry in entries(catalog):
        head, _, text = entry.partition('\n\n')
        yield from (f'{found}: no {header}:' for header in HEADERS if not re.search(f'^{header}: .', head, re.M))
        if not text.strip():
            yield f'{found}: no text'
        if unknown := set(re.findall('@([^@\n]+)@', entry)) - fields:
            yield f'{found}: no message has {unknown}'


def main(root):
    found = list(mistakes(root))
    print('\n'.join(found + [f'{len(found)} mistakes']))
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
