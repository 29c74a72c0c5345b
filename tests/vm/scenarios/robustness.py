# SPDX-License-Identifier: LGPL-2.1-or-later
"""A failed look-up never stops a service."""
from lab import gate, lab, NODES, on

A = '0002c90300000a01'
ADAPTER = f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}'
TRIGGER = 'udevadm trigger --settle -s infiniband -s infiniband_mad -s infiniband_verbs'


def _bound(lab):
    for node in NODES:
        lab.service(f'bound-{node}', f'rdma-{A}-{node}.device')
    lab.plug(1, ADAPTER)
    for node in NODES:
        lab.until_active(f'bound-{node}')


def _state(lab):
    return ({node: lab.pid(f'bound-{node}') for node in NODES}, lab.port_links(), lab.device_units())


@on('trixie')
def services_outlive_trigger_reload_and_reexec(suite):
    with lab(suite) as l:
        _bound(l)
        before = _state(l)
        for action in ('change', 'add', 'bind'):
            l.run(f'{TRIGGER} --action={action}')
            l.expect(f'after udevadm trigger --action={action}', _state(l), before)
        l.run('udevadm trigger --settle')
        l.expect('after udevadm trigger of all', _state(l), before)
        l.run('systemctl daemon-reload')
        l.expect('after daemon-reload', _state(l), before)
        l.run('systemctl daemon-reexec; systemctl is-system-running --wait || true')
        l.expect('after daemon-reexec', _state(l), before)
        l.run('systemctl restart systemd-udevd; udevadm trigger --settle; systemctl daemon-reload')
        l.expect('after a restart of udevd', _state(l), before)


@gate
@on('trixie')
def services_outlive_a_helper_that_is_missing_or_fails_or_is_killed(suite):
    with lab(suite) as l:
        _bound(l)
        before = _state(l)
        helper = l.run('ls /usr/lib/udev/rdma_id')
        l.run(f'mv {helper} {helper}.real')
        broken = {
            'missing': f'rm -f {helper}',
            'not executable': f'touch {helper}; chmod 644 {helper}',
            'failing': f"rm {helper}; printf '#!/bin/sh\\necho ID_RDMA_DEVLINKS=\\nexit 3\\n' > {helper}; chmod 755 {helper}",
            'killed': f"printf '#!/bin/sh\\nkill -9 $$\\n' > {helper}",
            'silent about everything': f"printf '#!/bin/sh\\nexit 1\\n' > {helper}",
        }
        for how, script in broken.items():
            l.run(script)
            for action in ('change', 'add', 'move'):
                l.run(f'{TRIGGER} --action={action}')
                l.expect(f'helper {how}, after {action}', _state(l), before)
        properties = l.properties('/dev/infiniband/umad0')
        l.expect('properties of the last good event', (properties['ID_RDMA_PORT_GUID'], properties['ID_RDMA_LINK_TYPE']),
                 (A, 'infiniband'))
        flags = l.properties(f'/sys/class/infiniband/{l.in_slot(1)[0]}')
        l.expect('the link type that the kernel had told', flags.get('ID_RDMA_INFINIBAND'), '1')
        l.run(f'mv {helper}.real {helper}; {TRIGGER}')
        l.expect('with the helper back', _state(l), before)


@on('trixie')
def a_renaming_race_never_loses_a_link(suite):
    """Twenty hot plugs, each with rdma-core renaming in parallel: helpers that go by name lose a link in one of ten."""
    with lab(suite) as l:
        for turn in range(20):
            l.plug(1, ADAPTER)
            l.expect(f'links after plug {turn + 1}', sorted(l.port_links()),
                     sorted(f'{guid}/{node}' for guid in (A, '0002c90300000a02') for node in NODES))
            l.unplug(1)


@on('trixie')
def wrong_hints_and_claims_are_seen_through(suite):
    with lab(suite) as l:
        l.run('mkdir -p /run/rdmad/claims; head -c 200000 /dev/urandom > /run/rdmad/index-hints; '
              f'ln -s "99 1 umad0" /run/rdmad/claims/port-{A}-umad; ln -s "../../../etc/passwd" /run/rdmad/claims/port-{A}-issm; '
              f'ln -s "0 1 uverbs0" /run/rdmad/claims/port-{A}-uverbs')
        l.plug(1, ADAPTER)
        l.expect('links', sorted(link for link in l.port_links() if link.startswith(A)), sorted(f'{A}/{n}' for n in NODES))


