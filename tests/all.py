# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/all [--full] [--strict] [--suite SUITE]... [--no-vm]: the tests, and a last line with how many passed, failed and were skipped.

Installs the packages that it needs, builds with the address and undefined-behaviour sanitizers, runs the unit and integration
tests, most unit tests once more without root, and replays the fuzz corpora. Then runs scenarios in virtual machines: a short list on
Debian 13, or with --full all of them on Debian 12, 13 and sid. A scenario that passes only in a second or third attempt is listed as
unsteady; --strict counts it as failed. Needs root on Debian 12 or 13. The first run makes the images, which takes minutes; they are
kept in ~/.cache/rdmad-vm.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
SUITES = ('bookworm', 'trixie', 'sid')
MESON_OUTCOMES = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}
# a user namespace: another user without capabilities, who still owns what is root's, as the source that nobody else may read
WITHOUT_ROOT = ['unshare', '--user', '--map-user=65534', '--map-group=65534']


def run_meson_tests(build, counts, log, options=()):
    # a machine may have more to do
    subprocess.run(['meson', 'test', '-C', build, '--no-rebuild', '--print-errorlogs', '--timeout-multiplier', '10', '--logbase', log,
                    *options])
    # meson adds the name of a wrapper
    [path] = glob.glob(f'{build}/meson-logs/{log}*.json')
    with open(path) as results:
        for line in results:
            counts[MESON_OUTCOMES.get(json.loads(line)['result'], 'failed')] += 1


def meson_tests(counts):
    with tempfile.TemporaryDirectory(prefix='rdmad-build-') as build:
        # unoptimized, and little to debug by: the sanitizers make the compiler slow
        setup = subprocess.run(['meson', 'setup', '--optimization=0', '-Dcpp_args=-g1', '-Db_sanitize=address,undefined',
                                '-Db_lundef=false', '-Dtests=enabled', '-Dman=enabled', build, SOURCE], stdout=subprocess.DEVNULL)
        if setup.returncode or subprocess.run(['ninja', '-C', build, '--quiet']).returncode:
            print('failed  the build')
            counts['failed'] += 1
            return
        run_meson_tests(build, counts, 'as-root')
        # packages are built without root
        if subprocess.run([*WITHOUT_ROOT, 'true']).returncode == 0:
            options = ['--suite', 'unit', '--no-suite', 'long', '--wrapper', ' '.join(WITHOUT_ROOT)]
            run_meson_tests(build, counts, 'without-root', options)
        else:
            print('skipped  the unit tests without root: there are no user namespaces')
            counts['skipped'] += 1


def start_images(suites):
    """Starts to make the images while the tests without a machine run: much of it is waiting for a mirror."""
    return [subprocess.Popen([f'{HERE}/vm/mkimage', suite]) for suite in suites]


def vm_scenarios(options, counts):
    command = [f'{HERE}/vm/run'] + [word for suite in options.suite or () for word in ('--suite', suite)]
    command += ([] if options.full else ['--gate']) + (['--strict'] if options.strict else [])
    last = ''
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        for last in run.stdout:
            print(last, end='', flush=True)
    found = re.findall(r'(\d+) (passed|failed|skipped)', last)
    if len(found) != 3:
        print('failed  the scenarios broke off')
        counts['failed'] += 1
    for number, outcome in found:
        counts[outcome] += int(number)


def main():
    parser = argparse.ArgumentParser(prog='tests/all', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--full', action='store_true', help='all scenarios, on all suites')
    parser.add_argument('--strict', action='store_true', help='count unsteady scenarios as failed')
    parser.add_argument('--suite', action='append', choices=SUITES, help='machines to use; default: trixie, with --full all')
    parser.add_argument('--no-vm', action='store_true', help='leave the virtual machines out')
    options = parser.parse_args()
    subprocess.run([f'{HERE}/prepare'], check=True)
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    suites = options.suite or (SUITES if options.full else ('trixie',))
    images = [] if options.no_vm else start_images(suites)
    meson_tests(counts)
    if any([image.wait() for image in images]):
        print('failed  the images')
        counts['failed'] += 1
    elif images:
        vm_scenarios(options, counts)
    print('all: ' + ', '.join(f'{number} {outcome}' for outcome, number in counts.items()))
    return 1 if counts['failed'] else 0


sys.exit(main())
