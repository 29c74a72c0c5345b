# SPDX-License-Identifier: LGPL-2.1-or-later
"""An earlier rdmad becomes this one, with services running and its records in /run/rdmad.

RDMAD_UPGRADE_FROM says which commit is the earlier one; a checkout without history does not have any.
"""
import os

import package
from lab import lab, on

A, B, C = '0002c90300000a01', '0002c90300000b01', '0002c90300000c01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'
OTHER = f'proto=ib guid=0002c90300000b00 pguid={B}'
# the records, anchors and notes of that are as those of today but for what tells a node from one that is made anew
EARLIER = os.environ.get('RDMAD_UPGRADE_FROM', '2d56d9e')
SERVICES = ('one', 'any', 'stopped', 'away', 'port@0002c90300000b01')


def _bound(l):
    for name in ('one', 'any', 'stopped', 'away'):
        l.counted(name)
    l.vm.put('[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStartPre=/bin/sh -c "echo >> /run/starts-port@%i"\n'
             'ExecStart=/bin/sleep infinity\n', '/etc/systemd/system/port@.service')
    l.bind('50-one', f'PortGUID={A}', 'Unit=one.service stopped.service')
    l.bind('50-any', f'PortGUID={A} {B}', 'Unit=any.service\nRequire=any')
    l.bind('50-away', f'PortGUID={C}', 'Unit=away.service')
    l.bind('50-port', f'PortGUID={B}', 'Unit=port@%g.service')
    l.reload_bindings()
    l.plug(1, ADAPTER)
    l.plug(2, OTHER)
    l.plug(3, f'proto=ib guid=0002c90300000c00 pguid={C}')
    l.until_states({f'{name}.service': 'active' for name in SERVICES})
    l.run('systemctl stop stopped.service')
    l.unplug(3)
    l.until_states({'away.service': 'inactive', 'stopped.service': 'inactive'})
    l.until('all are tied', lambda: len(l.anchors()) == 6)


def _seen(l):
    running = [name for name, state in zip(SERVICES, l.states(*SERVICES)) if state == 'active']
    return {name: (l.pid(name), l.starts(name)) for name in running}


def _follow_their_ports(l):
    """Those that ran stop with their ports and start with them; the one that somebody stopped does not."""
    l.unplug(1)
    l.until_states({'one.service': 'inactive', 'any.service': 'active'})
    l.unplug(2)
    l.until_states({'any.service': 'inactive', f'port@{B}.service': 'inactive'})
    l.until('no anchor without ports', lambda: l.anchors() == set())
    for slot, options in ((1, ADAPTER), (2, OTHER), (3, f'proto=ib guid=0002c90300000c00 pguid={C}')):
        l.plug(slot, options)
    l.until_states({f'{name}.service': 'inactive' if name == 'stopped' else 'active' for name in SERVICES})
    l.until('anchors of all ports', lambda: len(l.anchors()) == 7)


@on('trixie')
def services_run_on_over_an_upgrade_and_follow_their_ports_after_it(suite):
    earlier = package.resolve(EARLIER)
    with lab(suite, commit=earlier) as l:
        _bound(l)
        before = _seen(l)
        l.expect('services that run', sorted(before), sorted(set(SERVICES) - {'stopped', 'away'}))
        # the group of "any" keeps its name
        old = {anchor for anchor in l.anchors() if ':any:' not in anchor}
        package.upgrade(l.vm, earlier)
        l.until('all are tied anew', lambda: len(l.anchors()) == 6 and not old & l.anchors())
        l.stays('processes and starts', lambda: _seen(l), before, 3)
        l.expect_true('no record is refused', ': taken as none' not in l.journal('-b -t rdmad'))
        _follow_their_ports(l)


@on('trixie')
def what_happens_while_rdmad_is_replaced_is_made_up_for(suite):
    earlier = package.resolve(EARLIER)
    with lab(suite, commit=earlier) as l:
        _bound(l)
        l.run('systemctl stop rdmad.socket rdmad.service')
        l.unplug(1)
        l.until_states({'one.service': 'inactive', 'any.service': 'active'})
        package.upgrade(l.vm, earlier)
        l.run('rdmactl list')
        l.plug(1, ADAPTER)
        l.until_states({'one.service': 'active', 'stopped.service': 'inactive'})
        l.until('all are tied', lambda: len(l.anchors()) == 6)
        _follow_their_ports(l)
