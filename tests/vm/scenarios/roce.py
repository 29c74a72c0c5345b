# SPDX-License-Identifier: LGPL-2.1-or-later
"""RoCE: the port GUID follows the MAC address of a network device, which udev and others change."""
from lab import lab

# node events are over before udev gives the network device its address and name; and no rename of the RDMA device hides what is stale
SLOW_NETDEVS = '''printf 'SUBSYSTEM=="net", ACTION=="add", PROGRAM="/bin/sleep 1"\\n' > /etc/udev/rules.d/10-slow-netdev.rules
ln -sf /dev/null /etc/udev/rules.d/60-rdma-persistent-naming.rules; udevadm control --reload'''


def _guid_of(l, netdev):
    """Returns the port GUID that the kernel makes of the network device's address now: its modified EUI-64."""
    octets = [int(octet, 16) for octet in l.run(f'cat /sys/class/net/{netdev}/address').split(':')]
    octets[0] ^= 2
    return ''.join(f'{octet:02x}' for octet in octets[:3] + [0xff, 0xfe] + octets[3:])


def _netdev_in_slot(l, slot):
    return l.run(f'ls /sys/bus/pci/devices/0000:0{slot}:00.0/net')


def _expect_facts(l, slot, what):
    """Expects that udev, PID 1 and sysfs agree on the port of the adapter in a slot; returns its GUID."""
    netdev, (uverbs,) = _netdev_in_slot(l, slot), l.in_slot(slot, 'infiniband_verbs')
    guid = _guid_of(l, netdev)
    properties = l.properties(f'/dev/infiniband/{uverbs}')
    l.expect(f'{what}: properties', [properties.get(f'ID_RDMA_{key}') for key in ('PORT_GUID', 'PORT_GUIDS', 'NETDEV')],
             [guid, guid, netdev])
    l.expect(f'{what}: links', l.port_links(), {f'{guid}/uverbs': f'/dev/infiniband/{uverbs}'})
    l.expect(f'{what}: unit', {unit for unit in l.device_units() if unit.startswith('rdma-')}, {f'rdma-{guid}-uverbs.device'})
    device, = l.in_slot(slot)
    l.expect(f'{what}: the device itself', l.properties(f'/sys/class/infiniband/{device}').get('ID_RDMA_PORT_GUID'), guid)
    return guid


def a_function_whose_address_and_name_udev_replaces_has_its_final_links_and_a_service_bound_to_them(suite):
    """As mlx5 virtual functions have it, by MACAddressPolicy=persistent."""
    with lab(suite, append='net.ifnames=1') as l:
        l.run(SLOW_NETDEVS)
        l.plug(1, 'proto=roce netdev=new')
        netdev = _netdev_in_slot(l, 1)
        l.expect('how its address came about (NET_ADDR_SET)', l.run(f'cat /sys/class/net/{netdev}/addr_assign_type'), '3')
        l.expect('its name', netdev, 'enp1s0')
        guid = _expect_facts(l, 1, 'after udev has settled')
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
