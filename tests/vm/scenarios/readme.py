# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the README tells a reader to type works. tests/all and tests/demo, which it names too, are what runs this, or runs by
itself."""
import os
import re
import subprocess

import machine
import package
from lab import gate, lab, on

A = '0002c90300000a01'


def _blocks(heading):
    """The indented blocks below a heading of the README."""
    with open(os.path.join(package.SOURCE, 'README.md')) as file:
        section = file.read().split(f'## {heading}\n')[1].split('\n## ')[0]
    return [re.sub('^    ', '', block, flags=re.M) for block in re.findall(r'(?:^    .*\n|^\n(?=    ))+', section, re.M)]


def _expect_lines(l, shown, seen):
    """Each line that the README shows, but for commands and for what depends on the adapter, or is left out."""
    def plain(text):
        return re.sub(r'just now|\d+ s ago', 'ago', ' '.join(text.split()))
    for line in shown.splitlines():
        if not line or line[0] in '$#' or '...' in line or 'mlx5_core' in line:
            continue
        l.expect_true(f'the line of the README is seen: {line}', plain(line) in plain(seen), seen)


@gate
@on('trixie')
def what_the_readme_shows_is_what_one_sees(suite):
    with lab(suite) as l:
        l.plug(1, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        shown = _blocks('What you see')[3]
        commands = re.findall(r'^\$ (.*)', shown, re.M)
        l.expect_true('the README has commands', len(commands) == 3, commands)
        _expect_lines(l, shown, '\n'.join(l.run(command) for command in commands))
        l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/fabric.service')
        l.run(f'systemctl daemon-reload; rdmactl bind fabric --port-guid {A}')
        l.until_active('fabric')
        block, = _blocks('When something is not as it should be')
        for line in block.splitlines():
            l.run(line)


@on('trixie')
def the_service_of_the_readme_goes_and_comes_with_its_port(suite):
    with lab(suite) as l:
        bind, unplugged, returned = _blocks('What you see')[:3]
        l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/fabric.service')
        l.run('systemctl daemon-reload')
        l.plug(1, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')

        def shows(block, check=True):
            command, = re.findall(r'^[#$] (.*)', block, re.M)
            _expect_lines(l, block, l.run(command, check=check))
        shows(bind)
        l.until_active('fabric')
        l.unplug(1)
        l.until('rdmad has judged it', lambda: 'unplug' in l.run('rdmactl status fabric', check=False))
        shows(unplugged, check=False)
        l.plug(2, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        l.until('rdmad has seen it', lambda: 'running (active)' in l.run('rdmactl status fabric', check=False))
        shows(returned)


@on('trixie')
def the_first_binding_works(suite):
    with lab(suite) as l:
        service, bind = _blocks('Your first binding')[:2]
        # opensm needs a fabric
        l.vm.put(re.sub('ExecStart=.*', 'ExecStart=/bin/sleep infinity', service), '/etc/systemd/system/fabric.service')
        l.run('systemctl daemon-reload')
        l.run(bind)
        for slot in (1, 3, 2):
            l.plug(slot, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
            l.until_active('fabric')
            l.unplug(slot)
            l.until_inactive('fabric')
        l.run('rdmactl unbind fabric')
        l.plug(1, f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        l.stays('without the binding', lambda: l.states('fabric'), ['inactive'], 2)


@on('trixie')
def the_binding_without_the_daemon_works(suite):
    with lab(suite) as l:
        l.run('systemctl mask -q --now rdmad.service rdmad.socket 2>&1')
        unit, = (block for block in _blocks('Your first binding') if '[Unit]' in block)
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


@on('trixie')
def a_target_of_the_readme_waits_for_its_port_and_the_subnet_manager_does_not(suite):
    *of_opensm, of_nfs = re.findall('^rdmactl bind .*', '\n'.join(_blocks('Services of a package')), re.M)
    with lab(suite) as l:
        manager, target = f'opensm@0x{A}', 'nfs-server'
        l.run('systemctl unmask -q nfs-server')
        for unit in ('opensm@', target):
            # opensm needs a fabric, nfsd would be that of the host
            l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', f'/etc/systemd/system/{unit}.service')
        l.run(f'systemctl daemon-reload; {of_nfs}')
        l.expect('recipes for opensm', len(of_opensm), 2)
        for slot, bind in enumerate(of_opensm, 1):
            l.run(bind)
            l.plug(slot, f'proto=ib guid=0002c90300000a00 pguid={A} state=init')
            l.until_active(manager)
            l.stays('before the port is active', lambda: l.states(target), ['inactive'], 3)
            l.mock(f'port {l.in_slot(slot)[0]} 1 state=active')
            l.until_active(target)
            l.unplug(slot)
            l.until_states({f'{manager}.service': 'inactive', f'{target}.service': 'inactive'})
            l.run('rdmactl unbind ' + re.search("bind ('.*?'|\\S+)", bind)[1])


@on('trixie')
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


@on('trixie')
def the_install_commands_install_and_the_remove_commands_remove(suite):
    tree = machine.layers(suite)['build']
    package.build(suite)  # copies the source there
    build, = _blocks('Install')
    in_machine = [line for line in build.splitlines() if line.startswith(('udevadm', 'systemctl', 'journalctl'))]
    in_tree = '\n'.join(line for line in build.splitlines() if line not in in_machine)
    script = f'set -e; cd /src; export DESTDIR=/src/readme.dest; rm -rf readme $DESTDIR; cp -r rdmad readme; cd readme; {in_tree}\n' \
             'find $DESTDIR ! -type d; ninja -C build uninstall >/dev/null; find $DESTDIR ! -type d | sed "s/^/left: /"'
    done = subprocess.run(['unshare', '-m', 'sh', '-ec', f'mount -t proc proc {tree}/proc; exec chroot {tree} sh -c "$0"', script],
                          capture_output=True, text=True)
    with lab(suite) as l:
        l.expect('exit code of the build commands', (done.returncode, done.stderr[-500:] if done.returncode else ''), (0, ''))
        installed = sorted(re.sub('^.*/', '', path) for path in done.stdout.splitlines() if path.startswith('/src/readme.dest'))
        listed = sorted(re.sub('^.*/', '', line) for block in _blocks('For packagers') for line in block.splitlines() if line.startswith('/usr/'))
        l.expect('files, and what the README says to packagers', installed, listed)
        l.expect('files that "uninstall" leaves', [line for line in done.stdout.splitlines() if line.startswith('left: ')], [])
        for line in in_machine:
            l.run(line)
        l.plug(1, f'proto=ib guid=0002c90300000a00 pguid={A}')
        l.expect_true('the port has links', l.port_links(), '')

        remove, = _blocks('Remove')
        l.expect_true('it uninstalls', 'ninja -C build uninstall' in remove, remove)
        # the machine has no build tree: the same files
        files = ' '.join(path.removeprefix('/src/readme.dest') for path in done.stdout.splitlines() if path.startswith('/src/readme.dest'))
        l.run(remove.replace('ninja -C build uninstall', f'rm {files}'))
        l.settle()
        l.expect('links', l.port_links(), {})
        l.expect('device units', {unit for unit in l.device_units() if 'ports' in unit or 'uverbs' in unit}, set())
        l.expect('running', l.run('systemctl list-units --plain --no-legend "rdmad*"'), '')
        l.expect('failed units', l.run('systemctl --failed --no-legend --plain'), '')
