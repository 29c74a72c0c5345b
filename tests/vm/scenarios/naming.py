# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names by .link files, rdmad.link(5): what they are, and that they stay."""
import contextlib
import os
import re

import lab as labs
import machine

ALL = '[Match]\nOriginalName=*\n[Link]\n'
# hot-plugged below: SR-IOV needs an NVMe controller, which machines with QEMU's snapshots cannot have from the start
SRIOV = {'driver': 'nvme', 'sriov_max_vfs': 4, 'sriov_vq_flexible': 8, 'sriov_vi_flexible': 4, 'max_ioqpairs': 10,
         'msix_qsize': 10}
BOARD = labs.BOARD + ('-device', 'nvme-subsys,id=ss1', '-device', 'nvme-subsys,id=ss2')
# slots have their numbers from PCI Express, not from ACPI
SLOTS = ('-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off')


def _link(lab, name, text):
    path = f'/etc/rdmad/link.d/{name}'
    lab.run(f'mkdir -p {os.path.dirname(path)}')
    lab.vm.put(text, path)


def _naming(lab, verb):
    return lab.run(f'/usr/lib/udev/rdma_id --naming {verb}')


def _add_again(lab):
    lab.run('udevadm trigger --action=add --subsystem-match=infiniband; udevadm settle')


def _names(lab):
    """{index: name} as the kernel has it."""
    return dict(re.findall(r'^(\d+): (\S+): node_type', lab.run('rdma dev'), re.MULTILINE))


def _name_at(lab, path):
    """Name of the RDMA device right below a path of sysfs."""
    return lab.run(f'ls {path}/infiniband')


@contextlib.contextmanager
def _named(suite, link, **options):
    """A machine in which rdmad names devices."""
    with labs.lab(suite, **options) as lab:
        _link(lab, '10-all.link', ALL + link)
        _naming(lab, 'enable')
        yield lab


def _plug_sriov(lab, slot, functions):
    """An adapter with virtual functions into a slot; with two functions, the second has them."""
    if functions == 2:
        lab.vm.qmp('device_add', bus=f'rp{slot}', id=f'pf{slot}', subsys=f'ss{slot}', serial='b', addr='0.1', **SRIOV)
        # QEMU makes the second function depend on the first (function dependency link), which must have SR-IOV, too, with virtual
        # functions elsewhere; and the kernel finds the second by the ARI capability of the first
        lab.vm.qmp('device_add', driver='igb', bus=f'rp{slot}', id=f'f{slot}', addr='0.0', multifunction=True, romfile='',
                   **{'x-pcie-ari-nextfn-1': True})
    else:
        lab.vm.qmp('device_add', bus=f'rp{slot}', id=f'pf{slot}', subsys=f'ss{slot}', serial='a', **SRIOV)
    physical = f'/sys/bus/pci/devices/0000:0{slot}:00.{functions - 1}'
    lab.until(f'{physical} has an RDMA device', lambda: lab.vm.code(f'ls {physical}/infiniband/*') == 0)
    lab.run(f'echo 3 > {physical}/sriov_numvfs')
    lab.until('3 virtual functions', lambda: lab.vm.code(f'ls {physical}/virtfn2/infiniband/*') == 0)
    lab.settle()
    return physical


