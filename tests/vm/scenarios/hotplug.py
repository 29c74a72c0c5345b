# SPDX-License-Identifier: LGPL-2.1-or-later
"""An adapter comes and goes over PCI."""
import re

from lab import Failure, gate, lab, NODES, on

A, B = '0002c90300000a01', '0002c90300000a02'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'
UNITS = {f'rdma-{guid}-{node}.device' for guid in (A, B) for node in NODES}


def _links_of(lab, slot):
    """The links that the adapter in a slot must have, made up from sysfs."""
    nodes = lab.nodes_of(lab.in_slot(slot)[0])
    return {f'{guid}/{node}': nodes[0 if node == 'uverbs' else port, node]
            for port, guid in ((1, A), (2, B)) for node in NODES}


def _seconds_since_add(lab, monitor, service):
    """From the kernel's first uevent of the adapter's RDMA side to the start of the service, by the machine's clock."""
    events = lab.end_monitor(monitor)
    added = [float(t) for t in re.findall(r'KERNEL\[([\d.]+)\] add\s+\S+/infiniband_(?:mad|verbs)/', events)]
    if not added:
        raise Failure(f'the kernel told of no new node:\n{events}')
    return int(lab.show(service, 'ActiveEnterTimestampMonotonic')) / 1e6 - min(added)


def _plug_and_unplug(suite, slots):
    """Plugs the adapter into one slot after the other and judges all that must come and go with it."""
    with lab(suite) as l:
        l.service('bound', f'rdma-{A}-umad.device')
        took, gone = [], []
        for slot in slots:
            monitor = l.start_monitor('-s infiniband_mad -s infiniband_verbs')
            l.plug(slot, ADAPTER)
            l.until_active('bound')
            took.append(_seconds_since_add(l, monitor, 'bound'))
            l.expect('links by port GUID', l.port_links(), _links_of(l, slot))
            l.expect('units by port GUID', {u for u in l.device_units() if u.startswith('rdma-')}, UNITS)

            gone.append(l.unplug(slot))
            l.until_inactive('bound')
            l.expect('units after the unplug', l.device_units(), set())
            l.expect('left over after the unplug', l.leftovers(), [''])
        # 2 s are wanted, and noted; a busy machine is no failure
        return [f'from the kernel\'s add to the service: {min(took):.2f} to {max(took):.2f} s; unplug: at most {max(gone):.2f} s']


@gate
@on('trixie')
def a_plugged_adapter_has_its_links_and_units_and_starts_the_bound_service_in_each_slot(suite):
    return _plug_and_unplug(suite, (1, 2, 3))


@on('trixie')
def a_plugged_adapter_has_its_links_and_units_and_starts_the_bound_service_ten_times_over(suite):
    return _plug_and_unplug(suite, [1 + turn % 3 for turn in range(10)])


def a_service_that_holds_uverbs_open_is_stopped_and_does_not_block_the_removal(suite):
    """With a driver that waits for open files, as many do."""
    with lab(suite) as l:
        holder = "/bin/sh -c 'exec sleep infinity 3<>/dev/infiniband/by-port-guid/%s/uverbs'" % A
        l.service('holder', f'rdma-{A}-uverbs.device', holder)
        l.plug(1, ADAPTER + ' disassociate=0')
        l.until_active('holder')
        held = l.run(f'ls -l /proc/{l.pid("holder")}/fd/3')
        l.expect_true('the service holds uverbs', 'infiniband/uverbs0' in held, held)
        took = l.unplug(1)
        l.until_inactive('holder')
        l.expect('left over', l.leftovers(), [''])
        return [f'removal with the file open: {took:.2f} s']


def an_adapter_that_was_there_before_udev_is_complete(suite):
    """As at boot: the events come from udevadm trigger."""
    with lab(suite) as l:
        l.run('systemctl stop systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket 2>&1 || true')
        l.insert(1, ADAPTER)
        l.until('the adapter is there', lambda: l.in_slot(1))
        l.run('systemctl start systemd-udevd.service; udevadm trigger --action=add; udevadm settle')
        l.expect('links by port GUID', l.port_links(), _links_of(l, 1))
        l.expect('units by port GUID', {u for u in l.device_units() if u.startswith('rdma-')}, UNITS)


