# SPDX-License-Identifier: LGPL-2.1-or-later
"""rdmad as a service: without D-Bus, with many devices, and what it tells."""
import json

import scale
from lab import MOCK, Failure, gate, lab, on, Skip

A = '0002c90300000a01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'

@gate
def a_client_starts_it_through_its_socket_and_sees_an_adapter_that_is_plugged_in(suite):
    with lab(suite) as l:
        l.expect('rdmad before the first client', l.states('rdmad'), ['inactive'])
        l.expect('devices before the adapter', json.loads(l.run('rdmactl list --json'))['devices'], [])
        l.expect('rdmad while it has no client', l.show('rdmad', 'TriggeredBy'), 'rdmad.socket')
        l.plug(1, ADAPTER)
        name, = l.in_slot(1)
        device, = l.until('rdmactl lists a device', lambda: json.loads(l.run('rdmactl list --json'))['devices'])
        l.expect('the device', (device['name'], device['nodeGuid'], [port['guid'] for port in device['ports']]),
                 (name, '0002c90300000a00', [A, '0002c90300000a02']))
        table = l.run('rdmactl list')
        l.expect_true('the table names the device and both ports', all(word in table for word in (name, A, '0002c90300000a02')), table)
        l.unplug(1)
        l.until('rdmactl lists no device', lambda: not json.loads(l.run('rdmactl list --json'))['devices'])


def it_works_in_a_boot_without_a_bus_and_changes_over_when_one_comes(suite):
    with lab(suite, setup='systemctl stop dbus.socket dbus.service 2>/dev/null; ' + MOCK,
             append='systemd.unit=sysinit.target') as l:
        l.expect('there is no bus', l.run('[ -e /run/dbus/system_bus_socket ] && echo yes || echo no'), 'no')
        l.counted('bound')
        l.bind('50-bound', f'PortGUID={A}', 'Unit=bound.service')
        l.run('systemctl daemon-reload; systemctl start rdmad.socket')
        l.plug(1, ADAPTER)
        l.until_states({'bound.service': 'active'})
        l.unplug(1)
        l.until_states({'bound.service': 'inactive'})
        l.plug(2, ADAPTER)
        l.until_states({'bound.service': 'active'})
        l.run('systemctl daemon-reload; systemctl daemon-reexec; systemctl kill -s KILL rdmad')
        l.unplug(2)
        l.until_states({'bound.service': 'inactive'})
        l.plug(2, ADAPTER)
        l.until_states({'bound.service': 'active'})
        _is_ready_and_prepared(l, 2)
        l.run('systemctl start dbus.socket dbus.service')
        l.until('rdmad is on the bus', lambda: 'rdmad' in l.run('busctl list --no-legend'))
        l.unplug(2)
        l.until_states({'bound.service': 'inactive'})
        l.plug(1, ADAPTER)
        l.until_states({'bound.service': 'active'})
        l.expect('starts', l.starts('bound'), 5)


def _is_ready_and_prepared(l, slot):
    """A port is ready, and then its device is prepared for removal, which a holder is in the way of first; it is resumed in the end."""
    target, name = f'rdma-port-ready@{A}.target', l.in_slot(slot)[0]
    l.until_states({target: 'active'})
    l.mock(f'port {name} 1 state=down')
    l.until('a look finds the port down', lambda: l.run(f'rdmactl list >/dev/null; systemctl is-active {target}', check=False) == 'inactive')
    l.mock(f'port {name} 1 state=active')
    l.until_states({target: 'active'})
    l.vm.put(f'[Service]\nExecStart=/bin/sh -c "exec sleep infinity 3<>/dev/infiniband/by-port-guid/{A}/uverbs"\n',
             '/etc/systemd/system/holder.service')
    l.run('systemctl daemon-reload; systemctl start holder')
    said = l.run(f'rdmactl prepare {name} 2>&1; echo $?')
    l.expect_true('a holder is in the way', 'of holder.service' in said and said.endswith('\n5'), said)
    l.run('systemctl stop holder')
    said = l.run(f'rdmactl prepare {name} 2>&1')
    l.expect_true('safe', f'{name} can be removed' in said, said)
    l.expect('the bound unit', l.states('bound.service'), ['inactive'])
    l.run(f'rdmactl resume {name}')
    l.until_states({'bound.service': 'active'})


@on('trixie')
def a_service_for_each_of_many_devices(suite):
    with lab(suite, memory_mb=4096) as l:
        figures = scale.measure(l, 32)
        l.expect_true('below 12 MiB', figures.memory_kb < 12 * 1024, figures)
        # the watchdog of 3 minutes has its turn every 90 to 135 seconds
        l.expect_true('no wake-up but the watchdog', figures.wakes <= 1, figures)
        return [str(figures)]


