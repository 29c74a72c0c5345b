# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who means rdmad harm: clients that attack it, state that is not what rdmad left, and units that do not do as they are told.

RDMAD_HOSTILE_SECONDS: how long each attack goes on that does not end by itself (5).
"""
import json
import os

import scale
from lab import Failure, Skip, eui64, lab, on

A, B = '0002c90300000a01', '0002c90300000b01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'
OTHER = f'proto=ib guid=0002c90300000b00 pguid={B}'
SOAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'soak')
RUN = '/run/rdmad'


def _ticks(l):
    """Ticks of the processor that rdmad took so far."""
    fields = l.run(f'cut -d")" -f2- /proc/{l.pid("rdmad")}/stat').split()
    return int(fields[11]) + int(fields[12])


def _bound(l, *before):
    """A machine with a unit that lives with an adapter; before: scripts that are run first."""
    l.counted('bound')
    l.bind('50-bound', f'PortGUID={A}', 'Unit=bound.service')
    for script in before:
        l.run(script)
    l.reload_bindings()
    l.plug(1, ADAPTER)
    l.until_active('bound')


def _lives_with_its_port(l):
    """The unit stops and starts with the adapter, as ever."""
    l.unplug(1)
    l.until_states({'bound.service': 'inactive'})
    l.plug(1, ADAPTER)
    l.until_states({'bound.service': 'active'})


def _told(l, text):
    l.until(f'the journal has: {text}', lambda: text in l.journal('-b -t rdmad'))


def _is_calm(l, what):
    """rdmad sleeps, and is the one that it was."""
    pid, before = l.pid('rdmad'), _ticks(l)
    l.run('sleep 10')
    l.expect(f'{what}: PID of rdmad', l.pid('rdmad'), pid)
    ticks = _ticks(l) - before
    l.expect_true(f'{what}: rdmad does not spin', ticks <= 20, f'{ticks} ticks in 10 s')


def _problems(l):
    return [problem for binding in json.loads(l.run('rdmactl bindings --json'))['bindings'] for problem in binding['problems']]


@on('trixie')
def hostile_clients_are_refused_with_a_reason_and_others_are_served_meanwhile(suite):
    with lab(suite) as l:
        _bound(l)
        with open(f'{SOAK}/hostile_clients.py') as program:
            l.vm.put(program.read(), '/run/hostile_clients.py', 0o755)
        seconds = os.environ.get('RDMAD_HOSTILE_SECONDS', '5')
        command = f'python3 /run/hostile_clients.py --seconds {seconds}'
        # then three users at once, for whom memory is bounded one by one
        attack = l.vm.start(f'{{ {command} && {command} --uid 65534,60001,60002 /run/rdmad/io.rdmad oneway thousands never_reading; }} '
                            '> /run/attacks 2>&1')
        l.until('the attacks are under way', lambda: 'refused' in l.run('cat /run/attacks 2>/dev/null || true'))
        _lives_with_its_port(l)
        code, _ = l.vm.finish(attack, timeout=1800)
        report = l.run('cat /run/attacks')
        if code:
            raise Failure(report)
        for reason in ('dropped a client that does not read its answers', 'dropped a client that sent what is no call: ', 'too many connections'):
            _told(l, reason)
        lines = len(l.journal('-b -t rdmad').splitlines())
        l.expect_true('the journal is not flooded', lines < 1000, lines)
        _lives_with_its_port(l)
        _is_calm(l, 'after the attacks')
        l.expect('failed units', l.run('systemctl --failed --no-legend --plain'), '')
        return report.splitlines()


@on('trixie')
def root_is_served_while_seven_users_list_64_devices_without_end(suite):
    with lab(suite) as l:
        scale.plug(l, 64)
        with open(f'{SOAK}/hostile_clients.py') as program:
            l.vm.put(program.read(), '/run/hostile_clients.py', 0o755)
        seven = ','.join(str(60001 + i) for i in range(7))
        return l.run(f'python3 /run/hostile_clients.py --seconds 20 --uid {seven} --honest-uid 0 /run/rdmad/io.rdmad listing',
                     timeout=600).splitlines()


@on('trixie')
def a_binding_file_of_10_mb_is_named_and_the_others_bind(suite):
    with lab(suite) as l:
        folder = '/etc/rdmad/binding.d'
        _bound(l, f'mkdir -p {folder}/50-bound.binding.d; head -c 10000000 /dev/zero | tr "\\0" "#" > {folder}/60-large.binding',
               f'head -c 60000 /dev/urandom > {folder}/70-noise.binding; yes "no key" | head -c 60000 > {folder}/80-lines.binding')
        for text in (f'{folder}/60-large.binding: is longer than 64 KiB, and not read', f'{folder}/70-noise.binding', 'more problems'):
            _told(l, text)
            l.expect_true(f'clients are told: {text}', any(text in problem for problem in _problems(l)), _problems(l)[:5])
        l.expect_true('rdmactl verify names it', '60-large.binding: is longer' in l.run('rdmactl verify 2>&1', check=False))
        _lives_with_its_port(l)
        _is_calm(l, 'with files that are no bindings')


@on('trixie')
def of_10000_binding_files_the_first_bind_and_the_first_too_many_is_named(suite):
    with lab(suite) as l:
        folder = '/etc/rdmad/binding.d'
        _bound(l, f'cd {folder}; for i in $(seq 10000 19999); do '
               'printf "[Match]\\nDevice=none\\n[Binding]\\nUnit=none.service\\n" > 60-$i.binding; done')
        # 50-bound.binding is the first of 1024
        _told(l, f'{folder}/60-11023.binding: is not read, nor is any file after it: the limit is 1024 files')
        l.expect('files that rdmad knows', len(json.loads(l.run('rdmactl bindings --json'))['bindings']), 1025)
        _lives_with_its_port(l)
        _is_calm(l, 'with 10,000 files')
        memory = int(l.run(f'grep VmRSS /proc/{l.pid("rdmad")}/status').split()[1])
        l.expect_true('memory is bounded', memory < 32 * 1024, f'{memory} kB')
        l.run(f'rm -f {folder}/60-*')
        l.reload_bindings()
        l.until('the files are forgotten', lambda: len(json.loads(l.run('rdmactl bindings --json'))['bindings']) == 1)
        return [f'{memory} kB with 1024 files']


@on('trixie')
def where_nothing_can_be_written_it_says_so_and_binds(suite):
    with lab(suite) as l:
        l.run(f'systemctl stop rdmad.socket rdmad.service; mkdir -p {RUN}; mount -t tmpfs -o size=256k,nr_inodes=500,mode=755 none {RUN}')
        _bound(l)
        l.counted('other')
        l.bind('60-other', f'PortGUID={B}', 'Unit=other.service')
        l.reload_bindings()
        for how, error, before, after in (
                ('read-only', 'Read-only file system', f'mount -o remount,ro {RUN}', f'mount -o remount,rw {RUN}'),
                ('full', 'No space left', f'head -c 1M /dev/zero > {RUN}/fill; seq -f {RUN}/fill-%.0f 500 | xargs mkdir',
                 f'rm -rf {RUN}/fill*')):
            l.run(before + ' 2>/dev/null', check=False)
            l.plug(2, OTHER)
            l.until_active('other')
            l.unplug(2)
            l.until_states({'other.service': 'inactive', 'bound.service': 'active'})
            _told(l, error)
            _is_calm(l, f'a {how} {RUN}')
            l.run('systemctl kill -s KILL rdmad')
            l.until('rdmad is back', lambda: l.states('rdmad') == ['active'])
            l.plug(2, OTHER)
            # that the unplug stopped it could be written nowhere, so it may have been an administrator
            l.until('other has an anchor', lambda: any('other.service' in anchor for anchor in l.anchors()))
            l.run('systemctl start other')
            _is_calm(l, f'after a restart, a {how} {RUN}')
            # one that was started while the file system was read-only sees it so for good: its mount namespace is of that time
            said = l.run(f'rdmactl prepare {B} 2>&1', check=False) if how == 'full' else ''
            if how == 'full':
                l.until_states({'other.service': 'inactive'})
            l.run(after)
            # that it is prepared is written before rdmad ends
            l.run('systemctl restart rdmad')
            if how == 'full':
                l.until(f'rdmad knows that the device is prepared ({said})',
                        lambda: 'prepared for removal' in l.run('rdmactl status other.service', check=False))
                l.expect('other, whose device is prepared', l.states('other'), ['inactive'])
                l.run(f'rdmactl resume {B}')
            l.until_active('other')
            l.unplug(2)
            l.until_states({'other.service': 'inactive'})
        _lives_with_its_port(l)


@on('trixie')
def what_it_did_not_hear_of_is_made_up_for(suite):
    """Its socket for udev's events runs over while it is stopped, and the bus is started anew."""
    with lab(suite) as l:
        _bound(l)
        l.counted('other')
        l.bind('60-other', f'PortGUID={B}', 'Unit=other.service')
        l.reload_bindings()
        # 14 KiB with each event of a driver: the socket for udev's holds 16 MiB
        l.run('mkdir -p /run/udev/rules.d')
        l.vm.put(''.join('SUBSYSTEM=="drivers", ' + ', '.join(f'ENV{{BIG{part}{i}}}="{"x" * 480}"' for i in range(10)) + '\n'
                         for part in range(3)), '/run/udev/rules.d/99-big.rules')
        l.run('udevadm control --reload; systemctl kill -s STOP rdmad')
        l.unplug(1)
        l.run('for i in $(seq 20); do for f in /sys/bus/*/drivers/*/uevent; do echo change > $f; done; done; udevadm settle -t 150',
              timeout=300)
        l.plug(2, OTHER)
        l.run('rm /run/udev/rules.d/99-big.rules; udevadm control --reload; systemctl kill -s CONT rdmad')
        _told(l, 'udev events were lost: looking at all devices')
        l.until_states({'bound.service': 'inactive', 'other.service': 'active'})
        l.plug(1, ADAPTER)
        l.until_states({'bound.service': 'active', 'other.service': 'active'})
        pid = l.pid('rdmad')
        for bus in ('dbus.service', 'dbus.socket dbus.service'):
            l.run(f'systemctl restart {bus}')
            _lives_with_its_port(l)
        l.expect('PID of rdmad', l.pid('rdmad'), pid)
        l.unplug(2)
        l.until_states({'other.service': 'inactive', 'bound.service': 'active'})
        _is_calm(l, 'after all this')


