# SPDX-License-Identifier: LGPL-2.1-or-later
"""Anything at any time: at every quiet point just those services run whose device is there and that nobody stopped, and links and
records are of what is there.

RDMAD_CHAOS_MINUTES says how long (1).
"""
import json
import os
import time

from lab import chance, current, eui64, lab, on

ADAPTERS = 8
SERVICES = 32
MINUTES = float(os.environ.get('RDMAD_CHAOS_MINUTES', '1'))
# of a RoCE port, and so two GUIDs, each with a service
MACS = ('02:00:00:00:00:0a', '02:00:00:00:00:0b')


class _World:
    """What was done, and so what must be."""

    def __init__(self, l, chance):
        self.l, self.chance = l, chance
        self.plugged = set()
        self.stopped = set()    # by an administrator
        self.unbound = set()
        self.is_roce_there = False
        self.mac = 0             # which of MACS the RoCE port has
        self.roce_up = set()     # services of MACS that run: one that is bound to the address of before runs on, tied to nothing
        self.done = {}

    def services(self):
        return range(SERVICES)

    def adapter_of(self, service):
        return service % ADAPTERS + 1

    def guid(self, slot):
        return f'{0x0002c90300000000 + slot * 0x100 + 1:016x}'

    # -- what can happen ------------------------------------------------------------------------

    def plug(self):
        if free := [slot for slot in range(1, ADAPTERS + 1) if slot not in self.plugged]:
            slot = self.chance.choice(free)
            self.l.insert(slot, f'proto=ib guid={0x0002c90300000000 + slot * 0x100:016x} pguid={self.guid(slot)}')
            self.plugged.add(slot)

    def unplug(self):
        if self.plugged:
            slot = self.chance.choice(sorted(self.plugged))
            self.l.until(f'slot {slot} has its device',
                         lambda: self.l.vm.code(f'ls /sys/bus/pci/devices/0000:0{slot}:00.0/infiniband/*/node_guid') == 0)
            self.l.pull(slot)
            self.l.await_pulled(slot, 60)
            self.plugged.remove(slot)

    def kill(self):
        self.l.run('systemctl kill -s KILL rdmad.service || true')

    def freeze(self):
        self.l.run('systemctl kill -s STOP rdmad.service || true')
        for _ in range(self.chance.randrange(1, 4)):
            self.chance.choice([self.plug, self.unplug, self.stop, self.trigger])()
        self.l.run(f'systemctl kill -s {self.chance.choice(["CONT", "KILL"])} rdmad.service || true')

    def trigger(self):
        action = self.chance.choice(['change', 'add', 'bind'])
        self.l.run(f'udevadm trigger --action={action} -s infiniband -s infiniband_verbs -s infiniband_mad')

    def reload(self):
        self.l.run(self.chance.choice(['systemctl daemon-reload', 'systemctl daemon-reexec', 'rdmactl reload',
                                       'systemctl restart rdmad.service']))

    def rename(self):
        self.l.run(f'set -- $(ls /sys/class/infiniband | shuf -n1); [ -z "$1" ] || rdma dev set $1 name n{self.chance.randrange(1 << 30)} || true')

    def module(self):
        """Makes all uverbs nodes anew, by their old names."""
        self.l.run('modprobe -r ib_uverbs && modprobe ib_uverbs || true')

    def unbind(self):
        service = self.chance.choice(self.services())
        if service not in self.unbound:
            self.settle()  # what an unbound service does is not ours to say, so its state must be known
            self.l.run(f'rm /etc/rdmad/binding.d/{service}.binding; rdmactl reload')
            self.unbound.add(service)

    def bind(self):
        if self.unbound:
            service = self.chance.choice(sorted(self.unbound))
            # one that runs without its device would run on: nothing stops it
            if self.adapter_of(service) not in self.plugged and self.l.states(f's{service}') == ['active']:
                return
            self.write(service)
            self.l.run('rdmactl reload')
            self.unbound.remove(service)
            # bound again, it is up to what it was when it was unbound: who stopped it, and whether it ran
            if self.l.states(f's{service}') == ['active']:
                self.stopped.discard(service)
                # an unplug before rdmad has tied what runs stops nothing
                self.l.until(f's{service} is tied', lambda: self.is_tied(service))

    def is_tied(self, service):
        """Whether PID 1 has heard of the adapter that is there now, and so of the end of the one before. Until then an
        administrator's order may meet with the stop of the unplug, and which of the two stopped the unit is for nobody to say."""
        slot = self.adapter_of(service)
        if slot not in self.plugged or service in self.unbound:
            return False
        nodes = self.appearances(f'/sys/bus/pci/devices/0000:0{slot}:00.0/infiniband_verbs')
        anchors = self.l.run(f'systemctl list-units --plain --no-legend --state=active "rdmad-s{service}.service:*:uverbs*.slice" | sed "s/ .*//"')
        return nodes != {} and anchors.split() == [f'rdmad-s{service}.service:{node}.slice' for node in nodes.values()]

    def stop(self):
        service = self.chance.choice(self.services())
        if self.is_tied(service) and self.l.states(f's{service}') == ['active']:
            self.l.run(f'systemctl stop s{service}.service')
            self.stopped.add(service)

    def start(self):
        if self.stopped:
            service = self.chance.choice(sorted(self.stopped))
            if self.is_tied(service):
                self.l.run(f'systemctl start s{service}.service')
                self.stopped.remove(service)

    def roce(self):
        """The RoCE device comes or goes, or gets another address."""
        self.settle()  # what was tied to the address of before must be known
        if not self.is_roce_there:
            self.l.mock('add name=roce proto=roce netdev=net0')
            self.is_roce_there = True
        elif self.chance.random() < 0.3:
            name = self.l.run('basename $(dirname $(grep -slx net0 /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0) '
                              '| sed "s|/ports/.*||")')
            self.l.mock(f'del {name}')
            self.is_roce_there = False
            self.roce_up.discard(self.mac)
        else:
            self.mac = 1 - self.mac
            self.l.run(f'ip link set net0 address {MACS[self.mac]}')
        if self.is_roce_there:
            self.roce_up.add(self.mac)

    # -- what must be ---------------------------------------------------------------------------

    def write(self, service):
        self.l.bind(str(service), f'PortGUID={self.guid(self.adapter_of(service))}', f'Unit=s{service}.service')

    def wanted(self, service):
        return 'active' if self.adapter_of(service) in self.plugged and service not in self.stopped else 'inactive'

    def settle(self):
        """Waits for a quiet point, and judges it."""
        self.l.run('udevadm settle')
        bound = [service for service in self.services() if service not in self.unbound]
        self.l.until_states({f's{service}.service': self.wanted(service) for service in bound} |
                            {f'roce{i}.service': 'active' if i in self.roce_up else 'inactive' for i in range(len(MACS))})
        self.expect_links_and_records()
        self.expect_ties(bound)

    def guids(self):
        """Port GUIDs of what is there."""
        return {self.guid(slot) for slot in self.plugged} | ({eui64(MACS[self.mac])} if self.is_roce_there else set())

    def each_node(self, nodes, words):
        """What the shell makes of words for each node, a list each: $n is its place in sysfs, $device its device, and $guid that of the
        device's port. One that goes meanwhile is left out."""
        out = self.l.run(f'for n in {nodes}; do device=$(cat $n/ibdev) && '
                         'guid=$(cut -d: -f5- /sys/class/infiniband/$device/ports/1/gids/0) || continue; guid=${guid//:}; '
                         f'echo {words}; done 2>/dev/null')
        return [line.split() for line in out.splitlines()]

    def appearances(self, folder='/sys/class/infiniband_verbs'):
        """{port GUID: '7.23456789:uverbs0'}: index of the device, when udev first saw the node, and the node; from kernel and udev."""
        birth = '$(rdma dev show $device | cut -d: -f1).$(udevadm info -q property --property=USEC_INITIALIZED --value $n)'
        return dict(self.each_node(f'{folder}/uverbs*', f'$guid {birth}:${{n##*/}}'))

    def expect_ties(self, bound):
        """Expects just the anchors of the units whose ports are there, to the nodes that are there now, and that rdmad has the same on
        record."""
        ports = {f's{service}.service': self.guid(self.adapter_of(service)) for service in bound if self.adapter_of(service) in self.plugged}
        if self.is_roce_there:
            ports[f'roce{self.mac}.service'] = eui64(MACS[self.mac])
        unbound = {f's{service}.service' for service in self.unbound}
        nodes = self.appearances()
        wanted = {unit: f'rdmad-{unit}:{nodes.get(guid)}.slice' for unit, guid in ports.items()}
        self.l.until('the anchors are of what is there', lambda: self.l.anchors() == set(wanted.values()))
        self.l.until('the records name the anchors',
                     lambda: {unit: anchors for unit, anchors in self.anchors_on_record().items() if anchors and unit not in unbound}
                     == {unit: [anchor] for unit, anchor in wanted.items()})

    def anchors_on_record(self):
        """{unit: the anchors that its record has for ports that did not go}"""
        out = self.l.run('cd /run/rdmad/units && for unit in *; do echo "$unit $(tr -d "\\n" < $unit)"; done')
        records = {unit: json.loads(text) for unit, text in (line.split(' ', 1) for line in out.splitlines())}
        return {unit: [member['anchor'] for member in record['members'] if 'removed' not in member] for unit, record in records.items()}

    def nodes(self):
        """{'GUID/umad': '/dev/infiniband/umad0'}, from sysfs alone."""
        out = self.each_node('/sys/class/infiniband_mad/* /sys/class/infiniband_verbs/*', '$guid ${n##*/}')
        return {f'{guid}/{node.rstrip("0123456789")}': f'/dev/infiniband/{node}' for guid, node in out}

    def expect_links_and_records(self):
        """Expects links and claims of the nodes that there are; a new MAC address is noticed a moment later."""
        self.l.until('the devices have nodes', lambda: {link.split('/')[0] for link in self.nodes()} == self.guids())
        self.l.settle()
        nodes = self.nodes()
        self.l.until('the links lead to the nodes', lambda: self.l.port_links() == nodes)
        self.l.expect('claims', self.l.run('ls /run/rdmad/claims').split(), sorted(f'port-{link.replace("/", "-")}' for link in nodes))
        self.l.expect('links that two claim', self.l.run('find /run/rdmad/contested -mindepth 1 2>/dev/null', check=False), '')
        # the RoCE port never is: it has no address but a link-local one
        ready = {self.guid(slot) for slot in self.plugged}
        self.l.until('those ports are ready that are there', lambda: set(self.l.run('ls /run/rdmad/ready').split()) == ready)
        # a unit that waits for its device has on record when that went
        known = "rdma dev | cut -d: -f1; grep -ho '\"index\": [0-9]*' /run/rdmad/units/* | tr -dc '0-9\\n'"
        self.l.until('marks are of devices that are there or that units wait for',
                     lambda: set(self.l.run('ls /run/rdmad/bound').split()) <= set(self.l.run(known, check=False).split()))

    def step(self, with_deaths=True):
        """with_deaths: of rdmad."""
        weights = {self.plug: 8, self.unplug: 6, self.trigger: 2, self.rename: 2, self.unbind: 1, self.bind: 2, self.stop: 3,
                   self.start: 3, self.roce: 2, self.module: 1}
        if with_deaths:
            weights |= {self.kill: 2, self.freeze: 2, self.reload: 2}
        action = self.chance.choices(list(weights), list(weights.values()))[0]
        self.done[action.__name__] = self.done.get(action.__name__, 0) + 1
        action()


