# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two ports with one GUID: cloned firmware, or a device split in two."""
import re

from lab import lab, NODES, on

A = '0002c90300000a01'


def _add(lab, name):
    lab.mock(f'add name={name} proto=ib guid=0002c90300000a00 pguid={A}')


def _add_roce(lab):
    """Two RoCE devices, of which the first has the lower index; returns the GUID of the second."""
    for number, name in enumerate(('first', 'second')):
        lab.run(f'ip link add net{number} address 02:00:00:00:00:0{number} type dummy; ip link set net{number} up')
        lab.mock(f'add name={name} proto=roce netdev=net{number}')
    lab.settle()
    return lab.port_guid('second')


def _links_of(lab, device, guid):
    return {f'{guid}/{node}': path for (_, node), path in lab.nodes_of(device).items()}


@on('trixie')
def the_lowest_index_keeps_the_links_and_the_journal_says_who_lost(suite):
    with lab(suite) as l:
        _add(l, 'first')
        _add(l, 'second')
        _add(l, 'third')
        l.settle()
        first = {f'{A}/{node}': l.nodes_of('first')[0 if node == 'uverbs' else 1, node] for node in NODES}
        l.expect('links', l.port_links(), first)
        for _ in range(3):
            l.node_events()
            l.expect('links after a trigger', l.port_links(), first)
        journal = l.journal()
        umads = [l.nodes_of(device)[1, 'umad'].rpartition('/')[2] for device in ('first', 'second', 'third')]
        for place, umad in enumerate(umads[1:], 1):
            winners = re.findall(rf'\b{umad} of RDMA device .*/by-port-guid/{A}/umad: (\S+) of', journal)
            l.expect(f'lines in the journal that {umad} lost', len(winners), 1)
            # to the second, if udev handles the third before the first
            l.expect_true(f'{umad} lost to a lower index', winners[0] in umads[:place], winners)
            l.expect(f'the alias by GUID of {umad}', A in l.properties(f'/dev/infiniband/{umad}').get('SYSTEMD_ALIAS', ''), False)
        return [f'journal: {umad} lost to {winners[0]}']


@on('trixie')
def when_the_owner_goes_the_next_one_takes_over(suite):
    """The links and the unit, that is. The unit is back before a bound service has stopped, and then systemd drops the start
    that WantedBy= asks for (systemd issue 11526)."""
    with lab(suite) as l:
        for name in ('first', 'second', 'third'):
            _add(l, name)
        l.settle()
        for gone, owner in (('first', 'second'), ('second', 'third')):
            l.mock(f'del {gone}')
            l.settle()
            l.until(f'{owner} has the links', lambda: l.port_links() == {
                f'{A}/{node}': l.nodes_of(owner)[0 if node == 'uverbs' else 1, node] for node in NODES})
            l.until(f'{owner} has the unit', lambda: l.show(f'rdma-{A}-umad.device', 'SysFSPath').endswith(
                l.nodes_of(owner)[1, 'umad'].rpartition('/')[2]))
        l.mock('del third')
        l.settle()
        l.until('the unit is gone', lambda: not [u for u in l.device_units() if A in u])
        l.expect('left over', l.leftovers(), [''])


@on('trixie')
def a_device_that_is_handled_late_still_gets_what_its_index_gives_it(suite):
    """Udev works on several devices at a time: the claim of a higher index can come first."""
    with lab(suite) as l:
        _add(l, 'first')
        _add(l, 'second')
        l.settle()
        nodes = {device: l.nodes_of(device) for device in ('first', 'second')}
        # as if nothing of the first had been handled yet
        l.run('rm /run/rdmad/claims/*; rm -f /run/rdmad/contested/*')
        for device in ('second', 'first'):
            l.run('udevadm trigger --settle ' + ' '.join(nodes[device].values()))
        l.settle()
        l.expect('links', l.port_links(), {f'{A}/{n}': nodes['first'][0 if n == 'uverbs' else 1, n] for n in NODES})
        umad = nodes['second'][1, 'umad']
        l.expect_true('the second gave its alias up', A not in l.properties(umad).get('SYSTEMD_ALIAS', ''), l.properties(umad))