# in /proc/net/netlink
NETLINK_ROUTE, NETLINK_RDMA = 0, 20


def _dropped(l, protocol):
    """Messages that the kernel dropped because rdmad's socket for them was full."""
    sockets = l.run(f'readlink /proc/{l.pid("rdmad")}/fd/*').split()
    _, *rows = (line.split() for line in l.run('cat /proc/net/netlink').splitlines())
    return sum(int(drops) for _, of, *_, drops, inode in rows if int(of) == protocol and f'socket:[{inode}]' in sockets)


def _bound_to_a_coming_address(l):
    """Returns the MAC address that "net0", the network device of "roce", has to get for roce.service to start."""
    old, new = '02:00:00:00:00:0a', '02:00:00:00:00:0b'
    # made with its MAC address: else udev gives it one (MACAddressPolicy=), maybe after us. Without an IP address the port would
    # not be ready for a while, and as long as a device settles, rdmad looks at it each second
    l.run(f'ip link add net0 address {old} type dummy; ip link set net0 up; ip address add 192.0.2.1/24 dev net0')
    l.mock('add name=roce proto=roce netdev=net0')
    l.counted('roce')
    l.bind('60-roce', f'PortGUID={eui64(new)}', 'Unit=roce.service')
    l.reload_bindings()
    l.until('rdmad runs', lambda: l.states('rdmad') == ['active'])
    return new


