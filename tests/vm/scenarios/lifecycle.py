# SPDX-License-Identifier: LGPL-2.1-or-later
"""Why a device went, whether it came back, and what is held back when it does so again and again."""
import json
import re
import time

from lab import lab, on

A, B = '0002c90300000a01', '0002c90300000b01'
ADAPTER = f'proto=ib guid=0002c90300000a00 pguid={A}'
OTHER = f'proto=ib guid=0002c90300000b00 pguid={B}'
ADDRESS = '0000:01:00.0'
DRIVER = '/sys/bus/pci/drivers/rdma_mock'


class _Journal:
    """What rdmad tells of devices, as it comes."""

    def __init__(self, l):
        self.l, self.seen = l, 0

    def lines(self):
        lines = self.l.run('journalctl -b -t rdmad -o cat --no-pager').splitlines()
        return [line for line in lines if re.match(r'\S+ (went:|had gone|is back|has not come)', line)]

    def until(self, *texts):
        """The lines since the last call, when for each of the texts one of them has it."""
        for text in texts:
            self.l.until(f'the journal has "{text}"', lambda: any(text in line for line in self.lines()[self.seen:]))
        new = self.lines()[self.seen:]
        self.seen += len(new)
        return new


@on('trixie')
def the_journal_tells_why_a_device_went(suite):
    """The error recovery is made up, by a udev rule: no emulated adapter has one."""
    with lab(suite) as l:
        l.vm.put('SUBSYSTEM=="pci", ACTION=="change", ENV{SYNTH_UUID}=="?*", ENV{ERROR_EVENT}="BEGIN_RECOVERY"\n',
                 '/etc/udev/rules.d/10-error.rules')
        l.run('udevadm control --reload')
        l.counted('fabric')
        l.bind('50-fabric', f'PortGUID={A} {B}', 'Unit=fabric.service\nRequire=any')
        l.reload_bindings()
        journal, told = _Journal(l), []

        def cycle(out, cause, back, said):
            out()
            told.extend(journal.until(f'went: {cause}'))
            l.until_inactive('fabric')
            back()
            told.extend(journal.until(said))
            l.until_active('fabric')

        def rebind():
            l.run(f'echo {ADDRESS} > {DRIVER}/bind')

        def reload_driver():
            l.run(f'modprobe rdma_mock; echo {ADDRESS} > {DRIVER}/unbind')
            l.mock(f'pci {ADDRESS} {ADAPTER}')
            rebind()

        l.plug(1, ADAPTER)
        l.until_active('fabric')
        cycle(lambda: l.unplug(1), 'hot unplug', lambda: l.plug(1, ADAPTER), 'is back after')
        cycle(lambda: l.unplug(1), 'hot unplug', lambda: l.plug(2, ADAPTER), 'in another place')
        cycle(lambda: l.unplug(2), 'hot unplug', lambda: l.plug(2, OTHER), 'another device in its place')
        cycle(lambda: l.unplug(2), 'hot unplug', lambda: l.plug(1, ADAPTER), 'is back after')
        cycle(lambda: l.run(f'echo {ADDRESS} > {DRIVER}/unbind'), 'administrator', rebind, 'is back after')
        cycle(lambda: l.run('modprobe -r rdma_mock'), 'driver reload', reload_driver, 'is back after')
        cycle(lambda: l.run(f'echo change > /sys/bus/pci/devices/{ADDRESS}/uevent; udevadm settle; '
                            f'echo {ADDRESS} > {DRIVER}/unbind'), 'error recovery', rebind, 'is back after')
        return told


@on('bookworm', 'trixie')
def devlink_tells_of_reloads_and_recoveries(suite):
    """The kernel's own devlink; the driver is a mock, which takes its RDMA device away and makes it anew, as that of mlx5 does."""
    with lab(suite) as l:
        l.counted('fabric')
        l.bind('50-fabric', f'PortGUID={A}', 'Unit=fabric.service')
        l.reload_bindings()
        journal, told = _Journal(l), []

        def cycle(change, *texts):
            before = l.starts('fabric')
            l.run(change)
            told.extend(journal.until(*texts))
            l.until('fabric was started once more', lambda: l.starts('fabric') == before + 1)
            l.until_active('fabric')

        def all_of(delay, *causes):
            l.plug(1, f'{ADAPTER} delay={delay}')
            l.until_active('fabric')
            cycle(f'devlink dev reload pci/{ADDRESS}', *causes, 'is back after')
            cycle(f'echo "fail {ADDRESS}" > /dev/rdma_mock', ': error recovery', 'is back after')
            l.run(f'echo "fail {ADDRESS} reload" > /dev/rdma_mock; ! devlink dev reload pci/{ADDRESS}')
            told.extend(journal.until(': driver reload'))
            l.until_inactive('fabric')
            cycle(f'devlink dev reload pci/{ADDRESS}', 'is back after')
            l.unplug(1)
            told.extend(journal.until('went: hot unplug'))
            l.until_inactive('fabric')

        # so fast that udev tells last, where the machine is not busy; so slow that nobody knows of a reload when its device is long gone
        all_of(0, ': driver reload')
        all_of(5000, 'went: reset', 'had gone for another reason: driver reload')
        return told


