# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which modules are loaded for a device."""
from lab import lab, on

NOTHING = 'systemctl mask -q --runtime rdma-load-modules@{rdma,infiniband,opa,roce,iwarp}.service; modprobe rdma_mock; udevadm settle'


def _loaded(lab):
    return set(lab.run('lsmod | cut -d" " -f1').split()) & {'ib_uverbs', 'ib_umad'}


def an_infiniband_device_gets_uverbs_and_umad_loaded(suite):
    with lab(suite, setup=NOTHING) as l:
        l.expect('modules before', _loaded(l), set())
        l.mock('add name=one proto=ib guid=0002c90300000a00')
        l.settle()
        l.expect('modules', _loaded(l), {'ib_uverbs', 'ib_umad'})
        l.expect('links', sorted(l.port_links()), sorted(f'0002c90300000a01/{n}' for n in ('uverbs', 'umad', 'issm')))


@on('trixie')
def a_roce_or_iwarp_device_gets_uverbs_alone(suite):
    for proto in ('roce', 'iwarp'):
        with lab(suite, setup=NOTHING) as l:
            l.run('ip link add dummy0 type dummy; ip link set dummy0 up')
            l.mock(f'add name=one proto={proto} netdev=dummy0')
            l.settle()
            l.expect(f'modules for {proto}', _loaded(l), {'ib_uverbs'})


def a_module_that_the_lists_of_rdma_core_leave_out_stays_out(suite):
    with lab(suite, setup=NOTHING) as l:
        l.run("sed -i 's/^ib_umad/# &/' /etc/rdma/modules/infiniband.conf")
        l.mock('add name=one proto=ib')
        l.settle()
        l.expect('modules', _loaded(l), {'ib_uverbs'})


@on('trixie')
def asking_by_hand_loads_what_is_missing_unless_told_not_to(suite):
    with lab(suite, rdmad=False, setup=NOTHING) as l:
        import package
        l.mock('add name=one proto=ib')
        l.settle()
        package.install(l.vm)
        l.run('/usr/lib/udev/rdma_id --no-load one')
        l.expect('modules after --no-load', _loaded(l), set())
        l.run('/usr/lib/udev/rdma_id one')
        l.expect('modules', _loaded(l), {'ib_uverbs', 'ib_umad'})