def _footprint(l):
    """Process of rdmad, its memory in kB and its descriptors."""
    pid = l.show('rdmad', 'MainPID')
    return pid, int(l.run(f'grep VmRSS /proc/{pid}/status').split()[1]), int(l.run(f'ls /proc/{pid}/fd | wc -l'))


def _expect_no_growth(l, world):
    """Lets one process of rdmad live through many events, and compares what it has at two quiet points."""
    l.run('systemctl restart rdmad.service')
    footprints = []
    # the first round fills what is kept for good
    for _ in range(2):
        for _ in range(min(10, max(3, int(MINUTES)))):
            for _ in range(10):
                world.step(with_deaths=False)
            world.settle()
        # the same devices and services each time
        while len(world.plugged) < ADAPTERS:
            world.plug()
        world.settle()
        l.run('sleep 5')
        footprints.append(_footprint(l))
    (pid, memory, descriptors), (last_pid, last_memory, last_descriptors) = footprints
    l.expect('the process', last_pid, pid)
    l.expect('descriptors', last_descriptors, descriptors)
    l.expect_true('its memory does not grow', last_memory < memory + 512, footprints)
    return footprints


@on('trixie')
def whatever_happens_just_those_services_run_whose_device_is_there_and_that_nobody_stopped(suite):
    with lab(suite) as l:
        world = _World(l, chance())
        for service in world.services():
            l.counted(f's{service}', '/bin/sleep 2' if service % 5 == 0 else '')
            world.write(service)
        # made with its address: else udev gives it one (MACAddressPolicy=), maybe after us
        l.run(f'ip link add net0 address {MACS[0]} type dummy; ip link set net0 up')
        for i, mac in enumerate(MACS):
            l.counted(f'roce{i}')
            l.bind(f'roce{i}', f'PortGUID={eui64(mac)}', f'Unit=roce{i}.service')
        l.reload_bindings()
        for _ in range(ADAPTERS):
            world.plug()
        world.settle()
        l.run('systemctl restart rdmad.service; sleep 3')
        before, quiet = time.monotonic(), 0
        try:
            while time.monotonic() - before < MINUTES * 60:
                for _ in range(world.chance.randrange(3, 12)):
                    world.step()
                world.settle()
                quiet += 1
            footprints = _expect_no_growth(l, world)
        except Exception as error:
            error.add_note(f'{quiet} quiet points, {world.done}')
            raise
        return [f'seed {current.seed}: {MINUTES:.0f} minutes, {sum(world.done.values())} events, {quiet} quiet points, {world.done}',
                f'rdmad: process, kB and descriptors {footprints[0]} to {footprints[1]}']
