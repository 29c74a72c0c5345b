# SPDX-License-Identifier: LGPL-2.1-or-later
"""Services that live with their device: PID 1 stops them, rdmad brings them back."""
from lab import gate, lab

A, B, C = '0002c90300000a01', '0002c90300000b01', '0002c90300000c01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'
OTHER = f'proto=ib guid=0002c90300000b00 pguid={B}'
FIVE = [f'five{i}.service' for i in range(5)]

DISTURBANCES = {
    'nothing': 'true',
    'daemon-reload': 'systemctl daemon-reload',
    'daemon-reexec': 'systemctl daemon-reexec',
    'restart of rdmad': 'systemctl restart rdmad.service',
    'kill -9 of rdmad': 'systemctl kill -s KILL rdmad.service',
    'reload of rdmad': 'systemctl reload rdmad.service',
    'upgrade of rdmad': 'cp /usr/lib/rdmad/rdmad /usr/lib/rdmad/rdmad.new; mv /usr/lib/rdmad/rdmad.new /usr/lib/rdmad/rdmad; '
                        'systemctl daemon-reload; systemctl restart rdmad.service',
    'rename': 'for d in /sys/class/infiniband/*; do [ -e $d ] && rdma dev set ${d##*/} name n$RANDOM; done; udevadm settle; true',
}


def _all(services, state):
    return {service: state for service in services}


def _counted(l, names, stop=''):
    for name in names:
        l.counted(name.removesuffix('.service'), stop)


def _starts(l, services):
    return [l.starts(name.removesuffix('.service')) for name in services]


def five_services_stop_while_rdmad_is_dead_and_each_starts_once_when_the_adapter_is_back(suite):
    with lab(suite) as l:
        _counted(l, FIVE)
        l.bind('50-five', f'PortGUID={A}', 'Unit=' + ' '.join(FIVE))
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states(_all(FIVE, 'active'))
        # nothing can start it again before the adapter is gone
        l.run('systemctl mask -q --runtime rdmad.service rdmad.socket 2>&1; systemctl stop rdmad.socket; systemctl kill -s KILL rdmad.service')
        l.until('rdmad is dead', lambda: l.show('rdmad', 'MainPID') == '0')
        l.unplug(1)
        l.until('all stopped', lambda: l.states(*FIVE) == ['inactive'] * 5)
        l.expect('PID of rdmad', l.show('rdmad', 'MainPID'), '0')
        l.expect('anchors', l.anchors(), set())
        l.run('systemctl unmask -q --runtime rdmad.service rdmad.socket 2>&1; systemctl start rdmad.socket; rdmactl list')
        l.expect('starts', _starts(l, FIVE), [1] * 5)
        l.plug(2, ADAPTER)
        l.until_states(_all(FIVE, 'active'))
        l.expect('starts', _starts(l, FIVE), [2] * 5)
        l.expect('anchors', len(l.anchors()), 5)


@gate
def a_service_that_stops_slowly_runs_again_though_its_adapter_was_back_before(suite):
    """With WantedBy= alone systemd drops the start (systemd issues 11526, 27549)."""
    with lab(suite) as l:
        unit = f'rdma-{A}-uverbs.device'
        # six seconds, or until the adapter is back where the machine is slow
        stop = '/bin/sh -c "sleep 6; until [ -e /run/is-back ]; do sleep 0.1; done"'
        l.counted('slow', stop)
        l.bind('50-slow', f'PortGUID={A}', 'Unit=slow.service')
        l.service('alone', unit, f'/bin/sleep infinity\nExecStop={stop}')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states({'slow.service': 'active', 'alone.service': 'active'})
        l.pull(1)
        l.until('both stop', lambda: l.states('slow', 'alone') == ['deactivating'] * 2)
        l.await_pulled(1)
        l.plug(1, ADAPTER)
        l.expect('while it is back', l.states('slow', 'alone'), ['deactivating'] * 2)
        l.run('touch /run/is-back')
        l.until_states({'slow.service': 'active', 'alone.service': 'inactive'})
        l.expect('starts', l.starts('slow'), 2)


