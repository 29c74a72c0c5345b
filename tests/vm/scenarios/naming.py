# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names by .link files, rdmad.link(5): what they are, and that they stay."""
import contextlib
import re

import lab as labs

ALL = '[Match]\nOriginalName=*\n[Link]\n'
# hot-plugged below: SR-IOV needs an NVMe controller, which machines with QEMU's snapshots cannot have from the start
SRIOV = {'driver': 'nvme', 'sriov_max_vfs': 4, 'sriov_vq_flexible': 8, 'sriov_vi_flexible': 4, 'max_ioqpairs': 10,
         'msix_qsize': 10}
BOARD = ('-device', 'edu,id=single,addr=0x5',
         '-device', 'edu,id=first,addr=0x6.0,multifunction=on', '-device', 'edu,id=second,addr=0x6.1',
         '-device', 'edu,id=onboard,addr=0x7',
         '-smbios', 'type=41,designation=onboard,instance=3,kind=ethernet,pcidev=onboard',
         '-device', 'nvme-subsys,id=ss1', '-device', 'nvme-subsys,id=ss2', '-device', 'nvme-subsys,id=ss3')
# slots have their numbers from PCI Express, not from ACPI
SLOTS = ('-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off')


def _link(lab, name, text):
    lab.run('mkdir -p /etc/rdmad/link.d')
    lab.vm.put(text, f'/etc/rdmad/link.d/{name}')


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
        # QEMU makes the second function depend on the first (function dependency link), which must have SR-IOV, too
        lab.vm.qmp('device_add', bus=f'rp{slot}', id=f'f{slot}', subsys='ss3', serial='c', addr='0.0', multifunction=True, **SRIOV)
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


def each_topology_has_the_name_of_its_scheme(suite):
    with labs.lab(suite, extra=BOARD) as lab:
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
