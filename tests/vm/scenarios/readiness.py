# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a port is ready, as systemd has it: rdma-port-ready@GUID.target, and who waits for it."""
import initrd
import machine

import lab as labs
from lab import eui64, gate, lab, on

GUID = '0002c90300000a01'
ADAPTER = f'proto=ib guid=0002c90300000a00 pguid={GUID}'
TARGET = f'rdma-port-ready@{GUID}.target'
WAITER = f'rdmad-wait-ready@{GUID}.service'
UNIT = (f'[Unit]\nBindsTo={TARGET}\nAfter={TARGET}\n'
        '[Service]\nExecStartPre=/bin/sh -c "echo >> /run/starts-app"\nExecStart=/bin/sleep infinity\n'
        f'[Install]\nWantedBy={TARGET}\n')


def _microseconds(l, unit, what):
    return int(l.show(unit, f'{what}Monotonic'))


@on('trixie')
def a_service_follows_the_readiness_of_its_port(suite):
    with lab(suite) as l:
        l.vm.put(UNIT, '/etc/systemd/system/app.service')
        l.run('systemctl daemon-reload; systemctl enable -q app.service 2>&1')
        l.plug(1, ADAPTER + ' state=down')
        name, = l.in_slot(1)
        l.stays('while the port is down', lambda: l.states(TARGET, 'app.service'), ['inactive', 'inactive'], 4)
        late = l.run(f'rdmactl wait --for=ready --timeout=1 {GUID} 2>&1; echo $?', check=False).splitlines()
        l.expect('rdmactl says so', late, [f'rdmactl: waited 1 s: port {GUID} of {name} is down', '1'])

        l.mock(f'port {name} 1 state=active')
        l.until_states({TARGET: 'active', 'app.service': 'active'})
        l.expect('the waiter had nothing to wait for', l.show(WAITER, 'ConditionResult'), 'no')
        l.expect('rdmactl', l.run(f'rdmactl wait --for=ready --json --timeout=1 {GUID}'), '{"for":"ready","holds":true,"seen":null}')
        l.run('systemctl daemon-reload; systemctl daemon-reexec; systemctl restart rdmad; rdmactl list')
        l.expect('starts', l.starts('app'), 1)

        # what somebody stopped is not started by rdmad's return, though the target wants it
        l.run('systemctl stop app.service; systemctl restart rdmad; systemctl kill -s KILL rdmad; systemctl daemon-reexec; '
              'rdmactl list')
        l.stays('after a stop', lambda: l.states(TARGET, 'app.service'), ['active', 'inactive'], 3)

        # the kernel tells nothing of an InfiniBand port's state: that it is looked at is enough
        l.mock(f'port {name} 1 state=down')
        l.until('a look finds the port down', lambda: l.run('rdmactl list >/dev/null; systemctl is-active ' + TARGET, check=False) == 'inactive')
        l.mock(f'port {name} 1 state=active')
        l.until_states({TARGET: 'active', 'app.service': 'active'})
        l.expect('starts after the port was down', l.starts('app'), 2)
        l.mock(f'port {name} 1 state=down')
        l.until('a look finds the port down again', lambda: l.run('rdmactl list >/dev/null; systemctl is-active ' + TARGET, check=False) == 'inactive')
        l.until_states({'app.service': 'inactive'})
        l.mock(f'port {name} 1 state=active')
        l.until_states({TARGET: 'active', 'app.service': 'active'})

        # masked before it ends, it would not do what its unit has for its end
        l.run('systemctl stop rdmad.socket rdmad.service; systemctl mask --runtime rdmad.service rdmad.socket 2>&1')
        l.expect('the target stays', l.states(TARGET), ['active'])
        l.run(f'systemctl stop {TARGET}')
        l.expect('nobody knows whether the port is ready', l.run(f'systemctl start {TARGET} 2>/dev/null; echo $?'), '1')
        l.unplug(1)
        l.until_states({TARGET: 'inactive', 'app.service': 'inactive'})
        l.run('systemctl unmask --runtime rdmad.service rdmad.socket 2>&1; systemctl start rdmad.socket')
        l.plug(2, ADAPTER)
        l.until_states({TARGET: 'active', 'app.service': 'active'})
        l.expect('starts after the return', l.starts('app'), 4)
        # as systemd does if it hears late that an earlier appearance of the port went
        l.run(f'systemctl stop {TARGET}')
        l.until_states({TARGET: 'active', 'app.service': 'active'})
        l.expect_true('it is told', 'was started or stopped by another job' in l.journal())
        l.unplug(2)
        l.until('nothing is left', lambda: l.run('ls /run/rdmad/ready') == '')


