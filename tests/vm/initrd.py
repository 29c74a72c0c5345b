# SPDX-License-Identifier: LGPL-2.1-or-later
"""An initrd by a distribution's own tool, and a root file system beside it that has rdmad installed."""
import contextlib
import os
import shutil
import subprocess
import tempfile

import machine
import package

# what the initrd saw last, for the system after it
RECORD = 'ls /sys/class/infiniband > /run/initrd-names'
HOOK = f'#!/bin/sh\n[ "$1" = prereqs ] || {{ {RECORD}; }}\n'
MODULE = f'#!/bin/bash\ncheck() {{ return 0; }}\ninstall() {{ inst_hook pre-pivot 50 "$moddir/record.sh"; }}\n'
TOOLS = {'initramfs-tools': 'mkinitramfs -o /initrd.out {kernel}; zcat /initrd.out > /initrd || cp /initrd.out /initrd',
         'dracut': 'dracut --quiet --no-hostonly --no-compress --kver {kernel} --force /initrd'}


@contextlib.contextmanager
def image(suite, tool, files):
    """A directory like that of mkimage: vmlinux, initrd.cpio by the tool, and root.img, in which rdmad names devices by the
    files {path: text}; without text it is a link to /dev/null, and text "-> TARGET" is a link, too."""
    layers = machine.layers(suite)
    with open(f'{layers["img"]}/kernel') as file:
        kernel = file.read().strip()
    directory = tempfile.mkdtemp(prefix=f'initrd-{suite}-', dir=machine.CACHE)
    try:
        for name in ('upper', 'work', 'root'):
            os.mkdir(f'{directory}/{name}')
        _furnish(f'{directory}/upper', files)
        root = f'{directory}/root'
        script = (f'set -ex; mount -t overlay -o lowerdir={layers["root"]},upperdir={directory}/upper,workdir={directory}/work '
                  f'overlay {root}; tar -C {root} --keep-directory-symlink --no-overwrite-dir --no-same-owner -xf {package.build(suite)}; '
                  f'mount -t proc proc {root}/proc; mount -t sysfs -o ro sys {root}/sys; mount -t tmpfs run {root}/run; '
                  f'mount --bind /dev {root}/dev; chroot {root} /usr/lib/udev/rdma_id --naming enable; '
                  f'chroot {root} sh -exc "{TOOLS[tool].format(kernel=kernel)}"; '
                  f'umount {root}/dev {root}/run {root}/sys {root}/proc; mv {root}/initrd {directory}/initrd.cpio; '
                  f'truncate -s $(($(du -sm {root} | cut -f1) * 12 / 10 + 100))M {directory}/root.img; '
                  f'mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -E root_owner=0:0 -m0 -d {root} {directory}/root.img')
        done = subprocess.run(['unshare', '-m', 'sh', '-c', script], capture_output=True, text=True)
        if done.returncode:
            raise machine.MachineError(f'{tool} makes no initrd:\n{done.stdout[-2000:]}{done.stderr[-4000:]}')
        os.symlink(f'{layers["img"]}/vmlinux', f'{directory}/vmlinux')
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _furnish(upper, files):
    """The files, and what records the names at the end of the initrd, for either tool."""
    scripts = {'/etc/initramfs-tools/scripts/init-bottom/record': HOOK,
               '/usr/lib/dracut/modules.d/99record/module-setup.sh': MODULE,
               '/usr/lib/dracut/modules.d/99record/record.sh': HOOK}
    for path, text in (files | scripts).items():
        os.makedirs(os.path.dirname(upper + path), exist_ok=True)
        if text is None or text.startswith('-> '):
            os.symlink(text[3:] if text else '/dev/null', upper + path)
            continue
        with open(upper + path, 'w') as file:
            file.write(text)
        os.chmod(upper + path, 0o755 if path in scripts else 0o644)


@contextlib.contextmanager
def boot(suite, tool, files, extra=()):
    """A machine that came up through that initrd."""
    with image(suite, tool, files) as directory:
        with machine.Machine(suite, directory, memory_mb=2048, extra=extra, is_writable=True, append='root=/dev/vda rw') as vm:
            vm.wait_agent(180)
            vm.run('systemctl is-system-running --wait; udevadm settle', check=False, timeout=120)
            yield vm