@on('trixie')
def what_network_devices_told_and_was_lost_is_made_up_for(suite):
    """Its socket for the events of network devices runs over while it is stopped."""
    with lab(suite) as l:
        l.run('ip link add net9 type dummy')
        new = _bound_to_a_coming_address(l)
        # until it has looked for what it was told of so far
        l.run('sleep 5; systemctl kill -s STOP rdmad; for i in $(seq 3000); do echo "link set net9 mtu $((1300 + i % 2))"; done | ip -batch -')
        l.set_mac('roce', 'net0', new)
        lost = _dropped(l, NETLINK_ROUTE)
        l.expect_true('events of network devices are lost', lost > 0, lost)
        l.expect('unit of the new address', l.states('roce'), ['inactive'])
        l.run('systemctl kill -s CONT rdmad')
        l.until_active('roce')
        _is_calm(l, 'after all this')
        return [f'messages lost: {lost}']


@on('trixie')
def a_network_device_with_more_to_tell_than_fits_is_looked_at(suite):
    """The kernel tells all alternative names with each event of a network device."""
    with lab(suite) as l:
        new = _bound_to_a_coming_address(l)
        l.run('for i in $(seq 140); do echo "link property add dev net0 altname $(printf %0127d $i)"; done | ip -batch -; sleep 5')
        l.expect('unit of the new address', l.states('roce'), ['inactive'])
        l.set_mac('roce', 'net0', new)
        l.until_active('roce')
        _is_calm(l, 'after all this')