def _topologies(lab):
    """{what: path of its parent in sysfs}, all there."""
    lab.run('echo blacklist nvme > /etc/modprobe.d/nvme.conf; echo 1b36 0010 > /sys/bus/pci/drivers/rdma_mock/new_id')
    pci = '/sys/bus/pci/devices/0000:'
    found = {'one function': f'{pci}00:05.0', 'first of two functions': f'{pci}00:06.0',
             'second of two functions': f'{pci}00:06.1', 'onboard (SMBIOS)': f'{pci}00:07.0'}
    lab.mock('pci 0000:03:00.0 proto=roce')
    lab.vm.qmp('device_add', driver='edu', bus='rp3', id='acpi', **{'acpi-index': 7})
    lab.until('slot 3', lambda: lab.vm.code(f'ls {pci}03:00.0/infiniband/*') == 0)
    found['onboard (ACPI)'] = f'{pci}03:00.0'
    lab.plug(4, 'proto=opa ports=2')
    found['OPA, two ports'] = f'{pci}04:00.0'
    lab.plug(5, 'proto=roce:ib')
    found['RoCE and IB port'] = f'{pci}05:00.0'
    alone, second = _plug_sriov(lab, 1, 1), _plug_sriov(lab, 2, 2)
    found['PF, one function'], found['PF, second function'] = alone, second
    for number in range(3):
        found[f'VF {number} of the one function'] = f'{alone}/virtfn{number}'
        found[f'VF {number} of the second function'] = f'{second}/virtfn{number}'
    for what, options in {'SF 88': 'parent=0000:00:05.0 sf=88', 'SF 88 of VF 1': 'parent=0000:01:00.2 sf=88',
                          'auxiliary, no sfnum': 'parent=0000:00:06.0 sf=none', 'platform': 'parent=platform',
                          'no parent': 'proto=roce'}.items():
        before = set(lab.devices())
        lab.mock(f'add {options}')
        lab.settle()
        new, = set(lab.devices()) - before
        found[what] = lab.run(f'realpath /sys/class/infiniband/{new}/..').removesuffix('/infiniband')
    lab.run('modprobe -a dummy rdma_rxe; ip link add net0 type dummy; ip link set net0 up; rdma link add soft0 type rxe netdev net0')
    lab.settle()
    found['rxe'] = '/sys/class/infiniband/soft0/device-is-none'
    return found


def _all_names(lab, found):
    virtual = {name for name in lab.devices()
               if '/devices/virtual/' in lab.run(f'realpath /sys/class/infiniband/{name}')}
    names = {}
    for what, path in found.items():
        if what == 'rxe':
            names[what] = 'soft0' if 'soft0' in virtual else 'gone'
        elif what == 'no parent':
            names[what], = virtual - {'soft0'}
        else:
            names[what] = _name_at(lab, path)
    return names


@labs.on('trixie')
def each_topology_has_the_name_of_its_scheme(suite):
    with labs.lab(suite, extra=BOARD) as lab:
        try:
            lab.vm.qmp('device-list-properties', typename='igb')
        except machine.MachineError as error:
            raise labs.Skip(f'QEMU 8 or later, which has igb: {error}') from None
        found = _topologies(lab)
        stock = _all_names(lab, found)
        tables = []
        for scheme in ('rdma-core', 'v1'):
            _link(lab, '10-all.link', ALL + f'NamePolicy=onboard path\nNamingScheme={scheme}\n')
            _naming(lab, 'enable')
            _add_again(lab)
            tables.append(_all_names(lab, found))
        theirs, ours = tables
        lines = [f'{"topology":<26}{"rdma-core":<16}{"scheme rdma-core":<18}{"scheme v1":<18}']
        lines += [f'{what:<26}{stock[what]:<16}{theirs[what]:<18}{ours[what]:<18}' for what in found]
        named = {what for what, name in stock.items() if not name.startswith('mock')}
        for what in named:
            lab.expect(f'{what} by scheme rdma-core', theirs[what], stock[what])
        lab.expect('v1: no two have one name', len(set(ours.values())), len(found))
        wanted = {'one function': 'ibp0s5', 'first of two functions': 'ibp0s6f0', 'second of two functions': 'ibp0s6f1',
                  'onboard (SMBIOS)': 'ibo3', 'onboard (ACPI)': 'roceo7', 'OPA, two ports': 'opap4s0',
                  'RoCE and IB port': 'rocep5s0', 'PF, one function': 'ibp1s0', 'PF, second function': 'ibp2s0f1',
                  'SF 88': 'ibp0s5S88', 'SF 88 of VF 1': 'ibp1s0v1S88', 'auxiliary, no sfnum': 'ibp0s6f0Ardma',
                  'rxe': 'soft0'}
        for number in range(3):
            wanted[f'VF {number} of the one function'] = f'ibp1s0v{number}'
            wanted[f'VF {number} of the second function'] = f'ibp2s0f1v{number}'
        for what, name in wanted.items():
            lab.expect(f'{what} by scheme v1', ours[what], name)
        return lines