def what_an_administrator_stopped_masked_or_disabled_stays_so_and_what_he_started_is_not_started_again(suite):
    with lab(suite) as l:
        names = ['stopped', 'masked', 'disabled', 'elsewhere', 'left']
        _counted(l, names)
        for name in names:
            l.run(f'printf "[Install]\\nWantedBy=multi-user.target\\n" >> /etc/systemd/system/{name}.service')
        services = [f'{name}.service' for name in names]
        l.run('systemctl daemon-reload; systemctl enable -q disabled elsewhere left 2>&1')
        l.bind('50-all', f'PortGUID={A}', 'Unit=' + ' '.join(services))
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states(_all(services, 'active'))
        l.run('systemctl stop stopped.service')
        l.unplug(1)
        l.until_states(_all(services, 'inactive'))
        l.run('ln -sf /dev/null /etc/systemd/system/masked.service; systemctl daemon-reload; systemctl disable -q disabled.service 2>&1; systemctl start elsewhere.service')
        pid = l.pid('elsewhere')
        l.plug(2, ADAPTER)
        l.until_states({'stopped.service': 'inactive', 'masked.service': 'inactive', 'disabled.service': 'inactive',
                        'elsewhere.service': 'active', 'left.service': 'active'})
        l.expect('starts', _starts(l, names), [1, 1, 1, 2, 2])
        for unit, why in (('stopped', 'it was stopped, or ended by itself'), ('masked', 'it is masked'), ('disabled', 'it was disabled since it ran')):
            l.until('status says why', lambda: f'{unit}.service left alone (inactive): {why}\n' in l.run(f'rdmactl status {unit}', check=False))
        l.expect('PID of the one that was started elsewhere', l.pid('elsewhere'), pid)
        # and it lives with its adapter again
        l.unplug(2)
        l.until_states(_all(services, 'inactive'))
        # who starts it says that it is wanted again
        l.plug(1, ADAPTER)
        l.until_active('left')
        l.run('systemctl start stopped.service')
        l.unplug(1)
        l.until_states(_all(services, 'inactive'))
        l.plug(1, ADAPTER)
        l.until_active('stopped')
        l.expect('starts', l.starts('stopped'), 3)


def a_service_that_systemd_does_not_start_is_left_alone_and_says_why(suite):
    with lab(suite) as l:
        names = ['unmet', 'orphan']
        services = [f'{name}.service' for name in names]
        _counted(l, names)
        l.run('mkdir -p /etc/systemd/system/unmet.service.d /etc/systemd/system/orphan.service.d')
        l.vm.put('[Unit]\nConditionPathExists=/run/wanted\n', '/etc/systemd/system/unmet.service.d/10.conf')
        l.vm.put('[Unit]\nRequires=broken.service\nAfter=broken.service\n', '/etc/systemd/system/orphan.service.d/10.conf')
        l.vm.put('[Service]\nType=oneshot\nExecStart=/bin/false\n', '/etc/systemd/system/broken.service')
        l.bind('50-both', f'PortGUID={A}', 'Unit=' + ' '.join(services))
        l.reload_bindings()
        l.plug(1, ADAPTER)
        for unit, why in (('unmet', 'its condition was not met'), ('orphan', 'a unit that it requires could not start')):
            l.until(f'{unit} is left alone', lambda: f'{unit}.service left alone (inactive): {why}\n' in l.run(f'rdmactl status {unit}', check=False))
            l.expect_true('the journal, too', f'{unit}.service was not started: {why}' in l.journal())
        # mended and started, they live with their port
        l.run('touch /run/wanted; rm -r /etc/systemd/system/orphan.service.d; systemctl daemon-reload; systemctl start unmet orphan')
        l.expect('starts', _starts(l, names), [1, 1])
        l.unplug(1)
        l.until_states(_all(services, 'inactive'))
        l.plug(2, ADAPTER)
        l.until_states(_all(services, 'active'))
        l.expect('starts', _starts(l, names), [2, 2])