@on('trixie')
def rdma_notifications_that_are_lost_are_made_up_for(suite):
    """Its socket for them runs over while it is stopped: it holds 416 KiB with trixie's kernel, 2 MiB with sid's, which permits more
    (net.core.rmem_max)."""
    if suite == 'bookworm':
        raise Skip('RDMA notifications, which Linux 6.1 does not have')
    with lab(suite) as l:
        _bound(l)
        # udev would be busy for minutes with nodes that are gone
        udevd = 'systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket'
        l.run(f'systemctl kill -s STOP rdmad; systemctl stop {udevd}')
        for _ in range(4):
            l.run('for i in $(seq 400); do echo "add name=many proto=ib" > /dev/rdma_mock; echo "del many" > /dev/rdma_mock; done', timeout=300)
            lost = _dropped(l, NETLINK_RDMA)
            if lost:
                break
        l.expect_true('RDMA notifications are lost', lost > 0, lost)
        l.run(f'systemctl start {udevd}; systemctl kill -s CONT rdmad')
        _told(l, 'RDMA events were lost: looking at all devices')
        _lives_with_its_port(l)
        _is_calm(l, 'after all this')
        return [f'messages lost: {lost}']


FOREIGN = {
    'empty': ':',
    'cut off': "printf '{\"version\": 1, \"un'",
    'older': "printf '{\"version\": 0}'",
    'newer': "printf '{\"version\": 9}'",
    'binary': 'head -c 5000 /dev/urandom',
    'huge': 'head -c 10000000 /dev/zero',
    'deep': "head -c 1000000 /dev/zero | tr '\\0' '['",
    'of many members': "printf '{\"version\": 1, \"members\": [{}'; yes ',{}' | head -n 700000 | tr -d '\\n'; printf ']}'",
}


@on('trixie')
def records_that_are_not_its_own_are_named_and_taken_as_none(suite):
    with lab(suite) as l:
        _bound(l)
        l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/each@.service')
        l.bind('60-each', f'PortGUID={A}', 'Unit=each@%g.service')
        l.reload_bindings()
        l.until_active(f'each@{A}')
        for what, content in FOREIGN.items():
            l.run('systemctl stop rdmad.service')
            names = [f'units/{name}' for name in ('bound.service', f'each@{A}.service', 'foreign.service')] + ['devices/0', 'devices/77', 'holders',
                                                                                                              'recovery/report', 'recovery/orders/last']
            for name in names:
                l.run(f'mkdir -p $(dirname {RUN}/{name}); {{ {content}; }} > {RUN}/{name}')
            l.run(f'rm -rf {RUN}/bound; touch {RUN}/bound; mkdir -p {RUN}/ready/foreign {RUN}/units/folder.service {RUN}/devices/5')
            l.run('journalctl --rotate; journalctl --vacuum-time=1s; systemctl start rdmad.service')
            for name in ('units/bound.service', 'units/foreign.service', 'units/folder.service', 'devices/77'):
                _told(l, f'{RUN}/{name}')
            l.run(f'rm -f {RUN}/bound')
            _lives_with_its_port(l)
            l.until_active(f'each@{A}')
            _is_calm(l, f'records that are {what}')
        return [f'records: {", ".join(FOREIGN)}']