@on('trixie')
def a_roce_port_keeps_its_links_when_another_gets_its_mac_address(suite):
    """As bonding does, and whoever else may set the MAC address of a virtual function."""
    with lab(suite) as l:
        guid = _add_roce(l)
        l.service('bound', f'rdma-{guid}-uverbs.device')
        l.run('systemctl start bound')
        l.until_active('bound')
        pid = l.pid('bound')
        l.expect('links', l.port_links(), _links_of(l, 'first', l.port_guid('first')) | _links_of(l, 'second', guid))
        l.set_mac('first', 'net0', '02:00:00:00:00:01')
        for _ in range(3):
            l.node_events()
            l.expect('links', l.port_links(), _links_of(l, 'second', guid))
        l.expect('the bound service', l.pid('bound'), pid)
        uverbs = l.nodes_of('first')[0, 'uverbs'].rpartition('/')[2]
        lines = [line for line in l.journal().splitlines() if line.startswith(f'{uverbs} of RDMA device') and guid in line]
        l.expect(f'lines in the journal that {uverbs} lost', len(lines), 1)
        l.expect_true('they say what to do', 'another MAC address' in lines[0], lines[0])
        l.mock('del second')
        l.settle()
        l.until('the first has the links', lambda: l.port_links() == _links_of(l, 'first', guid))
        return [f'journal: {lines[0]}']


@on('trixie')
def a_roce_port_whose_network_device_is_in_a_container_has_no_links(suite):
    with lab(suite) as l:
        guid = _add_roce(l)
        links = _links_of(l, 'second', guid)
        l.run('ip netns add box; ip link set net0 netns box; ip -n box link set net0 up')
        l.until('rdmad has the links taken from it', lambda: l.port_links() == links)
        l.set_mac('first', 'net0', '02:00:00:00:00:01', 'ip -n box')
        l.node_events()
        uverbs = l.nodes_of('first')[0, 'uverbs']
        l.expect('links', l.port_links(), links)
        l.expect('links by node GUID', l.node_links(), {})
        l.expect('the alias', l.properties(uverbs).get('SYSTEMD_ALIAS'), None)
        l.expect('the GUID that it has', l.properties(uverbs).get('ID_RDMA_PORT_GUID'), guid)
        l.expect('lines in the journal', [line for line in l.journal().splitlines() if 'does not get' in line], [])
        # not even where nobody else has that GUID
        l.mock('del second')
        l.settle()
        l.node_events()
        l.expect('links without the second', l.port_links(), {})
        l.run('ip -n box link set net0 netns 1; ip link set net0 up')
        l.until('rdmad has the first get its links', lambda: l.port_links() == _links_of(l, 'first', guid))


@on('trixie')
def of_a_device_with_two_ports_only_the_one_in_a_container_has_no_links(suite):
    with lab(suite) as l:
        for number in range(2):
            l.run(f'ip link add net{number} address 02:00:00:00:00:0{number} type dummy; ip link set net{number} up')
        l.run('modprobe -r ib_umad')
        l.mock('add name=both proto=roce ports=2 netdev=net0:net1')
        l.settle()
        uverbs = l.nodes_of('both')[0, 'uverbs']
        stays, goes = (f'{l.port_guid("both", port)}/uverbs' for port in (1, 2))
        l.expect('links', l.port_links(), {stays: uverbs, goes: uverbs})
        move = 'ip netns add box; ip link set net1 netns box; ip -n box link set net1 up'
        for command in (move, move, f'systemctl stop rdmad.socket rdmad.service; {move}; systemctl start rdmad.socket rdmad.service'):
            l.run(command)
            l.until('the link of the second is gone', lambda: l.port_links() == {stays: uverbs})
            l.expect('network devices', l.properties(uverbs)['ID_RDMA_NETDEVS'], 'net0 -')
            l.run('ip -n box link set net1 netns 1; ip link set net1 up; ip netns del box')
            l.until('it is back', lambda: l.port_links() == {stays: uverbs, goes: uverbs})