def path_of_a_link_file_is_what_udev_says_of_the_uverbs_node(suite):
    with labs.lab(suite, extra=BOARD) as lab:
        lab.plug(1, 'proto=ib')
        lab.mock('add parent=platform')
        lab.mock('add parent=0000:00:05.0 sf=88')
        lab.settle()
        systemd = int(re.match(r'\d+', lab.run('udevadm --version')).group())
        seen = {}
        for name in lab.devices():
            path = lab.properties(lab.nodes_of(name)[0, 'uverbs'])['ID_PATH']
            if lab.vm.code(f'ls /sys/class/infiniband/{name}/device/sfnum') == 0 and systemd < 261:
                path += '-sf-88'
            _link(lab, '10-path.link', f'[Match]\nPath={path}\n[Link]\nName=found\n')
            explained = lab.run(f'/usr/lib/udev/rdma_id --test-link {name}')
            lab.expect_true(f'{name} by Path={path}', 'Matched by' in explained, explained)
            seen[name] = path
        lab.expect_true('paths of all kinds', {'pci-0000:01:00.0', 'pci-0000:00:05.0-sf-88'} < set(seen.values()) and
                        any(path.startswith('platform-') for path in seen.values()), seen)
        return [f'{name}: {path}' for name, path in seen.items()]


@labs.on('trixie')
def a_slot_gives_its_number(suite):
    with _named(suite, 'NamePolicy=slot path\n', extra=SLOTS) as lab:
        lab.plug(3, 'proto=ib')
        slot = lab.run('grep -l 0000:03:00 /sys/bus/pci/slots/*/address').split('/')[-2]
        lab.expect_true('the kernel numbers it', slot.isdigit() and slot != '0', slot)
        lab.expect('the adapter in that slot', lab.in_slot(3), [f'ibs{slot}'])


@labs.on('trixie')
def many_devices_at_once_end_with_unique_names(suite):
    """64, or as many as $RDMAD_DEVICES says; 16 of them want a name that another one wants, too; by GUID they differ."""
    with _named(suite, 'NamePolicy=guid\n') as lab:
        # pairs by their node GUIDs, which count up by 0x100: for the first 32, two want one name
        for number in range(0, 32, 2):
            pattern = f'{0x00c0ffee11000000 + number * 0x100:016x} {0x00c0ffee11000000 + (number + 1) * 0x100:016x}'
            _link(lab, f'05-pair{number:02}.link',
                  f'[Match]\nNodeGUID={pattern}\n[Link]\nName=pair{number}\nNamePolicy=\n')
        lab.run('modprobe -r rdma_mock; modprobe -r ib_umad ib_uverbs; modprobe rdma_mock')
        count = int(os.environ.get('RDMAD_DEVICES', '64'))
        lab.mock(f'add proto=ib count={count} guid=00c0ffee11000000')
        lab.run('udevadm settle -t 900', timeout=1000)
        names = _names(lab)
        lab.expect('devices', len(names), count)
        lab.expect('names', len(set(names.values())), count)
        lab.expect('temporary names', [name for name in names.values() if name.startswith('rdmad-')], [])
        pairs = [name for name in names.values() if name.startswith('pair')]
        lab.expect('pairs of which one has the name', sorted(pairs), sorted(f'pair{n}' for n in range(0, 32, 2)))
        losers = [name for name in names.values() if name.startswith('mock')]
        lab.expect('those that could not have it keep theirs', len(losers), 16)
        by_guid = [name for name in names.values() if name.startswith('ibx')]
        lab.expect('all others are called by their GUIDs', len(by_guid), count - 32)
        told = [line for line in lab.journal().splitlines() if 'does not get the name pair' in line]
        lab.expect('journal lines', len(told), 16)
        return [f'journal: {told[0]}']


@labs.gate
@labs.on('trixie')
def a_collision_falls_to_the_next_policy(suite):
    with _named(suite, 'NamePolicy=path guid\n') as lab:
        # the first keeps the name that the second has by its path
        _link(lab, '05-first.link', '[Match]\nNodeGUID=0002c90300000a00\n[Link]\nNamePolicy=\nName=ibp2s0\n')
        lab.plug(1, 'proto=ib guid=0002c90300000a00')
        lab.plug(2, 'proto=ib guid=0002c90300000b00')
        lab.expect('their names', [lab.in_slot(1), lab.in_slot(2)], [['ibp2s0'], ['ibx0002c90300000b00']])
        told = [line for line in lab.journal().splitlines() if 'does not get the name ibp2s0' in line]
        lab.expect_true('the journal names both', told and '(index 0)' in told[0] and '(index 1)' in told[0], told)
        return [f'journal: {told[0]}']


