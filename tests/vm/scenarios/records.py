# SPDX-License-Identifier: LGPL-2.1-or-later
"""What /run/rdmad holds: nothing of devices that are gone, nor of what those that are there were before."""
from lab import lab, on

A, B = '0002c90300000a01', '0002c90300000b01'


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
            l.run(f'ip link add net{number} address 02:00:00:00:00:0{number} type dummy; ip link set net{number} up')
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


@on('trixie')
def a_device_that_goes_before_its_rename_was_handled_leaves_nothing(suite):
    """Udev has an RDMA device in its database by name, so its removal tells no index."""
    with lab(suite) as l:
        l.run('mkdir -p /etc/rdmad/link.d; /usr/lib/udev/rdma_id --naming enable')
        l.vm.put('[Match]\nOriginalName=*\n[Link]\nNamePolicy=guid\n', '/etc/rdmad/link.d/10-all.link')
        l.mock(f'add name=stays proto=ib guid=0002c90300000b00 pguid={B}')
        l.settle()
        stays, = l.devices()
        links, names = l.port_links(), l.run('ls /run/rdmad/names')
        for turn in range(5):
            l.mock(f'add name=goes proto=ib guid=0002c90300000a00 pguid={A}')
            l.settle()
            goes, = set(l.devices()) - {stays}
            l.expect('names', len(l.run('ls /run/rdmad/names').split()), 2)
            # a claim that no event of a node releases
            l.run(f'ln -s "{4000 + turn} 1 umad77" /run/rdmad/claims/port-{turn:016x}-umad')
            # udev handles the rename after the removal, as when it has much to do
            l.run(f'udevadm control --stop-exec-queue; rdma dev set {goes} name renamed; echo "del renamed" > /dev/rdma_mock; '
                  'udevadm control --start-exec-queue; udevadm settle')
            l.expect('devices', l.devices(), [stays])
            l.expect('names that are known', l.run('ls /run/rdmad/names'), names)
            l.expect('links', l.port_links(), links)
            l.expect('claims', l.run('ls /run/rdmad/claims').split(), sorted(f'port-{link.replace("/", "-")}' for link in links))
        l.mock(f'del {stays}')
        l.settle()
        l.expect('left over', l.leftovers(), [''])
