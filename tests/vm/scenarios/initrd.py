# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names given in an initrd, made by the distribution's own tools, and after it."""
import initrd
import lab as labs

FILES = {'/etc/rdmad/link.d/50-all.link': '[Match]\nOriginalName=*\n[Link]\nNamePolicy=guid\n',
         '/usr/lib/rdmad/link.d/05-hidden.link': '[Match]\nOriginalName=*\n[Link]\nName=hidden\n',
         '/etc/rdmad/link.d/05-hidden.link': None,
         # what must not stop the tool
         '/etc/rdmad/link.d/04-nowhere.link': '-> nowhere',
         '/etc/rdmad/link.d/04-folder.link': '-> /etc',
         '/etc/rdmad/link.d/04-line\nbreak.link': '[Match]\nDriver=no\n[Link]\nName=no\n',
         # drop-ins in a folder elsewhere
         '/etc/rdmad/place/place.conf': '[Link]\nNamePolicy=\nNamePolicy=onboard path\n',
         '/etc/rdmad/link.d/50-all.link.d': '-> ../place',
         '/etc/rdmad/link.d/10-second function.link':
             '[Match]\nPath=pci-0000:00:06.1\nVirtualization=vm\nHost=vm-*\n[Link]\nName=storage\nNamePolicy=\n'}
NAMES = ['ibo3', 'ibp0s5', 'ibp0s6f0', 'ibp1s0', 'storage']


def _names_stay(suite, tool):
    with initrd.boot(suite, tool, FILES, labs.BOARD + ('-device', 'edu,bus=rp1,id=slot1')) as vm:
        lab = labs.Lab(vm)
        lab.expect('names in the initrd', lab.run('cat /run/initrd-names').split(), NAMES)
        lab.expect('names after it', lab.devices(), NAMES)
        lab.unplug(1)
        lab.plug(1, 'proto=ib')
        lab.expect('what comes again', lab.in_slot(1), ['ibp1s0'])
        lab.plug(2, 'proto=ib')
        lab.expect('what comes later', lab.in_slot(2), ['ibp2s0'])
        lab.run('udevadm trigger --action=add; udevadm settle')
        lab.expect('after a trigger', lab.devices(), ['ibo3', 'ibp0s5', 'ibp0s6f0', 'ibp1s0', 'ibp2s0', 'storage'])
        return [f'{tool}: {" ".join(NAMES)}']


@labs.on('trixie')
def a_name_of_an_initrd_by_dracut_stays(suite):
    return _names_stay(suite, 'dracut')


@labs.on('bookworm')
def a_name_of_an_initrd_by_initramfs_tools_stays(suite):
    return _names_stay(suite, 'initramfs-tools')