@labs.on('trixie')
def a_device_gives_a_name_back_to_the_one_that_should_have_it_and_of_two_that_want_one_name_one_gets_it(suite):
    with _named(suite, 'NamePolicy=path guid\n') as lab:
        lab.plug(1, 'proto=ib guid=0002c90300000a00')
        lab.run('rdma dev set ibp1s0 name ibp2s0')
        lab.settle()
        lab.plug(2, 'proto=ib guid=0002c90300000b00')
        # ibp2s0 should be called ibp1s0, so it gives way
        lab.expect('both have their own names', [lab.in_slot(1), lab.in_slot(2)], [['ibp1s0'], ['ibp2s0']])
        lab.vm.put(ALL + 'NamePolicy=path guid\nName=one\n', '/etc/rdmad/link.d/10-all.link')
        _link(lab, '05-one.link', '[Match]\nNodeGUID=0002c90300000[ab]00\n[Link]\nName=one\n')
        _link(lab, '05-one.link.d/guid.conf', '[Link]\nNamePolicy=\n')
        _add_again(lab)
        names = sorted(lab.in_slot(1) + lab.in_slot(2))
        lab.expect_true('one has the name, the other keeps its own', names in (['ibp1s0', 'one'], ['ibp2s0', 'one']), names)
        told = [line for line in lab.journal().splitlines() if 'does not get the name one' in line]
        lab.expect_true('the journal names both', told and '(index 0)' in told[0] and '(index 1)' in told[0], told)
        return [f'journal: {told[0]}']


@labs.on('trixie')
def two_devices_swap_their_names(suite):
    with _named(suite, 'NamePolicy=path\n') as lab:
        for slot in (1, 2, 3):
            lab.plug(slot, f'proto=ib pguid=0002c90300000{slot}01')
            lab.service(f's{slot}', f'rdma-0002c90300000{slot}01-umad.device')
            lab.run(f'systemctl start s{slot}')
        lab.expect('by path', [lab.in_slot(n) for n in (1, 2, 3)], [['ibp1s0'], ['ibp2s0'], ['ibp3s0']])
        pids = [lab.pid(f's{slot}') for slot in (1, 2, 3)]
        for slot, name in ((1, 'ibp2s0'), (2, 'ibp3s0'), (3, 'ibp1s0')):
            _link(lab, f'05-{slot}.link', f'[Match]\nPath=pci-0000:0{slot}:00.0\n[Link]\nName={name}\n')
        monitor = lab.start_monitor('--property --subsystem-match=infiniband')
        _add_again(lab)
        lab.settle()
        events = lab.end_monitor(monitor)
        lab.expect('renames, and those to a temporary name',
                   (events.count('\nACTION=move\n'), len(re.findall('^DEVPATH=.*/rdmad-swap', events, re.MULTILINE))), (4, 1))
        lab.expect('turned round', [lab.in_slot(n) for n in (1, 2, 3)], [['ibp2s0'], ['ibp3s0'], ['ibp1s0']])
        for slot, name in ((1, 'ibp2s0'), (2, 'ibp3s0'), (3, 'ibp1s0')):
            alias = f'sys-subsystem-rdma-devices-{name}:1-umad.device'
            wanted = lab.run(f'realpath /dev/infiniband/by-port-guid/0002c90300000{slot}01/umad')
            lab.until(f'{alias} is {wanted}', lambda: wanted.rsplit('/')[-1] == lab.show(alias, 'SysFSPath').rsplit('/')[-1])
        lab.expect('process IDs', [lab.pid(f's{slot}') for slot in (1, 2, 3)], pids)
        lab.expect('of temporary names', lab.run('ls /run/udev/data | grep rdmad || true; ls /dev/infiniband/by-ibdev | grep rdmad || true'),
                   '')