@on('trixie')
def who_pulls_in_readiness_waits_for_it(suite):
    with lab(suite) as l:
        l.vm.put(UNIT.replace('BindsTo', 'Wants'), '/etc/systemd/system/app.service')
        l.run('systemctl daemon-reload; systemctl start --no-block app.service')
        l.stays('before the adapter is there', lambda: l.show('app.service', 'ActiveState'), 'inactive', 1)
        l.plug(1, ADAPTER + ' state=init')
        l.until('it waits for rdmad', lambda: l.show(WAITER, 'ActiveState') == 'activating')
        l.stays('while the port is not active', lambda: l.show(WAITER, 'ActiveState'), 'activating', 3)
        l.run('systemctl kill -s KILL rdmad')
        l.stays('when rdmad was started anew', lambda: l.show(WAITER, 'ActiveState'), 'activating', 3)
        l.mock(f'port {l.in_slot(1)[0]} 1 state=active')
        active = float(l.run('cut -d" " -f1 /proc/uptime'))
        l.until_active('app.service')
        settled = _microseconds(l, TARGET, 'ActiveEnterTimestamp') / 1e6 - active
        l.expect_true('not before it was quiet for a while', settled >= 1.5, settled)
        l.expect_true('after the target', _microseconds(l, 'app.service', 'ActiveEnterTimestamp')
                      >= _microseconds(l, TARGET, 'ActiveEnterTimestamp'))
        l.unplug(1)
        l.run(f'mkdir -p /run/systemd/system/{WAITER}.d')
        l.vm.put('[Service]\nExecStart=\nExecStart=rdmactl wait --for=ready --timeout=2 %i\n', f'/run/systemd/system/{WAITER}.d/10.conf')
        l.run(f'systemctl daemon-reload; systemctl start {WAITER} 2>&1', check=False)
        told = l.run(f'journalctl -b --no-pager -o cat -u {WAITER}')
        l.expect_true('the deadline is told', f"rdmactl: waited 2 s: '{GUID}' is not there" in told, told)
        return [f'{settled:.1f} s from the active port to readiness']


@gate
def a_network_device_that_comes_up_makes_its_port_ready(suite):
    """As rtnetlink tells of it: nobody waits, and the deadline of settling is over."""
    with lab(suite) as l:
        l.vm.put('[Lifecycle]\nFlapLimit=0\nReadyTimeoutSec=2\n', '/etc/rdmad/rdmad.conf')
        l.plug(1, f'proto=roce guid=0002c90300000a00 pguid={GUID} netdev=new')
        name, = l.in_slot(1)
        netdev = l.run(f'ls /sys/class/infiniband/{name}/device/net')
        # udev has given it another address (MACAddressPolicy=), and GID 0 follows a moment later
        guid = eui64(l.run(f'cat /sys/class/net/{netdev}/address'))
        target = f'rdma-port-ready@{guid}.target'
        l.run(f'ip link set {netdev} down')
        # longer than ReadyTimeoutSec
        l.stays('without a link', lambda: l.show(target, 'ActiveState'), 'inactive', 5)
        l.run(f'ip link set {netdev} up; ip addr add 192.0.2.1/24 dev {netdev}')
        l.until_active(target)
        l.run(f'ip addr flush dev {netdev}')
        l.until_inactive(target)


@on('trixie')
def a_port_that_becomes_active_late_is_seen_without_an_event(suite):
    """As with a subnet manager that comes after the deadline of settling; nobody asks rdmad to look."""
    with lab(suite) as l:
        l.vm.put('[Lifecycle]\nFlapLimit=0\nReadyTimeoutSec=2\n', '/etc/rdmad/rdmad.conf')
        l.plug(1, ADAPTER + ' state=init')
        l.until('the device is degraded', lambda: 'none of its ports can be used' in l.journal())
        l.stays('without a subnet manager', lambda: l.show(TARGET, 'ActiveState'), 'inactive', 2)
        l.mock(f'port {l.in_slot(1)[0]} 1 state=active')
        active = float(l.run('cut -d" " -f1 /proc/uptime'))
        l.until_active(TARGET)
        late = _microseconds(l, TARGET, 'ActiveEnterTimestamp') / 1e6 - active
        l.expect_true('not much later than the next look', late < 20, late)
        return [f'{late:.1f} s from the active port to readiness']


@on('trixie')
def a_boot_does_not_wait_for_an_adapter_that_comes_late(suite):
    """A real boot, through the distribution's own initrd."""
    files = {'/etc/systemd/system/app.service': UNIT, f'/etc/systemd/system/{TARGET}.wants/app.service': '-> ../app.service',
             '/etc/modules-load.d/mock.conf': 'rdma_mock\n'}
    with initrd.image(suite, 'initramfs-tools', files) as directory:
        with machine.Machine(suite, directory, memory_mb=2048, is_writable=True, append='root=/dev/vda rw') as vm:
            vm.wait_agent(180)
            vm.run('systemctl is-system-running --wait', check=False)
            l = labs.Lab(vm)
            l.expect('jobs that wait', l.run('systemctl list-jobs --no-legend'), '')
            l.expect('the service', l.states(TARGET, 'app.service'), ['inactive', 'inactive'])
            booted = _microseconds(l, 'multi-user.target', 'ActiveEnterTimestamp') / 1e6
            l.stays('jobs that wait', lambda: l.run('systemctl list-jobs --no-legend'), '', 7)
            l.plug(1, ADAPTER)
            l.until_active('app.service')
            came, ready, ran = (_microseconds(l, unit, 'ActiveEnterTimestamp') / 1e6 for unit in
                                (f'rdma-{GUID}-uverbs.device', TARGET, 'app.service'))
            l.expect_true('in order', booted < came < ready <= ran, (booted, came, ready, ran))
            l.stays('starts', lambda: l.starts('app'), 1, 3)
            l.expect('nothing waits for udev', l.show('systemd-udev-settle.service', 'ActiveState'), 'inactive')
            return [f'booted {booted:.1f} s, adapter {came:.1f} s, ready {ready:.1f} s, service {ran:.1f} s']
