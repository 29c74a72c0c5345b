# SPDX-License-Identifier: LGPL-2.1-or-later
"""RoCE: the GUID of a port follows the MAC address of its network device, and what is named by the GUID has to follow, too. The kernel
and udev tell nothing of that about the RDMA device."""
import json
import re
import time

from lab import eui64, lab, on

MAC = '02:00:00:00:0b:02'
REFRESHES = "journalctl -b --no-pager -o cat _PID=1 | grep -c 'Starting .*look again at RDMA device' || true"
# node events are over before udev gives the network device its address and name; and no rename of the RDMA device hides what is stale
SLOW_NETDEVS = '''printf 'SUBSYSTEM=="net", ACTION=="add", PROGRAM="/bin/sleep 1"\\n' > /etc/udev/rules.d/10-slow-netdev.rules
ln -sf /dev/null /etc/udev/rules.d/60-rdma-persistent-naming.rules; udevadm control --reload'''


def _guid(l, netdev):
    return eui64(l.run(f'cat /sys/class/net/{netdev}/address'))


def _known_guids(l, device):
    """The GUIDs that udev and systemd know of the only port of the only device. rdmad is not asked: it would look at the port."""
    nodes = l.nodes_of(device)
    links = l.port_links()
    guids = {link.split('/')[0] for link in links} | {unit.split('-')[1] for unit in l.device_units() if unit.startswith('rdma-')}
    for path in (f'/sys/class/infiniband/{device}', *nodes.values()):
        guids.add(l.properties(path).get('ID_RDMA_PORT_GUID', 'none'))
    # each of its nodes has a link
    return guids if set(links.values()) == set(nodes.values()) else guids | {'a link is missing'}


def _until_known(l, device, guid):
    l.until(f'links, units and properties of {device} have the GUID {guid} alone', lambda: _known_guids(l, device) == {guid})


def _plug(l, slot=1):
    """Plugs an adapter, and returns the names of the device and of its network device. udev gives that another address (MACAddressPolicy=)
    while it works on the nodes, or after it."""
    l.plug(slot, 'proto=roce netdev=new')
    device, = l.in_slot(slot)
    netdev = l.run(f'ls /sys/class/infiniband/{device}/device/net')
    _until_known(l, device, _guid(l, netdev))
    return device, netdev


def a_new_mac_address_takes_links_units_and_bindings_along(suite):
    with lab(suite) as l:
        device, netdev = _plug(l)
        old, new = _guid(l, netdev), eui64(MAC)
        for name, guid in (('old', old), ('new', new)):
            l.counted(name)
            l.run(f'systemctl daemon-reload; rdmactl bind {name} --port-guid {guid} --runtime')
        l.until_states({'old.service': 'active', 'new.service': 'inactive'})
        start = time.monotonic()
        l.run(f'ip link set {netdev} address {MAC}')
        _until_known(l, device, new)
        took = time.monotonic() - start
        l.until_states({'old.service': 'active', 'new.service': 'active'})
        listed, = json.loads(l.run('rdmactl list --json'))['devices']
        l.expect('the GUID that rdmactl lists', [port['guid'] for port in listed['ports']], [new])
        # a service that is bound to the GUID of before lives with no port
        l.unplug(1)
        l.until_states({'old.service': 'active', 'new.service': 'inactive'})
        # and the adapter comes with another address
        device, netdev = _plug(l, 2)
        l.expect_true('another GUID at first', _guid(l, netdev) != new, new)
        l.run(f'ip link set {netdev} address {MAC}')
        _until_known(l, device, new)
        l.until_states({'old.service': 'active', 'new.service': 'active'})
        l.expect('starts', [l.starts('old'), l.starts('new')], [1, 2])
        l.expect('failed units', l.run('systemctl --failed --no-legend --plain'), '')
        return [f'{took:.1f} s from the address to links, units and properties']


def a_burst_of_addresses_ends_in_one_refresh(suite):
    with lab(suite) as l:
        device, netdev = _plug(l)
        before = int(l.run(REFRESHES))
        monitor = l.start_monitor('--subsystem-match=infiniband_verbs')
        l.run(f'for i in $(seq 10 99) $(seq 10 19); do echo "link set {netdev} address 02:00:00:00:0c:$i"; done | ip -batch -')
        _until_known(l, device, eui64('02:00:00:00:0c:19'))
        refreshes = int(l.run(REFRESHES)) - before
        l.expect_true('one refresh or two', refreshes in (1, 2), refreshes)
        events = l.end_monitor(monitor).count(' change ')
        l.expect_true('one event of the uverbs node or two', events in (1, 2), events)
        # longer than until a second try
        l.stays('refreshes afterwards', lambda: int(l.run(REFRESHES)) - before, refreshes, 15)