@labs.on('trixie')
def a_service_bound_by_name_lives_as_long_as_the_name(suite):
    with _named(suite, 'NamePolicy=keep path\n') as lab:
        lab.service('bound', 'sys-subsystem-rdma-devices-ibp1s0:1-umad.device')
        lab.plug(1, 'proto=ib')
        lab.until_active('bound')
        lab.run('rdma dev set ibp1s0 name other')
        lab.until_inactive('bound')
        lab.run('rdma dev set other name ibp1s0')
        lab.until_active('bound')


@labs.on('trixie')
def a_name_that_is_given_late_reaches_every_node(suite):
    """As after an initrd that named the device otherwise, whose udev left no records."""
    with _named(suite, 'NamePolicy=kernel\n') as lab:
        lab.plug(1, 'proto=ib ports=2')
        lab.vm.put(ALL + 'NamePolicy=path\n', '/etc/rdmad/link.d/10-all.link')
        # nodes whose events have read the old name, and have no record yet, when the device is renamed
        lab.vm.put('SUBSYSTEM=="infiniband_*", ACTION=="add", PROGRAM="/bin/sleep 3"\n', '/etc/udev/rules.d/62-slow.rules')
        lab.run('udevadm control --reload; udevadm info --cleanup-db; udevadm trigger --action=add -s infiniband_mad -s infiniband_verbs; '
                'sleep 1.5; udevadm trigger --action=add -s infiniband; udevadm settle')
        lab.expect('the device', lab.in_slot(1), ['ibp1s0'])
        for node in set(lab.nodes_of('ibp1s0').values()):
            lab.expect(f'the name that udev has of {node}', lab.properties(node).get('ID_RDMA_NAME'), 'ibp1s0')


@labs.on('trixie')
def a_device_is_named_after_ib_core_was_loaded_again(suite):
    """The kernel counts indexes from 0 again; a record of the old device 0, whose removal told no index, is of another device."""
    with _named(suite, 'NamePolicy=path\n') as lab:
        lab.plug(1, 'proto=ib')
        lab.expect('index', list(_names(lab)), ['0'])
        lab.run('cp -P /run/rdmad/names/0-* /run')

        def is_unloaded():
            # again and again: udev loads a driver when it hears that one was unbound, and rdmad has yet to let go of the kernel
            lab.run('unload() { for h in $(ls /sys/module/$1/holders); do unload $h; done; modprobe -rq $1; }; '
                    'udevadm settle; unload ib_core', check=False)
            return lab.run('test -e /sys/module/ib_core && echo there || true') == ''
        try:
            lab.until('ib_core is unloaded', is_unloaded)
        except labs.Failure as failure:
            raise labs.Failure(f'{failure}\n{lab.run("lsmod | grep -E ^ib_core; ls /sys/module/ib_core/holders; fuser -v /dev/infiniband/* 2>&1", check=False)}')
        lab.run('cp -P /run/0-* /run/rdmad/names/; modprobe -a ib_umad ib_uverbs rdma_mock; udevadm settle')
        lab.expect('the device, with index 0 again', _names(lab), {'0': 'ibp1s0'})


@labs.on('trixie')
def a_user_keeps_the_name_that_he_chose(suite):
    with _named(suite, 'NamePolicy=keep path guid\n') as lab:
        lab.plug(1, 'proto=ib')
        lab.expect('by path', lab.in_slot(1), ['ibp1s0'])
        lab.run('rdma dev set ibp1s0 name mine')
        lab.settle()
        _add_again(lab)
        lab.expect('policy keep', lab.in_slot(1), ['mine'])
        lab.vm.put(ALL + 'NamePolicy=path\n', '/etc/rdmad/link.d/10-all.link')
        _add_again(lab)
        lab.expect('without it', lab.in_slot(1), ['ibp1s0'])


@labs.on('trixie')
def where_rdmad_was_removed_rdma_core_names_devices_again(suite):
    with _named(suite, 'NamePolicy=guid\n') as lab:
        lab.plug(1, 'proto=ib guid=0002c90300000a00')
        lab.expect('with rdmad', lab.in_slot(1), ['ibx0002c90300000a00'])
        lab.run('systemctl stop rdmad.socket rdmad.service; rm /usr/lib/udev/rdma_id /usr/lib/udev/rules.d/*-rdmad-*.rules; '
                'udevadm control --reload')
        lab.plug(2, 'proto=ib guid=0002c90300000b00')
        lab.expect('without it', lab.in_slot(2), ['ibp2s0'])


