# SPDX-License-Identifier: LGPL-2.1-or-later
"""The removal of a device is prepared: who objects is heard, what is bound stops in order, and who holds it is named."""
from lab import lab, on

A = '0002c90300000a01'
ADAPTER = f'proto=ib guid=0002c90300000a00 pguid={A} disassociate=0'
NODE = f'/dev/infiniband/by-port-guid/{A}/uverbs'
# IB_USER_VERBS_CMD_GET_CONTEXT
HIDDEN = '''import ctypes, os, socket, struct, time
reply = ctypes.create_string_buffer(8)
node = os.open('NODE', os.O_RDWR)
os.write(node, struct.pack('=IHHQ', 0, 4, 2, ctypes.addressof(reply)))
sender, receiver = socket.socketpair()
socket.send_fds(sender, [b'x'], [node])
os.close(node)
time.sleep(9999)
'''


@on('trixie', 'bookworm')
def a_device_is_prepared_and_removed_and_all_comes_back(suite):
    with lab(suite) as l:
        _storage(l)
        l.plug(1, ADAPTER)
        name, = l.in_slot(1)
        l.until_states({'target.service': 'active', 'app.service': 'active'})
        l.expect('the target ran before', _order(l), ['start target', 'start app'])
        said = l.run(f'rdmactl prepare {A} 2>&1')
        l.expect_true('safe', f'{name} can be removed' in said, said)
        l.expect('the application stopped before', _order(l)[2:], ['stop app', 'stop target'])
        l.expect('states', l.states('target.service', 'app.service'), ['inactive', 'inactive'])
        for unit in ('app', 'target'):
            status = l.run(f'rdmactl status {unit}', check=False)
            l.expect_true('the status tells why', f'prepare of {name}' in status and 'is prepared for removal' in status, status)
        l.expect_true('that of the device, too', 'prepared for removal' in l.run(f'rdmactl status {name}'))
        # nothing brings them back but resume
        l.run('systemctl kill -s KILL rdmad; rdmactl list; systemctl daemon-reload')
        l.expect('still down', l.states('target.service', 'app.service'), ['inactive', 'inactive'])
        l.run(f'rdmactl resume {name}')
        l.until_states({'target.service': 'active', 'app.service': 'active'})
        l.expect('in the order of starts', _order(l)[4:], ['start target', 'start app'])
        l.run(f'rdmactl prepare --remove {name}')
        l.until('it is gone', lambda: l.in_slot(1) == [])
        l.settle()
        l.expect('left over', l.leftovers(), [''])
        l.mock(f'pci 0000:01:00.0 {ADAPTER}')
        l.run('echo 1 > /sys/bus/pci/rescan; udevadm settle')
        l.until_states({'target.service': 'active', 'app.service': 'active'})
        l.expect_true('the journal knows who did it', 'went: administrator' in l.journal())


@on('trixie')
def whoever_holds_a_device_has_its_preparation_refused(suite):
    with lab(suite) as l:
        _storage(l)
        l.vm.put(f'[Service]\nExecStart=/bin/sh -c "exec sleep infinity 3<>{NODE}"\n', '/etc/systemd/system/holder.service')
        l.plug(1, ADAPTER)
        name, = l.in_slot(1)
        l.until_states({'target.service': 'active', 'app.service': 'active'})
        l.run('systemctl start holder')
        said = l.run(f'rdmactl prepare {name} 2>&1; echo $?')
        l.expect_true('refused', said.endswith('\n5'), said)
        l.expect_true('the holder is named', 'of holder.service' in said, said)
        l.run('systemctl stop holder')

        # one that nobody finds, as its descriptor is on its way through a socket; the kernel counts its context
        l.vm.put(HIDDEN.replace('NODE', NODE), '/run/hidden.py')
        hidden = l.vm.start('exec python3 /run/hidden.py')
        l.until('it has a context', lambda: 'ctxn' in l.run(f'rdma resource show ctx dev {name}', check=False))
        said = l.run(f'rdmactl prepare {name} 2>&1; echo $?')
        l.expect_true('refused', said.endswith('\n5') and f'programs that were not found use it: rdma resource show ctx dev {name};' in said, said)
        l.expect_true('the kernel names it', 'python3' in l.run(f'rdma resource show ctx dev {name}'))
        l.vm.kill(hidden)
        l.until('it has none', lambda: 'ctxn' not in l.run(f'rdma resource show ctx dev {name}', check=False))
        said = l.run(f'rdmactl prepare --json {name}')
        l.expect_true('and safe then', '"stage":"safe"' in said, said)


@on('trixie')
def whoever_inhibits_it_is_waited_for_or_has_it_refused(suite):
    with lab(suite) as l:
        l.vm.put('[Lifecycle]\nInhibitDelaySec=5\n', '/etc/rdmad/rdmad.conf')
        _storage(l)
        l.plug(1, ADAPTER)
        name, = l.in_slot(1)
        l.until_states({'target.service': 'active', 'app.service': 'active'})
        inhibit = 'systemd-run --quiet --unit=backup rdmactl inhibit --why "a backup runs" --who backup'
        refused = f'rdmactl prepare {name} 2>&1; echo $?'

        l.run(f'{inhibit} sleep infinity')
        l.until('it holds', lambda: 'backup' in l.run('rdmactl inhibit'))
        said = l.run(refused)
        l.expect_true('refused at once', said.endswith('\n4') and 'inhibited by backup (a backup runs)' in said, said)
        l.expect('nothing was stopped', l.states('target.service', 'app.service'), ['active', 'active'])
        l.run('systemctl stop backup')

        l.run(f'{inhibit} --mode=delay --device={A} sleep infinity')
        l.until('it holds', lambda: 'delay' in l.run('rdmactl inhibit'))
        took = l.run(f'date +%s; {refused}; date +%s').splitlines()
        l.expect_true('delayed', int(took[-1]) - int(took[0]) >= 5, took)
        l.expect_true('refused then', took[-2] == '4', took)
        l.expect('nothing was stopped', l.states('target.service', 'app.service'), ['active', 'active'])

        prepare = l.vm.start(f'rdmactl prepare {name} > /run/said 2>&1')
        l.until('it waits', lambda: 'waits for backup' in l.run('cat /run/said', check=False))
        l.run('systemctl stop backup')
        l.until('and goes on', lambda: 'can be removed' in l.run('cat /run/said'))
        l.vm.kill(prepare)
        refused = l.run(f'runuser -u nobody -- rdmactl prepare {name} 2>&1; echo $?', check=False)
        l.expect_true('not for others', refused.endswith('1') and 'only root' in refused, refused)


def _storage(l):
    """A target, and an application that starts after it."""
    for name, stage in (('target', 'targets'), ('app', 'applications')):
        l.vm.put(f'[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c "sleep 1; echo start {name} >> /run/order"\n'
                 f'ExecStop=/bin/sh -c "sleep 1; echo stop {name} >> /run/order"\n', f'/etc/systemd/system/{name}.service')
        l.bind(f'50-{name}', f'PortGUID={A}', f'Unit={name}.service\nStage={stage}')
    l.reload_bindings()


def _order(l):
    return l.run('cat /run/order').splitlines()