def a_service_that_dies_of_its_device_runs_again_with_it(suite):
    """It ends before PID 1 hears of the removal, and Restart= of its own starts it in vain or keeps PID 1 from stopping it."""
    with lab(suite) as l:
        restarts = {'dies': 'Restart=no', 'retries': 'Restart=always\nRestartSec=50ms', 'waits': 'Restart=on-failure\nRestartSec=20'}
        services = [f'{name}.service' for name in restarts]
        _counted(l, restarts)
        for name, restart in restarts.items():
            l.run(f'mkdir -p /etc/systemd/system/{name}.service.d')
            l.vm.put(f'[Service]\n{restart}\nExecStart=\nExecStart=/bin/sh -c "node=$$(realpath -e /dev/infiniband/by-port-guid/{A}/uverbs) '
                     '|| exit; while [ -e $$node ]; do sleep 0.02; done; exit 1"\n', f'/etc/systemd/system/{name}.service.d/10.conf')
        l.bind('50-all', f'PortGUID={A}', 'Unit=' + ' '.join(services))
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states(_all(services, 'active'))
        for slot in (1, 2):
            l.unplug(slot)
            l.until('all have ended', lambda: not set(l.states(*services)) - {'inactive', 'failed'})
            l.plug(3 - slot, ADAPTER)
            l.until_states(_all(services, 'active'))
        l.expect('starts of the one that systemd does not restart', l.starts('dies'), 3)
        # it fails for a reason of its own: that is its own affair, or its Restart='s
        l.run('systemctl kill -s KILL dies.service')
        l.stays('after a failure of its own', lambda: l.states('dies'), ['failed'], 7)
        l.unplug(1)
        l.plug(2, ADAPTER)
        l.until_states({'dies.service': 'failed', 'retries.service': 'active', 'waits.service': 'active'})


def nothing_in_between_changes_the_outcome(suite):
    """A reload, a restart and so on before the unplug, before the return and after it."""
    with lab(suite) as l:
        l.plug(3, OTHER)
        services = ['bound.service', 'slow.service', 'stopped.service']
        _counted(l, ['bound', 'stopped', 'other', 'free'])
        l.counted('slow', '/bin/sleep 3')
        l.bind('50-a', f'PortGUID={A}', 'Unit=' + ' '.join(services))
        l.bind('50-b', f'PortGUID={B}', 'Unit=other.service')
        l.reload_bindings()
        l.run('systemctl start free.service')
        l.plug(1, ADAPTER)
        l.until_states(_all(services + ['other.service'], 'active'))
        pids = [l.pid('other'), l.pid('free')]
        for round, (name, disturb) in enumerate(DISTURBANCES.items(), 1):
            l.run(disturb)
            l.run('systemctl stop stopped.service')
            l.run(disturb)
            l.pull(1)
            l.run(disturb)
            l.await_pulled(1)
            l.until('the services stop', lambda: l.states(*services)[0::2] == ['inactive'] * 2)
            l.run(disturb)
            l.plug(1, ADAPTER)
            l.run(disturb)
            try:
                l.until_states({'bound.service': 'active', 'slow.service': 'active', 'stopped.service': 'inactive'})
                l.expect('starts', _starts(l, services), [1 + round, 1 + round, round])
                l.expect('anchors', len(l.anchors()), 4)
                l.expect('PIDs of services that are not concerned', [l.pid('other'), l.pid('free')], pids)
            except Exception as failure:
                failure.add_note(f'the disturbance: {name}')
                raise
            l.run('systemctl start stopped.service')
            l.until_active('stopped')
        return [f'{len(DISTURBANCES)} kinds: ' + ', '.join(DISTURBANCES)]


def a_service_that_any_port_will_do_for_stops_with_the_last_one(suite):
    with lab(suite) as l:
        l.counted('any')
        l.bind('50-any', f'PortGUID={A} {B} {C}', 'Unit=any.service\nRequire=any')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_active('any')
        pid = l.pid('any')
        l.plug(2, OTHER)
        l.until('two anchors and their group', lambda: len(l.anchors()) == 3)
        for disturb in ('true', 'systemctl daemon-reload', 'systemctl daemon-reexec', 'systemctl kill -s KILL rdmad.service'):
            l.run(disturb)
            l.unplug(1)
            l.until('one anchor and the group', lambda: len(l.anchors()) == 2)
            l.expect('PID', l.pid('any'), pid)
            l.plug(1, ADAPTER)
            l.until('two anchors and their group', lambda: len(l.anchors()) == 3)
        l.unplug(2)
        l.unplug(1)
        l.until_states({'any.service': 'inactive'})
        l.expect('anchors', l.anchors(), set())
        l.plug(3, f'proto=ib guid=0002c90300000c00 pguid={C}')
        l.until_states({'any.service': 'active'})
        l.expect('starts', l.starts('any'), 2)