@labs.on('trixie')
def a_user_keeps_the_name_that_he_gave_a_software_device_as_he_made_it(suite):
    if suite == 'bookworm':
        raise labs.Skip('Linux 6.9 or later, which tells who chose a name')
    with _named(suite, 'NamePolicy=guid\n') as lab:
        lab.run('modprobe -a dummy rdma_rxe; ip link add net0 type dummy; ip link set net0 up; rdma link add soft0 type rxe netdev net0')
        lab.settle()
        _add_again(lab)
        lab.expect('a name given when the device was made', lab.devices(), ['soft0'])


def ipoib_devices_are_called_after_their_rdma_devices(suite):
    """The machine's kernel command line forbids systemd-udevd to name network devices; here it may."""
    with _named(suite, 'NamePolicy=path\nIPoIBName=yes\n', append='net.ifnames=1',
                setup='modprobe -a ib_ipoib ib_umad ib_uverbs; ' + labs.MOCK) as lab:
        lab.plug(1, 'proto=ib')
        lab.plug(2, 'proto=ib ports=2')

        def names():
            return lab.run('for d in /sys/class/net/*; do [ $(cat $d/type) = 32 ] && basename $d; done || true').split()
        lab.expect('IPoIB devices', names(), ['ipoibp1s0', 'ipoibp2s0p1', 'ipoibp2s0p2'])
        lab.expect('their RDMA devices', [lab.in_slot(1), lab.in_slot(2)], [['ibp1s0'], ['ibp2s0']])
        lab.run('ip link add link ipoibp1s0 name ipoibp1s0.8001 type ipoib pkey 0x8001; ip link add link ipoibp1s0 name mine type ipoib '
                'pkey 0x8002; echo 0x8003 > /sys/class/net/ipoibp1s0/create_child; udevadm settle')
        lab.expect('with child interfaces', names(), ['ipoibp1s0', 'ipoibp1s0.8001', 'ipoibp1s0.8003', 'ipoibp2s0p1', 'ipoibp2s0p2', 'mine'])
        lab.run('udevadm trigger --subsystem-match=net; udevadm trigger --action=add --subsystem-match=net; udevadm settle')
        lab.expect('the property stays', lab.properties('/sys/class/net/ipoibp2s0p2').get('ID_RDMA_IPOIB_NAME'), 'ipoibp2s0p2')
        lab.expect('names stay', names(), ['ipoibp1s0', 'ipoibp1s0.8001', 'ipoibp1s0.8003', 'ipoibp2s0p1', 'ipoibp2s0p2', 'mine'])
        _link(lab, '05-long.link', '[Match]\nPath=pci-0000:03:00.0\n[Link]\nName=much-too-long\nIPoIBName=yes\n')
        _link(lab, '05-no.link', '[Match]\nPath=pci-0000:04:00.0\n[Link]\nName=other\n')
        lab.plug(3, 'proto=ib')
        lab.plug(4, 'proto=ib')
        lab.expect_true('one whose name does not fit, and one that is not asked for',
                        not [name for name in names() if 'much' in name or 'other' in name], names())
        told = [line for line in lab.journal().splitlines() if 'does not name the IPoIB device' in line]
        lab.expect('lines in the journal', len(told), 1)
        return [f'journal: {told[0]}', 'names: ' + ' '.join(names())]