def a_device_that_is_renamed_as_it_appears_has_no_unit_of_its_first_name(suite):
    """rdma-core renames in the add event, which then tells of a path that is gone."""
    with lab(suite) as l:
        l.run('systemctl log-level debug')
        l.plug(1, ADAPTER)
        l.expect('the name', l.in_slot(1), ['ibp1s0'])
        l.expect('units of the first name', {u for u in l.device_units() if 'mock0' in u}, set())
        l.expect('database of the first name', l.run('find /run/udev/data /run/udev/tags -name "*mock0*"'), '')
        changes = re.findall(r'\S*infiniband-mock0\.device: Changed (.*)', l.journal())
        l.expect('state changes of the unit of the first name', changes, [])
        l.expect('units by name', {u for u in l.device_units() if u.startswith('sys-subsystem-rdma-devices')},
                 {f'sys-subsystem-rdma-devices-ibp1s0:{port}-umad.device' for port in (1, 2)})


@on('trixie')
def an_adapter_with_many_ports_has_all_its_links_and_units_and_keeps_them_over_a_rename(suite):
    """udev drops an assignment of more than 512 or 1024 bytes whole."""
    with lab(suite) as l:
        l.service('bound', f'rdma-{A}-uverbs.device')
        for ports in (8, 100):
            guids = [f'{int(A, 16) + port:016x}' for port in range(ports)]
            l.plug(1, f'proto=ib ports={ports} guid=0002c90300000a00 pguid={A}')
            l.until_active('bound')
            pid = l.pid('bound')
            for name in (l.in_slot(1)[0], 'a_name_that_is_rather_long_0'):
                l.run(f'rdma dev set {l.in_slot(1)[0]} name {name}; udevadm settle')
                l.settle()
                l.expect('links', sorted(l.port_links()), sorted(f'{guid}/{node}' for guid in guids for node in NODES))
                l.expect('links by node GUID', list(l.node_links()), [])
                l.until(f'units by GUID of {ports} ports', lambda: {
                    f'rdma-{guid}-{node}.device' for guid in guids for node in NODES} <= l.device_units())
                l.until(f'units of {name}', lambda: {
                    f'sys-subsystem-rdma-devices-{name}:{1 + port}-umad.device' for port in range(ports)} <= l.device_units())
            l.expect('PID of the bound service', l.pid('bound'), pid)
            l.unplug(1)
            l.until_inactive('bound')


@on('trixie')
def a_virtual_function_has_links_of_its_own(suite):
    with lab(suite, extra=('-device', 'nvme-subsys,id=subsystem')) as l:
        l.vm.qmp('device_add', driver='nvme', id='pf', serial='x', subsys='subsystem', bus='rp5', addr='0.0', multifunction=True,
                 sriov_max_vfs=4, sriov_vq_flexible=8, sriov_vi_flexible=4, max_ioqpairs=10, msix_qsize=9)
        l.until('the physical function is there', lambda: l.vm.code('[ -e /sys/bus/pci/devices/0000:05:00.0 ]') == 0)
        l.mock(f'pci 0000:05:00.0 {ADAPTER}')
        l.mock('pci 0000:05:00.1 proto=ib guid=0002c90300000b00 pguid=0002c90300000b01')
        l.mock('pci 0000:05:00.2 proto=ib guid=0002c90300000c00 pguid=0')
        l.run('settle() { udevadm settle; }; d=/sys/bus/pci/devices/0000:05:00.0; settle; '
              '[ ! -e $d/driver ] || echo 0000:05:00.0 > $d/driver/unbind; '
              'echo 1b36 0010 > /sys/bus/pci/drivers/rdma_mock/new_id; settle; echo 2 > $d/sriov_numvfs; settle')
        guids = {link.split('/')[0] for link in l.port_links()}
        # the second virtual function has no port GUID yet: no link rather than one to zero
        l.expect('port GUIDs with links', guids, {A, B, '0002c90300000b01'})
        l.expect('links by node GUID', list(l.node_links()), ['0002c90300000c00/uverbs'])
        l.until('a unit by node GUID', lambda: 'rdma-node-0002c90300000c00-uverbs.device' in l.device_units())

        # and its GUID comes later, when the administrator of the host sets it
        name = l.run('ls /sys/bus/pci/devices/0000:05:00.2/infiniband')
        l.mock(f'port {name} 1 guid=0002c90300000c01')
        l.run('udevadm trigger --settle --action=change -s infiniband_mad -s infiniband_verbs')
        l.expect_true('the late GUID has links', '0002c90300000c01/umad' in l.port_links(), l.port_links())
        l.expect('links by node GUID then', list(l.node_links()), [])
        l.run('echo 0 > /sys/bus/pci/devices/0000:05:00.0/sriov_numvfs; udevadm settle')
        l.expect('port GUIDs after the virtual functions went', {link.split('/')[0] for link in l.port_links()}, {A, B})