def a_run_directory_that_cannot_be_written_costs_no_link(suite):
    clone = f'proto=ib guid=0002c90300000b00 pguid={A}'
    with lab(suite) as l:
        l.run('systemctl mask -q --runtime --now rdmad.service rdmad.socket 2>&1; mkdir -p /run/rdmad')
        for how, options in (('read-only', 'ro'), ('full', 'size=4k,nr_inodes=1')):
            l.run(f'mount -t tmpfs -o {options} none /run/rdmad')
            l.plug(1, ADAPTER)
            name, = l.in_slot(1)
            l.expect(f'links on a {how} one', l.port_links(), {f'{guid}/{node}': path for (port, node), path in l.nodes_of(name).items()
                     for number, guid in ((1, A), (2, '0002c90300000a02')) if port in (0, number)})
            l.expect(f'node GUID on a {how} one', l.properties('/dev/infiniband/uverbs0').get('ID_RDMA_NODE_GUID'), '0002c90300000a00')
            l.expect_true('it is told', 'makes links without a record' in l.journal())
            l.run('umount /run/rdmad')
            # and with a record of who came first
            l.plug(2, clone)
            l.expect('clones', len(l.in_slot(2)), 1)
            l.run(TRIGGER)
            owner = l.port_links()[f'{A}/uverbs']
            l.expect(f'owner after a {how} one', owner, l.nodes_of(name)[0, 'uverbs'])
            l.unplug(2)
            l.unplug(1)
            l.run('rm -rf /run/rdmad/*')


@on('trixie')
def a_node_whose_first_event_failed_gets_its_links_with_the_next_one_of_its_device(suite):
    with lab(suite) as l:
        helper = l.run('ls /usr/lib/udev/rdma_id')
        l.run(f'mv {helper} {helper}.away')
        l.plug(1, ADAPTER)
        l.expect('links without the helper', l.port_links(), {})
        l.run(f'mv {helper}.away {helper}; udevadm trigger --settle --action=add -s infiniband; udevadm settle')
        l.expect('links', sorted(link for link in l.port_links() if link.startswith(A)), sorted(f'{A}/{n}' for n in NODES))
        # and what is right is left alone
        token = l.start_monitor('--subsystem-match=infiniband_mad --subsystem-match=infiniband_verbs')
        l.run('udevadm trigger --settle --action=add -s infiniband; udevadm settle')
        l.expect('further events of nodes', [line for line in l.end_monitor(token).splitlines() if 'KERNEL[' in line], [])


@on('trixie')
def an_event_that_keeps_the_locks_holds_up_no_other_device(suite):
    """As that of an adapter that does not answer."""
    with lab(suite) as l:
        l.run('mkdir -p /etc/rdmad/link.d /run/rdmad; printf "[Match]\\nOriginalName=*\\n[Link]\\nName=storage\\n" > /etc/rdmad/link.d/10-all.link; '
              '/usr/lib/udev/rdma_id --naming enable')
        for name in ('names.lock', 'lock'):
            l.vm.start(f'flock /run/rdmad/{name} sleep infinity')
        l.until('both locks are held', lambda: not l.run('for f in names.lock lock; do flock -n /run/rdmad/$f echo $f; done', check=False))
        l.plug(1, ADAPTER)
        name, = l.in_slot(1)
        l.expect('name', name, 'storage')
        l.expect('links', sorted(link for link in l.port_links() if link.startswith(A)), sorted(f'{A}/{n}' for n in NODES))
        l.expect_true('it is told', 'rdmad does not swap names without it' in l.journal())
        # nor keeps links from changing hands
        l.plug(2, f'proto=ib guid=0002c90300000b00 pguid={A}')
        heir, = l.in_slot(2)
        l.expect('the second one has no link', [path for path in l.port_links().values() if path in l.nodes_of(heir).values()], [])
        l.unplug(1)
        l.settle()
        l.expect('links of the second one', l.port_links(), {f'{A}/{node}': path for (_, node), path in l.nodes_of(heir).items()})


@on('trixie')
def a_failed_event_of_a_rename_takes_no_link_from_the_device_that_had_the_name(suite):
    with lab(suite) as l:
        l.plug(1, ADAPTER)
        l.plug(2, 'proto=ib ports=1 guid=0002c90300000b00 pguid=0002c90300000b01')
        one, two = l.in_slot(1)[0], l.in_slot(2)[0]
        claims = l.run(f'cd /run/rdmad/claims; ls -l *{A}* | cut -d" " -f9-').splitlines()
        l.expect('owners', len(claims), len(NODES))
        helper = l.run('ls /usr/lib/udev/rdma_id')
        l.run(f'mv {helper} {helper}.away; rdma dev set {one} name swap; rdma dev set {two} name {one}; udevadm settle; '
              f'mv {helper}.away {helper}')
        l.expect('index that udev has of the renamed device', l.properties(f'/sys/class/infiniband/{one}').get('ID_RDMA_INDEX'), None)
        l.unplug(2)
        l.expect('owners', l.run(f'cd /run/rdmad/claims; ls -l *{A}* | cut -d" " -f9-').splitlines(), claims)
        l.expect('links', sorted(link for link in l.port_links() if link.startswith(A)), sorted(f'{A}/{n}' for n in NODES))