@labs.on('trixie')
def a_device_called_after_its_network_device_waits_for_that(suite):
    """Both come at once, and systemd-udevd renames the network device."""
    with _named(suite, 'NamePolicy=netdev path\n', append='net.ifnames=1') as lab:
        monitor = lab.start_monitor('--subsystem-match=infiniband')
        lab.plug(3, 'proto=iwarp netdev=new')
        lab.settle()
        lab.expect('the name of the first', lab.in_slot(3), ['iw-enp3s0'])
        # what systemd runs as long as there is an RDMA device
        lab.until('rdma-hw.target is up', lambda: lab.run('systemctl is-active rdma-hw.target', check=False) == 'active')
        lab.expect('times that it stopped', lab.run('journalctl -b -o cat -u rdma-hw.target | grep -c ^Stopped', check=False), '0')
        for slot in (1, 2):
            lab.plug(slot, 'proto=roce netdev=new')
        lab.plug(4, 'proto=roce:roce netdev=new:new')
        lab.settle()
        lab.expect('names', [lab.in_slot(slot) for slot in (1, 2, 3, 4)],
                   [['roce-enp1s0'], ['roce-enp2s0'], ['iw-enp3s0'], ['rocep4s0']])
        seen = set(re.findall(r'infiniband/(\S+) \(infiniband\)', lab.end_monitor(monitor)))
        lab.expect('names that there were', {name for name in seen if not name.startswith('mock')},
                   {'roce-enp1s0', 'roce-enp2s0', 'iw-enp3s0', 'rocep4s0'})
        for slot, name in ((1, 'roce-enp1s0'), (3, 'iw-enp3s0')):
            uverbs, = lab.in_slot(slot, 'infiniband_verbs')
            lab.expect('the link by name', lab.run(f'realpath /dev/infiniband/by-ibdev/uverbs-{name}'), f'/dev/infiniband/{uverbs}')
        lab.unplug(1)
        lab.plug(1, 'proto=roce netdev=new')
        lab.expect('again', lab.in_slot(1), ['roce-enp1s0'])
        # only its own event knows whether the first file matches
        _link(lab, '05-role.link', '[Match]\nProperty=ROLE=storage\n[Link]\nName=storage\n')
        lab.plug(5, 'proto=roce netdev=new')
        lab.expect('beside a file with Property=', lab.in_slot(5), ['roce-enp5s0'])
        # a network device that is renamed later takes no RDMA device with it
        lab.run('ip link set enp5s0 name other0; udevadm settle')
        lab.expect('after a rename of the network device', lab.in_slot(5), ['roce-enp5s0'])


@labs.on('trixie')
def a_name_of_an_old_initrd_gives_way_to_that_of_the_network_device(suite):
    """udev's records of the initrd are gone after it, ours are not."""
    with _named(suite, 'NamePolicy=path\n', append='net.ifnames=1') as lab:
        lab.plug(1, 'proto=roce netdev=new')
        lab.expect('in the initrd', lab.in_slot(1), ['rocep1s0'])
        lab.vm.put(ALL + 'NamePolicy=netdev\n', '/etc/rdmad/link.d/10-all.link')
        lab.run('udevadm info --cleanup-db; udevadm trigger --action=add; udevadm settle')
        lab.expect('after it', lab.in_slot(1), ['roce-enp1s0'])
        for node in set(lab.nodes_of('roce-enp1s0').values()):
            lab.expect(f'the name that udev has of {node}', lab.properties(node).get('ID_RDMA_NAME'), 'roce-enp1s0')


@labs.on('trixie')
def a_broken_file_is_told_and_its_devices_keep_their_names(suite):
    with _named(suite, 'NamePolicy=path\n') as lab:
        _link(lab, '05-broken.link', '[Match]\nPath=pci-0000:01:00.0\n[Link]\nNamePolicy=path pth\n')
        _link(lab, '06-worse.link', '[Match]\nPth=*\n[Link]\nName=a/b\n')
        lab.plug(1, 'proto=ib')
        lab.plug(2, 'proto=ib')
        lab.expect('the name of what the broken file matches', lab.in_slot(1), ['mock0'])
        lab.expect('the name of another device', lab.in_slot(2), ['ibp2s0'])
        journal = lab.journal()
        told = ["/etc/rdmad/link.d/05-broken.link:4: NamePolicy: 'pth' is not a naming policy",
                '/etc/rdmad/link.d/06-worse.link:2: Pth: unknown key in [Match]',
                "/etc/rdmad/link.d/06-worse.link:4: Name: 'a/b' is not allowed: only letters, digits, '_', '-' and '.' are allowed"]
        for line in told:
            lab.expect_true('the journal says', line in journal, journal[-2000:])
        lab.expect('how often', journal.count(told[0]), 1)
        lab.expect_true('--naming status says so', all(line in _naming(lab, 'status') for line in told), '')
        return [f'journal: {line}' for line in told]