STUBBORN = '/bin/sh -c "trap : TERM; while :; do sleep 1; done"'
# systemd waits for "stuck", and gives up on "dead" with its process left: it is in D state, as long as a file system is frozen
FROZEN = '/run/frozen'
UNITS = {
    'stuck': f'[Service]\nExecStart={STUBBORN}\nTimeoutStopSec=infinity\nSendSIGKILL=no\nKillMode=process\n',
    'dead': f'[Service]\nExecStart=/bin/sh -c ": > {FROZEN}/file; exec sleep infinity"\nTimeoutStopSec=2\n',
    'no-start': '[Unit]\nRefuseManualStart=yes\n[Service]\nExecStart=/bin/sleep infinity\n',
    'no-stop': '[Unit]\nRefuseManualStop=yes\n[Service]\nExecStart=/bin/sleep infinity\n',
    'cyclic': f'[Unit]\nBefore=rdma-{A}-uverbs.device\n[Service]\nExecStart=/bin/sleep infinity\n',
    'back': f'[Unit]\nBindsTo=rdma-{A}-uverbs.device\nAfter=rdma-{A}-uverbs.device\nPropagatesStopTo=rdma-{A}-uverbs.device\n'
            '[Service]\nExecStart=/bin/sleep infinity\n',
    'masked': None,
}


@on('trixie')
def units_that_cannot_be_stopped_or_started_or_bind_back_are_told_and_the_others_bind(suite):
    with lab(suite) as l:
        l.run(f'mkdir {FROZEN}; truncate -s 16M {FROZEN}.img; mkfs.ext4 -q {FROZEN}.img; mount -o loop {FROZEN}.img {FROZEN}; fsfreeze -f {FROZEN}')
        for name, text in UNITS.items():
            l.vm.concerned.add(name)
            if text:
                l.vm.put(text, f'/etc/systemd/system/{name}.service')
            else:
                l.run(f'ln -s /dev/null /etc/systemd/system/{name}.service')
            l.bind(f'60-{name}', f'PortGUID={A}', f'Unit={name}.service')
        _bound(l)
        live = {f'{name}.service': 'active' for name in ('bound', 'no-stop', 'cyclic', 'back')}
        l.until_states(live | {'stuck.service': 'active', 'dead.service': 'active'})
        state = f'cut -d" " -f3 /proc/{l.pid("dead")}/stat'
        l.until('the process is in D state', lambda: l.run(state) == 'D')
        for name, why in (('no-start', 'it failed'), ('masked', 'it is masked')):
            l.until(f'{name} is left alone', lambda: f'{name}.service left alone (inactive): {why}\n' in l.run(f'rdmactl status {name}', check=False))
        _told(l, 'no-start.service was not started: Operation refused')
        l.unplug(1)
        l.until_states(dict.fromkeys(live, 'inactive') | {'dead.service': 'failed'})
        l.expect('its process', l.run(state), 'D')
        l.plug(2, ADAPTER)
        l.until_states(live | {'dead.service': 'active'})
        l.until('stuck waits', lambda: 'stuck.service stopped by unplug (deactivating): ' in l.run('rdmactl status stuck', check=False))
        _is_calm(l, 'while one stops')
        device, = l.in_slot(2)
        refused = l.run(f'rdmactl prepare {device} 2>&1', check=False)
        l.expect_true('prepare names it', 'no-stop.service cannot be stopped: Operation refused' in refused, refused)
        l.run(f'rdmactl resume {device}')
        l.run(f'systemctl kill -s KILL stuck; fsfreeze -u {FROZEN}')
        l.until_states(live | {'stuck.service': 'active', 'dead.service': 'active'})
        _is_calm(l, 'after all')