def adapters_that_blink_while_systemd_is_busy_have_their_services_again(suite):
    """PID 1 waits for its generators, and hears of nothing meanwhile: neither that a device went nor what rdmad asks for."""
    names = ['both', 'any', 'one']
    states = {f'{name}.service': 'active' for name in names}
    with lab(suite) as l:
        _counted(l, names)
        l.bind('50-both', f'PortGUID={A} {B}', 'Unit=both.service')
        l.bind('50-any', f'PortGUID={A} {C}', 'Unit=any.service\nRequire=any')
        l.bind('50-one', f'PortGUID={B}', 'Unit=one.service')
        l.run('mkdir -p /etc/systemd/system-generators; touch /run/go-on')
        l.vm.put('#!/bin/sh\nfor i in $(seq 600); do [ -e /run/go-on ] && exit; sleep 0.1; done\n', '/etc/systemd/system-generators/busy')
        l.run('chmod +x /etc/systemd/system-generators/busy')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.plug(2, OTHER)
        l.until_states(states)
        for old, new in (((1, 2), (3, 4)), ((3, 4), (1, 2)), ((1, 2), (3, 4))):
            before = dict(zip(names, _starts(l, names)))
            l.run('rm /run/go-on')
            l.vm.start('exec systemctl daemon-reload')
            l.until('systemd is busy', lambda: l.vm.code('pgrep -f system-generators/busy') == 0)
            for slot in old:
                l.pull(slot)
                l.await_pulled(slot)
            for slot, options in zip(new, (ADAPTER, OTHER)):
                # without settling: a rule of another package may ask systemd
                l.insert(slot, options)
                l.until('rdmad knows it', lambda: f'pci-0000:0{slot}:00.0' in l.run('rdmactl list'))
            l.run('touch /run/go-on')
            l.until('what needs its ports is started', lambda: all(l.starts(name) > before[name] for name in ('both', 'one')))
            l.until_states(states)
            l.settle()
            l.until_states(states)
            starts = dict(zip(names, _starts(l, names)))
            l.expect('starts of what needs its ports', [starts[name] - before[name] for name in ('both', 'one')], [1, 1])
            # systemd may know of the new port before it hears that the old one went
            l.expect_true('starts of what any port will do for', starts['any'] - before['any'] <= 1, starts)
            l.expect('anchors', len(l.anchors()), 5)


def a_service_that_needs_two_ports_waits_for_both_and_stops_with_either(suite):
    with lab(suite) as l:
        l.counted('both')
        l.bind('50-both', f'PortGUID={A} {B}', 'Unit=both.service')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.stays('with one port', lambda: l.states('both'), ['inactive'], 1)
        l.plug(2, OTHER)
        l.until_states({'both.service': 'active'})
        l.unplug(1)
        l.until_states({'both.service': 'inactive'})
        l.plug(3, ADAPTER)
        l.until_states({'both.service': 'active'})
        l.unplug(2)
        l.until_states({'both.service': 'inactive'})
        l.expect('starts', l.starts('both'), 2)
        l.bind('50-both', f'PortGUID={A}', 'Unit=both.service')
        l.reload_bindings()
        l.until_states({'both.service': 'active'})


def a_service_waits_until_its_port_is_active(suite):
    with lab(suite) as l:
        _counted(l, ['ib', 'roce', 'present'])
        l.bind('50-ib', f'PortGUID={A}', 'Unit=ib.service\nWaitFor=active')
        l.bind('50-present', f'PortGUID={A}', 'Unit=present.service')
        l.bind('50-roce', 'LinkType=roce', 'Unit=roce.service\nWaitFor=active')
        l.run('modprobe dummy; ip link add eth7 type dummy; sysctl -qw net.ipv6.conf.eth7.addr_gen_mode=0; ip link set eth7 up')
        l.reload_bindings()
        l.plug(1, ADAPTER + ' state=init')
        l.plug(2, 'proto=roce guid=0002c90300000d00 netdev=eth7')
        l.until_states({'ib.service': 'inactive', 'present.service': 'active', 'roce.service': 'inactive'})
        l.stays('while the port is not active', lambda: l.states('ib', 'roce'), ['inactive'] * 2, 2)
        l.mock(f'port {l.in_slot(1)[0]} 1 state=active')
        l.until_active('ib')
        l.expect('without an address', l.states('roce'), ['inactive'])
        l.run('ip address add 192.0.2.7/24 dev eth7')
        l.until_active('roce')
        # a port that is no longer active stops nothing
        l.mock(f'port {l.in_slot(1)[0]} 1 state=down')
        l.stays('with the port down', lambda: l.states('ib'), ['active'], 2)


