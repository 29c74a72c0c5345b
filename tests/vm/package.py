# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds rdmad in a suite's own compiler and libraries, and installs it into a machine."""
import fcntl
import filecmp
import functools
import hashlib
import os
import shutil
import subprocess
import tarfile

from machine import CACHE, HERE, MachineError, layers

SOURCE = os.path.dirname(os.path.dirname(HERE))
SETUP = '--prefix=/usr --libexecdir=lib --buildtype=release --wrap-mode=nofallback -Dtests=disabled'


@functools.cache
def build(suite, options='', commit=''):
    """A tar file of what `meson install` puts where, as a distribution would package it. commit: of which, if not of this tree."""
    tree = layers(suite)['build']
    source = f'rdmad-{commit}' if commit else 'rdmad'
    name = 'package' + options.replace('-D', '-').replace(' ', '').replace('/', '_') + (f'-{commit}' if commit else '')
    # a build tree keeps the options that it was set up with, and the defaults of that day
    folder = f'{name}-{hashlib.sha256(SETUP.encode()).hexdigest()[:8]}.build'
    with open(os.path.join(CACHE, f'{suite}-build.lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if commit:
            _copy_commit(commit, f'{tree}/src/{source}')
        else:
            _copy_source(f'{tree}/src/{source}')
        script = (f'set -e; mount -t proc proc {tree}/proc; exec chroot {tree} sh -ec "'
                  f'cd /src; [ -d {folder} ] || meson setup {SETUP} {options} {folder} {source}; '
                  f'ninja -C {folder}; rm -rf {name}.dest; DESTDIR=/src/{name}.dest meson install -C {folder}; '
                  f'tar -C {name}.dest -cf {name}.tar ."')
        done = subprocess.run(['unshare', '-m', 'sh', '-c', script], capture_output=True, text=True)
        if done.returncode:
            raise MachineError(f'rdmad does not build on {suite}:\n{done.stdout[-6000:]}{done.stderr[-2000:]}')
    return f'{tree}/src/{name}.tar'


@functools.cache
def digest(suite, commit=''):
    """Of what install() puts where."""
    total = hashlib.sha256()
    with tarfile.open(build(suite, commit=commit)) as package:
        for member in sorted(package, key=lambda member: member.name):
            total.update(f'{member.name} {member.mode:o} {member.linkname}\0'.encode())
            total.update(package.extractfile(member).read() if member.isfile() else b'')
    return total.hexdigest()[:12]


def resolve(ref):
    """The commit that a name stands for now."""
    done = subprocess.run(['git', '-c', 'safe.directory=*', '-C', SOURCE, 'rev-parse', '--verify', '--quiet', f'{ref}^{{commit}}'],
                          capture_output=True, text=True)
    if done.returncode:
        raise MachineError(f'{SOURCE} does not have {ref}')
    return done.stdout.strip()[:12]


def _copy_commit(commit, target):
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    script = 'git -c safe.directory="*" -C "$1" archive "$2" | tar -C "$3" -xf -'
    done = subprocess.run(['bash', '-o', 'pipefail', '-ec', script, '', SOURCE, commit, target], capture_output=True, text=True)
    if done.returncode:
        raise MachineError(f'{SOURCE} does not have {commit}: {done.stderr}')


def _copy_source(target):
    """The files that git knows or would take. What differs is copied with the time of now: two checkouts may take turns, and ninja
    builds what is newer than its objects."""
    # root may build what another user has checked out
    files = subprocess.run(['git', '-c', 'safe.directory=*', '-C', SOURCE, 'ls-files', '-z',
                            '--cached', '--others', '--exclude-standard'],
                           capture_output=True, check=True).stdout.decode().split('\0')
    wanted = {name for name in files if name and os.path.isfile(os.path.join(SOURCE, name))}
    for directory, _, names in os.walk(target):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.relpath(path, target) not in wanted:
                os.unlink(path)
    for name in wanted:
        source, copy = os.path.join(SOURCE, name), os.path.join(target, name)
        if not os.path.exists(copy) or not filecmp.cmp(source, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(source, copy)
        shutil.copymode(source, copy)


def install(machine, options='', commit=''):
    """rdmad as a package would install it, and udev told of the rules."""
    with open(build(machine.suite, options, commit), 'rb') as file:
        machine.put(file.read(), '/run/rdmad.tar')
    # 0755 of a packaged directory must not change those of the system
    machine.run('tar -C / --keep-directory-symlink --no-overwrite-dir --no-same-owner -xf /run/rdmad.tar && rm /run/rdmad.tar && '
                'udevadm control --reload && systemctl daemon-reload && systemctl start rdmad.socket')


def upgrade(machine, commit):
    """Replaces the package of a commit by that of this tree, as a distribution does: see "For packagers" in README.md."""
    install(machine)
    with tarfile.open(build(machine.suite, commit=commit)) as old, tarfile.open(build(machine.suite)) as new:
        gone = {file.name for file in old if not file.isdir()} - {file.name for file in new}
    for name in sorted(gone):
        machine.run(f'rm "/{name}"')
    machine.run('udevadm control --reload; systemctl daemon-reload; systemctl try-restart rdmad.service; '
                'udevadm trigger -s infiniband -s infiniband_verbs -s infiniband_mad; udevadm settle')