@on('trixie', 'sid')
def its_interfaces_work_with_varlinkctl(suite):
    if suite == 'bookworm':
        raise Skip('varlinkctl, which systemd 252 does not have')
    with lab(suite) as l:
        socket = '/run/rdmad/io.rdmad'
        l.plug(1, ADAPTER)
        info = l.run(f'varlinkctl info {socket}')
        interfaces = ('io.rdmad.Devices', 'io.rdmad.Bindings', 'io.rdmad.Lifecycle', 'org.varlink.service')
        for interface in interfaces:
            l.expect_true(f'{interface} is listed', interface in info, info)
        for interface in interfaces:
            shown = l.run(f'varlinkctl introspect {socket} {interface}')
            l.expect_true('the description is understood', f'interface {interface}' in shown, shown)
        listed = json.loads(l.run(f'varlinkctl call --json=short {socket} io.rdmad.Devices.List {{}}'))
        l.expect('port GUID', listed['devices'][0]['ports'][0]['guid'], A)
        error = l.run(f'varlinkctl call {socket} io.rdmad.Devices.List \'{{"device":"none"}}\' 2>&1', check=False)
        l.expect_true('an error has its name', 'io.rdmad.Devices.NoSuchDevice' in error, error)


def _is_in_order(wanted, seen):
    """Returns true if the wanted items are among those seen, in that order."""
    rest = iter(seen)
    return all(item in rest for item in wanted)


@on('trixie', 'sid')
def a_monitor_sees_device_port_and_unit_change_in_order(suite):
    if suite == 'bookworm':
        raise Skip('varlinkctl, which systemd 252 does not have')
    with lab(suite) as l:
        l.counted('bound')
        l.bind('50-bound', f'PortGUID={A}', 'Unit=bound.service\nWaitFor=active')
        l.reload_bindings()
        watch = l.vm.start('exec varlinkctl call --more --json=short /run/rdmad/io.rdmad io.rdmad.Devices.Monitor '
                           '\'{"pollPorts":true}\' > /run/events')

        def events():
            # it may not have made the file yet, or be in the middle of a line
            *lines, _ = l.vm.run('cat /run/events 2>/dev/null || true').split('\n')
            return [json.loads(line.lstrip('\036')) for line in lines]

        def steps():
            # it prints such an object when it ends, and it ends after 45 s without an event
            if strange := [event for event in events() if 'event' not in event]:
                raise Failure(f'varlinkctl printed {strange}')
            return [(event['event'], event.get('unitState') or event.get('port')) for event in events()]
        l.until('the snapshot', lambda: steps()[:1] == [('snapshot', None)])
        l.plug(1, ADAPTER + ' state=init')
        l.until('the device is told', lambda: ('add', None) in steps())
        name, = l.in_slot(1)
        l.mock(f'port {name} 1 state=active')
        l.until('the unit is told', lambda: ('unit', 'active') in steps())
        l.run(f'rdma dev set {name} name other; udevadm settle')
        l.unplug(1)
        wanted = [('snapshot', None), ('add', None), ('port', 1), ('unit', 'active'), ('rename', None), ('remove', None)]
        l.until('the removal is told', lambda: ('remove', None) in steps())
        l.until('the stop is told', lambda: ('unit', 'inactive') in steps())
        l.expect_true(f'in this order: {wanted}', _is_in_order(wanted, steps()), steps())
        l.expect_true('the stop comes after the start', _is_in_order([('unit', 'active'), ('unit', 'inactive')], steps()), steps())
        l.vm.kill(watch)
        renamed = [event for event in events() if event['event'] == 'rename'][-1]
        l.expect('names', (renamed['oldName'], renamed['device']['name']), (name, 'other'))
        sequence = [event['sequence'] for event in events()]
        l.expect('sequence', sequence, list(range(sequence[0], sequence[0] + len(sequence))))
        return [' '.join(f'{event}:{detail}' if detail else event for event, detail in steps())]


def its_sandbox_is_tight_and_its_messages_explain_themselves(suite):
    with lab(suite) as l:
        l.counted('bound')
        l.bind('50-bound', f'PortGUID={A}', 'Unit=bound.service')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_active('bound')
        exposure = float(l.run('systemd-analyze security --no-pager rdmad.service | sed -n "s/.*Overall exposure.*: \\([0-9.]*\\) .*/\\1/p"'))
        l.expect_true('exposure is 2.0 or less', exposure <= 2.0, exposure)
        l.expect('the unit files are sound', l.run('systemd-analyze verify --man=no rdmad.service rdmad.socket 2>&1 | grep rdmad || true'), '')
        l.expect('open device nodes', l.run(f'ls -l /proc/{l.pid("rdmad")}/fd | grep -c /dev/infiniband || true'), '0')
        l.unplug(1)
        l.until_states({'bound.service': 'inactive'})
        l.run('journalctl --update-catalog')
        told = l.until('the message', lambda: l.run('journalctl -b -t rdmad -o json MESSAGE_ID=6d84e47e39fa42f9aacc0c55c6b19705'))
        message = json.loads(told.splitlines()[0])
        l.expect('fields', {key: message.get(key) for key in ('RDMA_PORT_GUID', 'RDMA_CAUSE', 'OBJECT_SYSTEMD_UNIT', 'UNIT', 'RDMA_INDEX')},
                 {'RDMA_PORT_GUID': A, 'RDMA_CAUSE': 'unplug', 'OBJECT_SYSTEMD_UNIT': 'bound.service', 'UNIT': 'bound.service', 'RDMA_INDEX': '0'})
        l.expect_true('status of the unit shows it', 'went' in l.run('systemctl status bound.service', check=False))
        l.expect_true('the catalog explains it', 'rdmactl status bound.service' in l.run('journalctl -b -x -t rdmad'))
        return [f'exposure {exposure}']
