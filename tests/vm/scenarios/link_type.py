# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a device speaks, as the kernel tells it, where rdma-core guesses by the name of the driver."""
from lab import eui64, gate, lab, on, Skip

FLAGS = ('INFINIBAND', 'OPA', 'ROCE', 'IWARP')
NETDEVS = 'for i in 0 1 2 3 4 5 6; do ip link add dummy$i type dummy; ip link set dummy$i up; done; '
# name, how it is made, what it must be
DEVICES = (
    ('ib', 'add name=ib proto=ib', 'INFINIBAND'),
    ('opa', 'add name=opa proto=opa', 'OPA'),
    ('roce', 'add name=roce proto=roce netdev=dummy0', 'ROCE'),
    ('iwarp', 'add name=iwarp proto=iwarp netdev=dummy1', 'IWARP'),
    ('ibfirst', 'add name=ibfirst proto=ib:roce netdev=:dummy6', 'INFINIBAND ROCE'),
    ('rocefirst', 'add name=rocefirst proto=roce:ib netdev=dummy2', 'INFINIBAND ROCE'),
)
SOFT = (('rxe', 'rdma link add rxe type rxe netdev dummy3', 'ROCE'),
        ('softroce', 'rdma link add softroce type rxe netdev dummy4', 'ROCE'),
        ('siw', 'rdma link add siw type siw netdev dummy5', 'IWARP'))


def _flags(lab, device):
    properties = lab.properties(f'/sys/class/infiniband/{device}')
    return ' '.join(flag for flag in FLAGS if properties.get(f'ID_RDMA_{flag}') == '1')


def _all_flags(suite, rdmad):
    with lab(suite, rdmad=rdmad) as l:
        l.run(NETDEVS)
        for name, command, _ in DEVICES:
            l.mock(command)
        for _, command, _ in SOFT:
            l.run(command)
        l.settle()
        return {name: _flags(l, name) for name, _, _ in DEVICES + SOFT}


@gate
def every_device_has_the_link_type_that_the_kernel_tells(suite):
    stock, ours = _all_flags(suite, False), _all_flags(suite, True)
    notes = [f'{"device":<10}{"stock":<20}{"rdmad":<20}']
    with lab(suite) as l:
        for name, _, wanted in DEVICES + SOFT:
            l.expect(f'ID_RDMA_* of {name}', ours[name], wanted)
            notes.append(f'{name:<10}{stock[name] or "-":<20}{ours[name]:<20}')
    return notes


@on('trixie')
def each_node_of_a_two_protocol_adapter_tells_of_its_own_port(suite):
    with lab(suite) as l:
        l.run(NETDEVS)
        l.plug(1, 'proto=roce:ib netdev=dummy0 guid=0002c90300000a00 pguid=0:0002c90300000a02')
        device = l.in_slot(1)[0]
        nodes = l.nodes_of(device)
        seen = {}
        for (port, node), path in nodes.items():
            if node == 'umad':
                seen[port] = l.properties(path)
        l.expect('link types of the umad nodes', {p: seen[p]['ID_RDMA_LINK_TYPE'] for p in seen}, {1: 'roce', 2: 'infiniband'})
        uverbs = l.properties(nodes[0, 'uverbs'])
        l.expect('link types of uverbs', uverbs['ID_RDMA_LINK_TYPES'], 'roce infiniband')
        l.expect('network device of port 1', seen[1]['ID_RDMA_NETDEV'], 'dummy0')
        eui = eui64(l.run('cat /sys/class/net/dummy0/address'))
        l.expect('port GUIDs', uverbs['ID_RDMA_PORT_GUIDS'], f'{eui} 0002c90300000a02')
        l.expect_true('links by both GUIDs', {f'{eui}/uverbs', '0002c90300000a02/umad'} <= l.port_links().keys(), l.port_links())


@on('trixie')
def nothing_meant_for_infiniband_starts_on_a_roce_adapter(suite):
    """With a driver name (mlx4_core) for which rdma-core guesses both, and srp_daemon running."""
    known_driver = 'modprobe -a ib_umad ib_uverbs; modprobe rdma_mock pci_driver_name=mlx4_core; udevadm settle'
    with lab(suite, rdmad=False, setup=known_driver) as l:
        l.run(NETDEVS)
        l.plug(1, 'proto=roce netdev=dummy0')
        stock = _flags(l, l.in_slot(1)[0])
    with lab(suite, setup=known_driver) as l:
        if l.vm.code('[ -e /usr/lib/udev/rules.d/60-srp_daemon.rules -o -e /lib/udev/rules.d/60-srp_daemon.rules ]'):
            raise Skip('60-srp_daemon.rules: srptools is not installed')
        l.run(NETDEVS)
        # what the rule of srp_daemon asks for is that its service is active
        l.run("mkdir -p /run/systemd/system/srp_daemon.service.d; printf '[Service]\\nExecStart=\\nExecStart=/bin/true\\n' > "
              '/run/systemd/system/srp_daemon.service.d/test.conf; systemctl daemon-reload; systemctl start srp_daemon.service')
        l.plug(1, 'proto=roce netdev=dummy0')
        l.expect('ID_RDMA_* of the RoCE adapter', _flags(l, l.in_slot(1)[0]), 'ROCE')
        nodes = l.nodes_of(l.in_slot(1)[0])
        l.expect_true('the RoCE adapter has a umad node', (1, 'umad') in nodes, nodes)
        wants = l.properties(nodes[1, 'umad']).get('SYSTEMD_WANTS', '')
        l.expect('what the umad node wants', wants.split(), ['rdmad.service'])
        l.expect('instances of srp_daemon_port@', l.run('systemctl list-units --all --no-legend --plain "srp_daemon_port@*"'), '')
        l.expect('the service that loads modules for InfiniBand',
                 l.show('rdma-load-modules@infiniband.service', 'ActiveState'), 'inactive')
        l.expect('IPoIB', l.run('grep ^ib_ipoib /proc/modules || true'), '')
        l.expect_true('the service that loads modules for RoCE ran',
                      l.show('rdma-load-modules@roce.service', 'ActiveState') == 'active',
                      l.show('rdma-load-modules@roce.service', 'ActiveState'))

        l.plug(2, 'proto=ib guid=0002c90300000a00')
        umad = l.nodes_of(l.in_slot(2)[0])[1, 'umad']
        l.expect_true('srp_daemon is wanted on the InfiniBand port',
                      'srp_daemon_port@' in l.properties(umad).get('SYSTEMD_WANTS', ''), l.properties(umad))
        return [f'the RoCE adapter is, as stock rules say: {stock}; with rdmad: ROCE']


def a_software_device_and_its_nodes_tell_their_driver(suite):
    with lab(suite, setup='modprobe -a ib_umad ib_uverbs rdma_rxe siw dummy') as l:
        l.run('ip link add net0 type dummy; ip link add net1 type dummy; ip link set net0 up; ip link set net1 up; '
              'rdma link add soft0 type rxe netdev net0; rdma link add soft1 type siw netdev net1')
        l.settle()
        for device, driver in (('soft0', 'rdma_rxe'), ('soft1', 'siw')):
            nodes = l.nodes_of(device).values()
            l.expect_true(f'nodes of {device}', nodes)
            for path in (f'/sys/class/infiniband/{device}', *nodes):
                l.expect(f'driver of {path}', l.properties(path).get('ID_RDMA_DRIVER'), driver)