def a_port_guid_that_moves_to_another_device_is_an_unplug_and_a_return(suite):
    """Cloned firmware: the unit of the link stays active all the time, the service does not."""
    with lab(suite) as l:
        l.counted('moved')
        l.bind('50-moved', f'PortGUID={A}\nPath=pci-0000:01*', 'Unit=moved.service')
        l.counted('clone')
        l.bind('50-clone', f'PortGUID={A}\nPath=pci-0000:0[23]*', 'Unit=clone.service\nRequire=any')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.plug(2, ADAPTER)
        l.until_states({'moved.service': 'active', 'clone.service': 'active'})
        clone = l.pid('clone')
        l.unplug(1)
        l.until_states({'moved.service': 'inactive', 'clone.service': 'active'})
        l.expect('unit of the link', l.show(f'rdma-{A}-uverbs.device', 'ActiveState'), 'active')
        l.expect('PID of the service of the other device', l.pid('clone'), clone)
        l.plug(1, ADAPTER)
        l.until_states({'moved.service': 'active', 'clone.service': 'active'})


def a_node_that_its_module_makes_anew_stops_its_services_and_starts_them_again(suite):
    """The device stays, and the new node has the name of the old one."""
    reload = 'modprobe -r ib_umad; modprobe ib_umad; udevadm settle'
    with lab(suite) as l:
        _counted(l, ['quick', 'stopped', 'verbs'])
        l.counted('slow', '/bin/sleep 3')
        l.bind('50-mad', f'PortGUID={A}', 'Unit=quick.service slow.service stopped.service\nNode=umad')
        l.bind('50-verbs', f'PortGUID={A}', 'Unit=verbs.service')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states(_all(['quick.service', 'slow.service', 'stopped.service', 'verbs.service'], 'active'))
        pid = l.pid('verbs')
        l.run('systemctl stop stopped.service')
        for starts in (2, 3, 4):
            l.run('systemctl mask -q --runtime rdmad.service rdmad.socket 2>&1; systemctl stop rdmad.socket; systemctl kill -s KILL rdmad.service'
                  if starts == 3 else 'true')
            l.run(reload)
            if starts == 3:
                l.until_states({'quick.service': 'inactive', 'slow.service': 'inactive'})
                l.run('systemctl unmask -q --runtime rdmad.service rdmad.socket 2>&1; systemctl start rdmad.socket; rdmactl list')
            l.until(f'start {starts}', lambda: _starts(l, ['quick', 'slow']) == [starts] * 2)
            l.until_states({'quick.service': 'active', 'slow.service': 'active', 'stopped.service': 'inactive'})
            l.until('anchors', lambda: len(l.anchors()) == 4)
        l.expect('PID of the service of the other node', l.pid('verbs'), pid)
        # and what is stopped after that stays so
        l.run('systemctl stop quick.service')
        l.run(reload)
        l.until('start 5', lambda: l.starts('slow') == 5)
        l.expect('states', l.states('quick', 'stopped'), ['inactive'] * 2)
        l.expect('starts', _starts(l, ['quick', 'stopped', 'verbs']), [4, 1, 1])


def instances_follow_devices_and_their_names(suite):
    with lab(suite) as l:
        l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/port@.service')
        l.bind('50-ports', 'LinkType=infiniband', 'Unit=port@%d:%p.service\nNode=umad')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        name = l.in_slot(1)[0]
        l.until_states({f'port@{name}:1.service': 'active', f'port@{name}:2.service': 'active'})
        l.run(f'rdma dev set {name} name other; udevadm settle')
        l.until_states({f'port@{name}:1.service': 'inactive', 'port@other:1.service': 'active', 'port@other:2.service': 'active'})
        l.expect('anchors', len(l.anchors()), 2)
        l.unplug(1)
        l.until_states({'port@other:1.service': 'inactive', 'port@other:2.service': 'inactive'})
        l.expect('anchors', l.anchors(), set())


