# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the README tells a reader to type works. tests/all and tests/demo, which it names too, are what runs this, or runs by
itself."""
import os
import re
import subprocess

import machine
import package
from lab import lab

A = '0002c90300000a01'


def _blocks(heading):
    """The indented blocks below a heading of the README."""
    with open(os.path.join(package.SOURCE, 'README.md')) as file:
        section = file.read().split(f'## {heading}\n')[1].split('\n## ')[0]
    return [re.sub('^    ', '', block, flags=re.M) for block in re.findall(r'(?:^    .*\n|^\n(?=    ))+', section, re.M)]


def what_the_readme_shows_is_what_one_sees(suite):
    with lab(suite) as l:
        l.plug(1, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        shown = ''.join(_blocks('What you see'))
        commands = re.findall(r'^\$ (.*)', shown, re.M)
        l.expect_true('the README has commands', len(commands) == 3, commands)
        seen = '\n'.join(l.run(command) for command in commands)
        for line in shown.splitlines():
            # what depends on the adapter, or is left out
            if not line or line.startswith('$') or '...' in line or 'mlx5_core' in line:
                continue
            l.expect_true(f'the line of the README is seen: {line}', ' '.join(line.split()) in ' '.join(seen.split()), seen)


def the_first_binding_works(suite):
    with lab(suite) as l:
        unit, = (block for block in _blocks('Your first binding') if '[Unit]' in block)
        # opensm needs a fabric
        l.vm.put(re.sub('ExecStart=.*', 'ExecStart=/bin/sleep infinity', unit), '/etc/systemd/system/fabric.service')
        # the port is there: the command of the README
        l.plug(3, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        command, = (block.strip() for block in _blocks('Your first binding') if 'enable --now' in block)
        l.run(command)
        l.until_active('fabric')
        l.unplug(3)
        l.until_inactive('fabric')
        # it is not there yet: the same without --now
        l.run('systemctl disable fabric.service; ' + command.replace(' --now', ''))
        for slot in (1, 2):
            l.plug(slot, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
            l.until_active('fabric')
            l.unplug(slot)
            l.until_inactive('fabric')


def the_names_of_the_readme_are_given(suite):
    with lab(suite) as l:
        link, commands = _blocks('Names that stay')
        l.run('mkdir -p /etc/rdmad/link.d')
        l.vm.put(link, '/etc/rdmad/link.d/50-default.link')
        l.plug(1, 'proto=ib')
        l.run('rdma dev set ibp1s0 name mlx5_0; udevadm settle')
        said = l.run(commands)
        l.expect_true('--test-link says what would be', 'It would be called ibp1s0.' in said, said)
        l.settle()
        l.expect('the device is called by its path', l.in_slot(1), ['ibp1s0'])


def the_install_commands_install(suite):
    tree = machine.layers(suite)['build']
    package.build(suite)  # copies the source there
    build, = _blocks('Install')
    in_tree = '\n'.join(line for line in build.splitlines() if not line.startswith('udevadm'))
    script = f'set -e; cd /src/rdmad; export DESTDIR=/src/readme.dest; rm -rf build $DESTDIR; {in_tree}\n' \
             'sed -n "s/^\\//in the log: \\//p" build/meson-logs/install-log.txt; rm -rf build; find $DESTDIR -type f'
    done = subprocess.run(['unshare', '-m', 'sh', '-ec', f'mount -t proc proc {tree}/proc; exec chroot {tree} sh -c "$0"', script],
                          capture_output=True, text=True)
    with lab(suite) as l:
        l.expect('exit code of the build commands', (done.returncode, done.stderr[-500:] if done.returncode else ''), (0, ''))
        installed = sorted(re.sub('^.*/', '', path) for path in done.stdout.splitlines() if path.startswith('/src/readme.dest'))
        # module-setup.sh is dracut's, rdmad the hook of initramfs-tools
        l.expect('files', installed, ['59-rdmad-name.rules', '61-rdmad-id.rules', '76-rdmad-link-type.rules', '91-rdmad-units.rules',
                                      'initrd-files', 'module-setup.sh', 'rdma_id', 'rdma_id.8', 'rdmad', 'rdmad-links.7', 'rdmad.link.5'])
        logged = {re.sub('^.*/', '', line) for line in done.stdout.splitlines() if line.startswith('in the log: ')}
        l.expect('files that the log does not list for whoever removes them', set(installed) - logged, set())
        for line in build.splitlines():
            if line.startswith('udevadm'):
                l.run(line)
