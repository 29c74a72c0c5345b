# SPDX-License-Identifier: LGPL-2.1-or-later
"""What /run/rdmad holds: nothing of devices that are gone, nor of what those that are there were before."""
from lab import lab, on


@on('trixie')
def a_port_guid_that_changes_leaves_no_claim_behind(suite):
    with lab(suite) as l:
        l.run('ip link add net0 type dummy; ip link set net0 up')
        l.mock('add name=one proto=roce netdev=net0')
        l.settle()
        for number in range(20):
            guid = l.set_mac('one', 'net0', f'02:00:00:00:00:{number:02x}')
            # of the nodes alone: udev's record of the device keeps the GUID of before
            l.node_events()
            links = {f'{guid}/{node}': path for (_, node), path in l.nodes_of('one').items()}
            l.expect('links', l.port_links(), links)
            l.expect('claims', l.run('ls /run/rdmad/claims').split(), sorted(f'port-{link.replace("/", "-")}' for link in links))
        l.mock('del one')
        l.settle()
        l.expect('left over', l.leftovers(), [''])


@on('trixie')
def two_roce_ports_that_swap_their_mac_addresses_swap_links_and_units(suite):
    with lab(suite) as l:
        for number, name in enumerate(('one', 'two')):
            l.run(f'ip link add net{number} type dummy; ip link set net{number} up address 02:00:00:00:00:0{number}')
            l.mock(f'add name={name} proto=roce netdev=net{number}')
        l.settle()
        guids = {name: l.port_guid(name) for name in ('one', 'two')}
        for turn in range(4):
            l.set_mac('one', 'net0', '02:00:00:00:00:0f')
            l.set_mac('two', 'net1', f'02:00:00:00:00:0{turn % 2}')
            l.set_mac('one', 'net0', f'02:00:00:00:00:0{1 - turn % 2}')
            l.node_events()
            owners = {l.port_guid(name): name for name in ('one', 'two')}
            l.expect('GUIDs', set(owners), set(guids.values()))
            l.until('links follow', lambda: l.port_links() == {
                f'{guid}/{node}': path for guid, name in owners.items() for (_, node), path in l.nodes_of(name).items()})
            for guid, name in owners.items():
                uverbs = l.nodes_of(name)[0, 'uverbs'].rpartition('/')[2]
                l.until(f'{uverbs} has the unit by {guid}',
                        lambda: l.show(f'rdma-{guid}-uverbs.device', 'SysFSPath').endswith(f'/{uverbs}'))
            l.settle()
            l.expect('losers', l.run('ls /run/rdmad/contested 2>/dev/null || true'), '')
        for name in ('one', 'two'):
            l.mock(f'del {name}')
        l.settle()
        l.expect('left over', l.leftovers(), [''])