def a_software_device_follows_a_network_device_that_is_no_relative(suite):
    """rxe and siw hang on nothing, so no event of udev leads from the network device to them."""
    with lab(suite, setup='modprobe -a ib_umad ib_uverbs rdma_rxe siw dummy') as l:
        l.run('ip link add net0 type dummy; ip link set net0 up; udevadm settle; rdma link add soft0 type rxe netdev net0')
        l.settle()
        _until_known(l, 'soft0', _guid(l, 'net0'))
        l.run(f'ip link set net0 address {MAC}')
        _until_known(l, 'soft0', eui64(MAC))
        l.run('ip link add net1 type dummy; ip link set net1 up; udevadm settle; rdma link add soft1 type siw netdev net1')
        l.settle()
        for device, old, new in (('soft0', 'net0', 'lan0'), ('soft1', 'net1', 'lan1')):
            # older kernels rename only what is down
            l.run(f'ip link set {old} down; ip link set {old} name {new}; ip link set {new} up')
            paths = [f'/sys/class/infiniband/{device}', *l.nodes_of(device).values()]
            l.until(f'udev knows {new} as the network device of {device}',
                    lambda: {l.properties(path).get('ID_RDMA_NETDEV') for path in paths} == {new})


def _netdev_in_slot(l, slot):
    return l.run(f'ls /sys/bus/pci/devices/0000:0{slot}:00.0/net')


def _expect_facts(l, slot, what):
    """Expects that udev, PID 1 and sysfs agree on the port of the adapter in a slot; returns its GUID."""
    netdev, (device,) = _netdev_in_slot(l, slot), l.in_slot(slot)
    guid = _guid(l, netdev)
    nodes = {kind: path for (_, kind), path in l.nodes_of(device).items()}
    for path in (f'/sys/class/infiniband/{device}', *nodes.values()):
        properties = l.properties(path)
        l.expect(f'{what}: properties of {path}', [properties.get(f'ID_RDMA_{key}') for key in ('PORT_GUID', 'NETDEV')], [guid, netdev])
    l.expect(f'{what}: links', l.port_links(), {f'{guid}/{kind}': path for kind, path in nodes.items()})
    l.expect(f'{what}: units', {unit for unit in l.device_units() if unit.startswith('rdma-')},
             {f'rdma-{guid}-{kind}.device' for kind in nodes})
    return guid


def a_function_whose_address_and_name_udev_replaces_has_its_final_links_and_a_service_bound_to_them(suite):
    """As mlx5 virtual functions have it, by MACAddressPolicy=persistent."""
    with lab(suite, append='net.ifnames=1') as l:
        l.run(SLOW_NETDEVS)
        monitor = l.start_monitor('--udev -s net -s infiniband -s infiniband_verbs -s infiniband_mad')
        l.plug(1, 'proto=roce netdev=new')
        netdev = _netdev_in_slot(l, 1)
        l.expect('how its address came about (NET_ADDR_SET)', l.run(f'cat /sys/class/net/{netdev}/addr_assign_type'), '3')
        l.expect('its name', netdev, 'enp1s0')
        guid = _expect_facts(l, 1, 'after udev has settled')
        # when udev was done with each event, in seconds
        done = re.findall(r'^UDEV +\[([0-9.]+)\] \S+ +/\S*/(net|infiniband\w*)/', l.end_monitor(monitor), re.M)
        net, rdma = (max(float(when) for when, kind in done if (kind == 'net') == is_net) for is_net in (True, False))
        l.note(f'true {max(rdma - net, 0):.2f} s after the last event of the network device')
        l.counted('bound')
        l.run(f'rdmactl bind bound --port-guid {guid}')
        l.until_active('bound')
        l.unplug(1)
        l.until_states({'bound.service': 'inactive'})
        l.plug(1, 'proto=roce netdev=new')
        l.expect('the address is the same again', _expect_facts(l, 1, 'plugged again'), guid)
        l.until_states({'bound.service': 'active'})


def properties_follow_a_network_device_that_is_renamed(suite):
    with lab(suite) as l:
        l.run(SLOW_NETDEVS)
        l.plug(1, 'proto=roce netdev=new')
        _expect_facts(l, 1, 'after udev has settled')
        l.run(f'ip link set {_netdev_in_slot(l, 1)} name other0; udevadm settle')
        l.expect('its name', _netdev_in_slot(l, 1), 'other0')
        _expect_facts(l, 1, 'after a rename')