def a_binding_comes_and_goes_and_the_service_keeps_running(suite):
    with lab(suite) as l:
        l.counted('free')
        l.run('systemctl daemon-reload; systemctl start free.service')
        pid = l.pid('free')
        l.plug(1, ADAPTER)
        for require in ('all', 'any'):
            l.run(f'rdmactl bind free --port-guid {A} --require {require} --runtime')
            l.until('anchored', lambda: l.anchors() != set())
            l.run('rdmactl unbind free')
            l.until('not anchored', lambda: l.anchors() == set())
            l.expect('PID', l.pid('free'), pid)
        l.run(f'rdmactl bind free --port-guid {A}; systemctl restart rdmad')
        l.until('anchored', lambda: l.anchors() != set())
        # a bad file beside it changes nothing
        l.bind('60-bad', 'PortGUID=zz', 'Unit=free')
        l.run('rdmactl reload 2>/dev/null', check=False)
        l.expect('anchors', len(l.anchors()), 1)
        l.unplug(1)
        l.until_states({'free.service': 'inactive'})


def where_rdmad_is_disabled_services_run_on_and_unbind_all_unties_them(suite):
    with lab(suite) as l:
        services = ['one.service', 'any.service', 'theirs.service']
        _counted(l, services)
        l.plug(1, ADAPTER)
        l.run(f'rdmactl bind one --port-guid {A}; rdmactl bind any --device "*" --require=any --runtime')
        l.bind('50-theirs', f'PortGUID={A}', 'Unit=theirs.service')
        l.reload_bindings()
        l.until_states(_all(services, 'active'))
        l.until('all are tied', lambda: len(l.anchors()) == 4)    # "any" has a group
        pids = [l.pid(service) for service in services]
        l.run('systemctl disable -q --now rdmad.socket rdmad.service 2>&1')
        l.expect('PID of rdmad', l.show('rdmad', 'MainPID'), '0')
        said = l.journal('-b -t rdmad')
        l.expect_true('the journal tells it, and what unties them',
                      'units that stay tied to their devices: 3; ' in said and 'rdmactl unbind --all deletes what rdmactl bind wrote, and unties them' in said, said)
        l.expect('anchors', len(l.anchors()), 4)
        told = l.run('rdmactl unbind --all 2>&1', check=False)
        l.expect_true('files of others are named', 'rdmactl did not write /etc/rdmad/binding.d/50-theirs.binding' in told, told)
        l.expect('slices', l.run('systemctl list-units --plain --no-legend "rdmad-*.slice"'), '')
        l.expect('files', l.run('ls /etc/rdmad/binding.d /run/rdmad/binding.d/').split(),
                 ['/etc/rdmad/binding.d:', '50-theirs.binding', '/run/rdmad/binding.d/:'])
        l.unplug(1)
        l.settle()
        l.stays('services', lambda: (l.states(*services), [l.pid(service) for service in services]), (['active'] * 3, pids), 3)
        # what is still bound is tied again
        l.run('systemctl enable -q --now rdmad.socket 2>&1; rdmactl list')
        l.plug(1, ADAPTER)
        l.until_states(_all(services, 'active'))
        l.until('one is tied', lambda: len(l.anchors()) == 1)
        # masked behind a socket that takes connections, which systemd breaks then
        l.expect('mark that ready ports are watched', l.run('ls /run/rdmad/watches'), '/run/rdmad/watches')
        l.run('systemctl mask -q --now rdmad.service 2>&1')
        l.expect('mark that ready ports are watched', l.vm.code('test -e /run/rdmad/watches'), 1)
        l.run('rdmactl unbind --all 2>&1', check=False)
        l.expect('slices', l.run('systemctl list-units --plain --no-legend "rdmad-*.slice"'), '')


def rdmad_ends_when_there_is_nothing_to_do_and_the_next_client_or_device_starts_it(suite):
    with lab(suite) as l:
        l.expect('without a device', l.states('rdmad'), ['inactive'])
        l.run('rdmactl list')
        # it answers before PID 1 has read that it is ready
        l.until_active('rdmad')
        l.until('it ends', lambda: l.states('rdmad') == ['inactive'])
        l.plug(1, ADAPTER)
        l.until_active('rdmad')
        l.stays('with a device', lambda: l.states('rdmad'), ['active'], 35)
        l.unplug(1)
        l.until('it ends', lambda: l.states('rdmad') == ['inactive'])
        l.expect('failed units', l.run('systemctl --failed --no-legend --plain'), '')