def rdma_core_and_rdmad_never_both_rename(suite):
    with labs.lab(suite) as lab:
        lab.expect_true('at first', 'rdma-core names RDMA devices' in _naming(lab, 'status'), '')
        _link(lab, '10-all.link', ALL + 'NamePolicy=guid\n')
        lab.plug(1, 'proto=ib guid=0002c90300000a00')
        lab.expect('a .link file alone', lab.in_slot(1), ['ibp1s0'])
        _naming(lab, 'enable')
        _add_again(lab)
        lab.expect('enabled', lab.in_slot(1), ['ibx0002c90300000a00'])
        _naming(lab, 'disable')
        _add_again(lab)
        lab.expect('disabled', lab.in_slot(1), ['ibp1s0'])
        rules = '/etc/udev/rules.d/60-rdma-persistent-naming.rules'
        lab.expect('the override', lab.run(f'ls {rules} 2>&1 || true').split(':')[-1].strip(), 'No such file or directory')
        lab.run(f'ln -s /dev/null {rules}')
        code, out = lab.vm.finish(lab.vm.start('/usr/lib/udev/rdma_id --naming enable'))
        lab.expect("an administrator's file in the way: exit code", code, 4)
        lab.expect('it stays', lab.run(f'readlink {rules}'), '/dev/null')
        return [out.strip()]


@labs.on('trixie')
def a_word_on_the_kernel_command_line_keeps_devices_from_being_named(suite):
    with _named(suite, 'NamePolicy=path\n', append='rdmad.names=0') as lab:
        lab.plug(1, 'proto=ib pguid=0002c90300000a01')
        lab.expect('appeared', lab.in_slot(1), ['mock0'])
        _add_again(lab)
        lab.expect('asked for again', lab.in_slot(1), ['mock0'])
        lab.expect_true('links', '0002c90300000a01/umad' in lab.port_links(), lab.port_links())
        said = 'rdmad.names=0 on the kernel command line keeps'
        status, explained = _naming(lab, 'status'), lab.run('/usr/lib/udev/rdma_id --test-link mock0')
        lab.expect_true('--naming status', said in status, status)
        lab.expect_true('--test-link', 'It would be called ibp1s0.' in explained and said in explained, explained)
        # rdma-core's rule counts again
        _naming(lab, 'disable')
        _add_again(lab)
        lab.expect('disabled', lab.in_slot(1), ['ibp1s0'])
        return [line for text in (status, explained) for line in text.splitlines() if said in line]


ROUNDS = 20


def _rounds(lab, wanted, after_plug):
    """Flips of the name in that many rounds: (name seen, step) where it was not the wanted one."""
    choose = labs.chance()
    is_in, flips = False, []
    for _ in range(ROUNDS):
        for step in choose.sample(['plug', 'unplug', 'add', 'change', 'daemon-reload'], 5):
            if step == 'plug' and not is_in:
                lab.plug(1, 'proto=ib guid=0002c90300000a00')
                after_plug(lab)
                is_in = True
            elif step == 'unplug' and is_in:
                lab.unplug(1)
                is_in = False
            elif step in ('add', 'change'):
                lab.run(f'udevadm trigger --action={step} --subsystem-match=infiniband; udevadm settle')
            elif step == 'daemon-reload':
                lab.run('systemctl daemon-reload')
            if is_in and (seen := lab.in_slot(1)) != [wanted]:
                flips.append((seen, step))
    return flips


@labs.on('trixie')
def a_name_never_flips(suite):
    with _named(suite, 'Name=storage\n') as lab:
        monitor = lab.start_monitor('--subsystem-match=infiniband')
        lab.expect('flips', _rounds(lab, 'storage', lambda lab: None), [])
        events = lab.end_monitor(monitor)
        moves, adds = events.count(' move '), len(re.findall(' add .*infiniband/mock', events))
        lab.expect('renames for each appearance', moves, adds)

    def rename(lab):
        lab.run('rdma dev set ibp1s0 name storage; udevadm settle')
    with labs.lab(suite, rdmad=False) as lab:
        flips = _rounds(lab, 'storage', rename)
    return [f'{ROUNDS} rounds: none with rdmad, {moves} renames for {adds} appearances; with rdma-core alone and '
            f'"rdma dev set" by hand, {len(flips)} steps after which the name was another one']