@on('trixie')
def what_rdmad_binds_stays_when_the_network_device_goes_into_a_container(suite):
    with lab(suite) as l:
        l.run('ip link add net0 address 02:00:00:00:0a:01 type dummy; ip link set net0 up')
        l.mock('add name=first proto=roce netdev=net0')
        l.settle()
        guid = l.port_guid('first')
        l.counted('ours')
        l.service('alone', f'rdma-{guid}-uverbs.device')
        l.bind('50-ours', f'PortGUID={guid}', 'Unit=ours.service')
        l.reload_bindings()
        l.run('systemctl start alone')
        l.until_states({'ours.service': 'active', 'alone.service': 'active'})
        l.run('ip netns add box; ip link set net0 netns box; ip -n box link set net0 up')
        l.until_states({'alone.service': 'inactive'})
        l.run('systemctl restart rdmad')
        l.node_events()
        l.set_mac('first', 'net0', '02:00:00:00:0a:02', 'ip -n box')
        l.node_events()
        # and a service that is bound only now
        l.counted('late')
        l.bind('50-late', f'PortGUID={guid}', 'Unit=late.service')
        l.reload_bindings()
        l.until_states({'late.service': 'active', 'ours.service': 'active'})
        l.expect('starts', l.starts('ours'), 1)
        l.mock('del first')
        l.until_states({'late.service': 'inactive', 'ours.service': 'inactive'})


@on('trixie')
def a_device_that_a_container_makes_starts_and_stops_nothing(suite):
    """With the GUID of an adapter of the host, which is away, and under a name that a binding asks for."""
    make = 'rdma link add soft0 type rxe netdev net0'
    with lab(suite, setup='modprobe -a ib_umad ib_uverbs rdma_rxe dummy') as l:
        names = ['guid', 'name']
        for name in names:
            l.counted(name)
        l.bind('50-guid', 'PortGUID=000000fffe000a01', 'Unit=guid.service')
        l.bind('50-name', 'Device=soft*', 'Unit=name.service')
        l.reload_bindings()
        l.run('ip netns add box; ip -n box link add net0 address 02:00:00:00:0a:01 type dummy; ip -n box link set net0 up; '
              f'ip netns exec box {make}; udevadm settle')
        uverbs = l.nodes_of('soft0')[0, 'uverbs']
        l.expect('the GUID that it has', l.properties(uverbs)['ID_RDMA_PORT_GUID'], '000000fffe000a01')
        for when in ('at once', 'for the next rdmad'):
            device, = json.loads(l.run('rdmactl list --json'))['devices']
            l.expect(f'its GUID {when}', device['ports'][0].get('guid'), None)
            l.node_events()
            l.expect(f'anchors {when}', l.anchors(), set())
            l.expect(f'services {when}', l.run('systemctl is-active guid name; true').split(), ['inactive'] * 2)
            l.run('systemctl restart rdmad')
        l.run(f'ip netns del box; udevadm settle; ip link add net0 address 02:00:00:00:0a:01 type dummy; ip link set net0 up; {make}')
        l.until_states({f'{name}.service': 'active' for name in names})


def a_service_stops_with_the_network_device_of_a_software_port_and_starts_with_the_next(suite):
    """The kernel empties the GID table, and forgets the network device, before it removes the RDMA device."""
    # an address that is given at once is not replaced by udev
    make = ('ip link add net0 address 02:00:00:00:0a:01 type dummy; ip link set net0 up; udevadm settle; '
            'rdma link add soft0 type rxe netdev net0')
    with lab(suite, setup='modprobe -a ib_umad ib_uverbs rdma_rxe dummy') as l:
        names = ['guid', 'netdev', 'each']
        for name in names[:2]:
            l.counted(name)
        l.counted('each@')
        l.bind('50-guid', 'PortGUID=000000fffe000a01', 'Unit=guid.service')
        l.bind('50-netdev', 'NetDev=net0', 'Unit=netdev.service')
        l.bind('50-each', 'Driver=rdma_rxe', 'Unit=each@%g.service')
        services = ['guid.service', 'netdev.service', 'each@000000fffe000a01.service']
        l.reload_bindings()
        for _ in range(3):
            l.run(make)
            l.until_states({service: 'active' for service in services})
            l.run('ip link del net0')
            l.until_states({service: 'inactive' for service in services})
            l.settle()
            l.expect('anchors', l.anchors(), set())
        # one with another address is as good for a binding that names none
        l.run(make.replace('0a:01', '0a:02'))
        l.until_states({'guid.service': 'inactive', 'netdev.service': 'active', 'each@000000fffe000a01.service': 'inactive',
                        'each@000000fffe000a02.service': 'active'})
