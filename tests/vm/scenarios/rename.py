# SPDX-License-Identifier: LGPL-2.1-or-later
"""A device is renamed, by whomever."""
from lab import gate, lab, NODES, on

A = '0002c90300000a01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'


def _units_by_name(lab):
    return {u for u in lab.device_units() if u.startswith('sys-subsystem-rdma-devices')}


def _units_of(name):
    """rdma-core's, of umad; rdmad has none by name."""
    return {f'sys-subsystem-rdma-devices-{name}:{port}-umad.device' for port in (1, 2)}


@gate
def a_service_bound_by_port_guid_keeps_running_and_names_follow(suite):
    with lab(suite) as l:
        for node in NODES:
            l.service(f'bound-{node}', f'rdma-{A}-{node}.device')
        l.plug(1, ADAPTER)
        for node in NODES:
            l.until_active(f'bound-{node}')
        pids = {node: l.pid(f'bound-{node}') for node in NODES}
        links = l.port_links()
        old = l.in_slot(1)[0]
        for new in ('storage0', 'storage1', old):
            l.run(f'rdma dev set $(ls /sys/bus/pci/devices/0000:01:00.0/infiniband) name {new}; udevadm settle')
            l.settle()
            l.until(f'units follow to {new}', lambda: _units_by_name(l) == _units_of(new))
            l.expect('links by port GUID', l.port_links(), links)
            l.expect('links by device name', l.run('ls /dev/infiniband/by-ibdev'), f'uverbs-{new}')
            l.expect('units of other names', {u for u in l.device_units() if 'storage' in u and new not in u}, set())
            l.expect('database entries', l.run('ls /run/udev/data | grep infiniband:'), f'+infiniband:{new}')
        l.expect('PIDs of the bound services', {node: l.pid(f'bound-{node}') for node in NODES}, pids)


@on('trixie')
def two_devices_swap_their_names_and_each_keeps_its_links(suite):
    with lab(suite) as l:
        l.plug(1, ADAPTER)
        l.plug(2, 'proto=ib ports=1 guid=0002c90300000b00 pguid=0002c90300000b01')
        links = l.port_links()
        one, two = l.in_slot(1)[0], l.in_slot(2)[0]
        for _ in range(5):
            l.run(f'rdma dev set {one} name swap; rdma dev set {two} name {one}; rdma dev set swap name {two}; udevadm settle')
            one, two = two, one
        l.settle()
        l.expect('devices', (l.in_slot(1), l.in_slot(2)), ([one], [two]))
        l.expect('links by port GUID', l.port_links(), links)
        l.until('units follow', lambda: _units_by_name(l) == _units_of(one) | {
            f'sys-subsystem-rdma-devices-{two}:1-umad.device'})
        l.expect('database entries', l.run('ls /run/udev/data | grep infiniband: | sort').split(),
                 sorted([f'+infiniband:{one}', f'+infiniband:{two}']))


@on('trixie')
def a_name_that_is_no_path_component_or_property_does_no_harm(suite):
    """The kernel lets root call a device anything."""
    with lab(suite) as l:
        l.service('bound', f'rdma-{A}-umad.device')
        l.plug(1, ADAPTER)
        l.until_active('bound')
        pid, links, nodes = l.pid('bound'), l.port_links(), sorted(l.nodes_of(l.in_slot(1)[0]).values())
        for name in ('sp ace', 'x;y', '$(touch /x)', '$(touch x)', 'a%%d', 'new\nEVIL=1', '..', '"', "ümlaut"):
            l.vm.put(name, '/run/name')
            l.run('rdma dev set "$(ls /sys/bus/pci/devices/0000:01:00.0/infiniband)" name "$(cat /run/name)"')
            l.settle()
            seen = l.run('rdma dev show')
            l.expect_true(f'the kernel took {name!r}', f'0: {name}: node_type' in seen, seen)
            l.expect(f'links while the device is called {name!r}', l.port_links(), links)
            # of the device itself the kernel writes the name into the uevent file as it is, and udev takes that for two properties
            injected = [path for path in nodes if 'EVIL' in l.properties(path)]
            l.expect(f'nodes with a property of the name {name!r}', injected, [])
            l.run('rdma dev set "$(cat /run/name)" name plain')
            l.settle()
        l.expect('PID of the bound service', l.pid('bound'), pid)