@on('trixie')
def a_reset_and_a_move_to_another_network_namespace_are_told(suite):
    """A device beside that of the driver, on the same PCI device: it goes and comes while that stays, as with a reset by firmware."""
    with lab(suite) as l:
        # must be said before ib_core is there
        l.run('modprobe -r rdma_mock ib_uverbs ib_umad ib_core; modprobe ib_core netns_mode=0; modprobe rdma_mock')
        l.vm.put('[Lifecycle]\nFlapLimit=0\n', '/etc/rdmad/rdmad.conf')
        l.counted('fabric')
        l.bind('50-fabric', f'PortGUID={B}', 'Unit=fabric.service')
        l.plug(1, ADAPTER)
        extra = f'add name=extra parent={ADDRESS} {OTHER}'
        l.mock(extra)
        journal = _Journal(l)
        l.until_active('fabric')
        l.mock('del extra')
        told = journal.until('went: reset')
        l.until_inactive('fabric')
        l.mock(extra)
        told += journal.until('is back after')
        l.until_active('fabric')
        l.expect('the mode of namespaces', l.run('rdma system').split()[1], 'exclusive')
        name = next(name for name in l.devices() if l.run(f'cat /sys/class/infiniband/{name}/node_guid') == '0002:c903:0000:0b00')
        l.run(f'ip netns add other; ip netns attach first 1; rdma dev set {name} netns other')
        l.until_inactive('fabric')
        l.run(f'ip netns exec other rdma dev set {name} netns first')
        told += journal.until('in another network namespace')
        l.until_active('fabric')
        l.expect('starts', l.starts('fabric'), 3)
        return told


@on('trixie')
def a_device_that_comes_and_goes_is_held_until_it_is_released(suite):
    with lab(suite) as l:
        # however slow the machine is, it is still held when that is looked at
        l.vm.put('[Lifecycle]\nHoldSec=10min\n', '/etc/rdmad/rdmad.conf')
        l.counted('fabric')
        l.bind('50-fabric', f'PortGUID={A}', 'Unit=fabric.service')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_active('fabric')
        start, cycles = time.monotonic(), 50
        for _ in range(cycles):
            l.run(f'echo {ADDRESS} > {DRIVER}/unbind; echo {ADDRESS} > {DRIVER}/bind')
        took = time.monotonic() - start
        l.until('it is held', lambda: _held_until(l) is not None)
        # udev, PID 1 and starts that were asked for before are slower than the cycles
        l.settle()
        l.until('it is tied', lambda: len(l.anchors()) == 1)
        # failed: its unplug ended it as it started
        l.until('it is down', lambda: l.states('fabric') in (['inactive'], ['failed']) and 'fabric' not in l.run('systemctl list-jobs'))
        starts = l.starts('fabric')
        l.expect_true('at most three restarts', starts <= 4, starts)
        status = l.run('rdmactl status')
        l.expect_true('status tells', 'held, as it came back' in status, status)
        l.run(f'rdmactl release {A}')
        l.until_active('fabric')
        l.expect('starts after the release', l.starts('fabric'), starts + 1)
        return [f'{cycles} cycles in {took:.0f} s: {starts - 1} restarts, then one after the release']


@on('trixie')
def a_storage_target_waits_until_another_adapter_is_accepted(suite):
    with lab(suite) as l:
        for name in ('target', 'other'):
            l.counted(name)
        place = 'Path=pci-0000:01:00.0'
        l.bind('50-target', place, 'Unit=target.service\nOnReplaced=wait')
        l.bind('50-other', place, 'Unit=other.service')
        l.reload_bindings()
        l.plug(1, ADAPTER)
        l.until_states({'target.service': 'active', 'other.service': 'active'})
        l.unplug(1)
        l.until_states({'target.service': 'inactive', 'other.service': 'inactive'})
        for is_last in (False, True):
            l.plug(1, OTHER)
            l.until_states({'other.service': 'active'})
            name, = l.in_slot(1)
            l.until('its status tells what to do', lambda: f'rdmactl accept {name}' in l.run('rdmactl status target', check=False))
            l.expect('the target', l.states('target.service'), ['inactive'])
            l.run('systemctl kill -s KILL rdmad; rdmactl list')
            if not is_last:
                l.unplug(1)
                l.until_states({'other.service': 'inactive'})
        refused = l.run(f'runuser -u nobody -- rdmactl accept {name} 2>&1; echo $?', check=False)
        l.expect_true('not for others', refused.endswith('1'), refused)
        l.run(f'rdmactl accept {name}')
        l.until_states({'target.service': 'active'})
        l.expect('starts', [l.starts('target'), l.starts('other')], [2, 3])
        l.expect_true('the journal tells', f'{name} is accepted in place of another device' in l.journal())


def _held_until(l):
    """None, too, while rdmad has yet to hear of the device."""
    devices = json.loads(l.run('rdmactl list --json'))['devices']
    return next((device.get('life', {}).get('heldUntil') for device in devices), None)
