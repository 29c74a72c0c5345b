# SPDX-License-Identifier: LGPL-2.1-or-later
"""A removal that somebody keeps from ending: who it is is told, and a unit is stopped where its binding says so."""
import json

from lab import lab, on, Skip

A, B = '0002c90300000a01', '0002c90300000b01'
# its driver waits for open files, as many do
STUBBORN = f'proto=ib guid=0002c90300000a00 pguid={A} disassociate=0'
OTHER = f'proto=ib guid=0002c90300000b00 pguid={B}'
LOOKS = "journalctl -b --no-pager -o cat _PID=1 | grep -c 'Starting .*Look which processes have RDMA devices open' || true"
NODE = f'/dev/infiniband/by-port-guid/{A}/uverbs'


def who_keeps_a_device_from_being_removed_is_named_with_its_unit(suite):
    with lab(suite) as l:
        _service(l, 'holder', '')
        l.plug(1, STUBBORN)
        name, = l.in_slot(1)
        l.run('systemctl start holder')
        watch = l.vm.start('timeout 120 rdmactl monitor --json > /run/events')
        l.until('it watches', lambda: 'snapshot' in l.run('cat /run/events', check=False))
        l.pull(1)
        pid = l.pid('holder')
        wanted = f'"sleep" (PID {pid}) of holder.service'
        l.until('status names the holder and its unit', lambda: wanted in l.run('rdmactl status'))
        l.expect_true('status of the device, too', wanted in l.run(f'rdmactl status {name}'))
        l.expect_true('the journal, too', f'{name} is in use by {wanted}' in l.journal())
        l.expect_true('and that of the unit', 'is in use by' in l.run('systemctl status holder', check=False))
        took = _seconds_between(l, 'removing', 'holders')
        # had a network namespace ended meanwhile, its end would wait for the removal, and the module for that
        l.run('modprobe siw')
        # the kernel still answers for the device by its index
        l.vm.kill(watch)
        l.run('systemctl kill -s KILL rdmad')
        l.until('rdmad knows it again', lambda: wanted in l.run('rdmactl status'))
        l.expect_true('and takes it for none that is back', ' is back' not in l.journal(), l.journal())
        before = int(l.run(LOOKS))
        l.run('sleep 10')
        looks = int(l.run(LOOKS)) - before
        l.expect_true('and looks for holders now and then', looks <= 4, looks)
        l.run('systemctl stop holder')
        _end_removal(l)
        l.until('it is over', lambda: 'being removed' not in l.run('rdmactl status'))
        l.until('and the journal tells', lambda: f'{name} went: hot unplug' in l.journal())
        return [f'named {took:.2f} s after the removal began']


@on('trixie')
def a_descriptor_that_systemd_stores_is_found(suite):
    if suite == 'bookworm':
        raise Skip('systemd-notify --fd, which systemd 252 does not have')
    with lab(suite) as l:
        store = 'NotifyAccess=all\nFileDescriptorStoreMax=4\n'
        _service(l, 'keeper', store, 'systemd-notify --fd=3 --fdname=rdma FDSTORE=1; exec 3>&-')
        l.plug(1, STUBBORN)
        l.run('systemctl start keeper')
        l.until('rdmad knows the device', lambda: A in l.run('rdmactl list'))
        l.until('it is stored', lambda: l.run('systemctl show --value -p NFileDescriptorStore keeper') == '1')
        l.pull(1)
        wanted = 'systemd, which stores a descriptor for keeper.service'
        l.until('status names the service', lambda: wanted in l.run('rdmactl status'))
        l.expect_true('none else', '(PID' not in l.run('rdmactl status'))
        l.run('systemctl stop keeper')
        _end_removal(l)


@on('trixie')
def a_unit_that_blocks_a_removal_is_stopped_where_its_binding_says_so(suite):
    with lab(suite) as l:
        for unit, what in (('polite', 'stop'), ('stubborn', 'report')):
            _service(l, unit, f'ExecStartPre=/bin/sh -c "echo >> /run/starts-{unit}"\n')
            l.bind(f'50-{unit}', f'PortGUID={A} {B}', f'Unit={unit}.service\nRequire=any\nOnBlocked={what}')
        l.reload_bindings()
        l.plug(1, STUBBORN)
        l.plug(2, OTHER)
        l.until_states({'polite.service': 'active', 'stubborn.service': 'active'})
        l.pull(1)
        l.until('the other one is named', lambda: 'of stubborn.service' in l.run('rdmactl status'))
        l.until('one was stopped, and runs on the other port', lambda: l.starts('polite') == 2 and
                l.states('polite.service') == ['active'])
        l.until('the other one alone holds it', lambda: 'of polite.service' not in l.run('rdmactl status'))
        l.expect('starts of the other one', l.starts('stubborn'), 1)
        l.run('systemctl stop stubborn')
        _end_removal(l)


@on('trixie')
def rdmad_starts_while_the_reload_of_a_function_waits(suite):
    """Its driver keeps the function locked meanwhile, as that of mlx5 does: who would ask devlink for it would wait in the kernel."""
    with lab(suite) as l:
        _service(l, 'holder', '')
        l.plug(1, STUBBORN)
        l.run('systemctl start holder')
        l.until('rdmad knows the device', lambda: A in l.run('rdmactl list'))
        reload = l.vm.start('devlink dev reload pci/0000:01:00.0')
        wanted = 'of holder.service'
        l.until('status names the unit', lambda: wanted in l.run('rdmactl status'))
        l.run('systemctl kill -s KILL rdmad')
        l.until('rdmad knows it again', lambda: wanted in l.run('timeout 20 rdmactl status', check=False))
        l.run('systemctl stop holder')
        l.until('the reload is over', lambda: A in l.run('rdmactl list'))
        l.vm.kill(reload)
        l.run(f'rdmactl wait {A} --for=ready --timeout=60')
        before = l.journal().count('driver reload')
        l.run('devlink dev reload pci/0000:01:00.0')
        l.until('the journal tells of a reload', lambda: l.journal().count('driver reload') > before)


def _service(l, name, more, before='true'):
    """Holds the node of A while that is there as it starts."""
    script = f'[ -e {NODE} ] && exec 3<>{NODE}; {before}; exec sleep infinity'
    l.vm.put(f'[Service]\n{more}ExecStart=/bin/sh -c "{script}"\n', f'/etc/systemd/system/{name}.service')


def _end_removal(l):
    l.await_pulled(1, 30)
    l.settle()


def _seconds_between(l, first, second):
    lives = [event for event in map(json.loads, l.run('cat /run/events').splitlines()) if event['event'] == 'life']
    begin = next(event for event in lives if event['life']['state'] == first)
    end = next(event for event in lives if event['change'] == second)
    return (end['timestamp'] - begin['timestamp']) / 1e6
