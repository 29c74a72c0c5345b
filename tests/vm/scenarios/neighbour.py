# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside rdma-core and systemd, overriding nothing."""
from lab import gate, lab, NODES, Skip


def no_file_of_another_package_is_replaced(suite):
    with lab(suite, rdmad=False) as l:
        import package
        path = package.build(suite)
        with open(path, 'rb') as file:
            l.vm.put(file.read(), '/run/rdmad.tar')
        ours = [f for f in l.run('tar -tf /run/rdmad.tar').split() if not f.endswith('/')]
        taken = l.run('cd /; for f in ' + ' '.join(ours) + '; do [ ! -e "$f" ] || echo "$f"; done')
        l.expect('files that were there before', taken, '')
        rules = l.run('ls /usr/lib/udev/rules.d /etc/udev/rules.d /run/udev/rules.d 2>/dev/null || true').split()
        l.expect('rules files of the same name', [f for f in ours if f.endswith('.rules') and f.rpartition('/')[2] in rules], [])


@gate
def udevadm_finds_no_mistake_in_our_rules(suite):
    if suite == 'bookworm':
        raise Skip('udevadm verify, which systemd 252 does not have')
    with lab(suite) as l:
        l.run('udevadm verify /usr/lib/udev/rules.d/*rdmad*.rules')


def the_alias_of_rdma_core_stays_beside_ours(suite):
    with lab(suite) as l:
        # rules of others, before all of ours, and before the last of ours and after rdma-core's
        for number, path in ((50, 'early'), (90, 'other')):
            l.vm.put(f'SUBSYSTEM=="infiniband_mad|infiniband_verbs", ENV{{SYSTEMD_ALIAS}}+="/{path}/%k"\n',
                     f'/etc/udev/rules.d/{number}-z-other.rules')
        l.run('udevadm control --reload')
        l.plug(1, 'proto=ib guid=0002c90300000a00')
        name = l.in_slot(1)[0]
        wanted = {f'sys-subsystem-rdma-devices-{name}:1-umad.device', 'rdma-0002c90300000a01-umad.device',
                  'early-uverbs0.device', 'other-umad0.device', 'rdma-0002c90300000a01-uverbs.device', 'other-uverbs0.device',
                  'early-issm0.device', 'other-issm0.device', 'rdma-0002c90300000a01-issm.device'}
        # without --all systemctl hides the units whose names do not begin with "sys-", as they follow those that do
        plugged = 'systemctl list-units --all --plain --no-legend --type=device --state=plugged | cut -d" " -f1'
        l.until('units of all aliases', lambda: wanted <= set(l.run(plugged).split()))
        l.expect_true('links of systemd\'s 60-infiniband.rules', l.run('ls /dev/infiniband/by-ibdev') == f'uverbs-{name}',
                      l.run('ls /dev/infiniband/*'))


def an_alias_that_another_rule_assigns_stays_beside_ours_where_devices_are_named(suite):
    """Between our rule that names and the one that makes links."""
    with lab(suite) as l:
        l.run('/usr/lib/udev/rdma_id --naming enable')
        l.vm.put('SUBSYSTEM=="infiniband_verbs", KERNEL=="uverbs*", ENV{SYSTEMD_ALIAS}="/theirs/%k"\n', '/etc/udev/rules.d/60-other.rules')
        l.run('udevadm control --reload')
        l.plug(1, 'proto=ib guid=0002c90300000a00')
        alias = l.properties('/dev/infiniband/uverbs0')['SYSTEMD_ALIAS']
        l.expect('aliases', set(alias.split()), {'/theirs/uverbs0', '/rdma/0002c90300000a01/uverbs'})
        l.until('unit of our alias', lambda: l.show('rdma-0002c90300000a01-uverbs.device', 'ActiveState') == 'active')


def a_drop_in_counts_for_all_units_by_guid(suite):
    with lab(suite) as l:
        l.counted('watch')
        l.run('mkdir /etc/systemd/system/rdma-.device.d')
        l.vm.put('[Unit]\nWants=watch.service\n', '/etc/systemd/system/rdma-.device.d/50-watch.conf')
        l.run('systemctl daemon-reload')
        l.plug(1, 'proto=ib guid=0002c90300000a00')
        l.until_active('watch')
        l.expect('what wants it', set(l.show('watch', 'WantedBy').split()),
                 {f'rdma-0002c90300000a01-{node}.device' for node in NODES})


def udevd_says_nothing_of_our_rules(suite):
    with lab(suite) as l:
        l.plug(1, 'proto=ib ports=2')
        l.unplug(1)
        words = [line for line in l.run('journalctl -b --no-pager -o cat -u systemd-udevd').splitlines()
                 if 'rdmad' in line or 'rdma_id' in line]
        l.expect('lines in the journal', words, [])
