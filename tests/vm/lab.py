# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a scenario works with: a machine with rdmad installed, slots to plug adapters into, and what can be seen of them."""
import contextlib
import functools
import random
import re
import threading
import time

import machine
import package
from machine import Skip  # noqa: F401, for scenarios

# the run of a scenario that this thread executes: its seed
current = threading.local()

# how many seconds a test waits for what must come: far more than a passing one needs, on a busy machine as well
DEADLINE = 180
# and how many seconds pass between two looks at most
LONGEST_PAUSE = 0.3

# rdma_mock is an adapter whose driver rdma-core's rules do not know
MOCK = 'modprobe -a ib_umad ib_uverbs; modprobe rdma_mock; udevadm settle'
NODES = ('uverbs', 'umad', 'issm')


# adapters that are there at boot: alone, as two functions, and one that the firmware numbers 3
BOARD = ('-device', 'edu,id=single,addr=0x5',
         '-device', 'edu,id=first,addr=0x6.0,multifunction=on', '-device', 'edu,id=second,addr=0x6.1',
         '-device', 'edu,id=onboard,addr=0x7',
         '-smbios', 'type=41,designation=onboard,instance=3,kind=ethernet,pcidev=onboard')


class Failure(Exception):
    """What was expected, and what was seen instead."""


def on(*suites):
    """Marks a scenario about our own policy, which no other kernel, udev or systemd changes: where no suite is asked for, it runs on
    these alone."""
    def mark(function):
        function.suites = suites
        return function
    return mark


def gate(function):
    """Marks a scenario as one of the short list that tests/all runs, after --repeat 10 passed."""
    function.is_in_gate = True
    return function


def chance():
    """Returns the source of what is random in a scenario; --seed gives the same again."""
    return random.Random(current.seed)


def pauses():
    """Yields how long to wait between two looks, longer each time: a look runs a program or two in the machine, and takes the
    processor from what is looked for, and from other machines."""
    pause = 0.01
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


class Lab:
    def __init__(self, vm):
        self.vm = vm
        self.suite = vm.suite
        self.figures = []

    # -- hardware -------------------------------------------------------------------------------

    def mock(self, command):
        self.vm.run(f'echo "{command}" > /dev/rdma_mock')

    def plug(self, slot, options):
        """An adapter into slot 1 to 8, over PCI; options as in tests/kmod/rdma_mock.c. Waits until udev is done with it."""
        self.insert(slot, options)
        # the driver lists it once the kernel has sent the event of the device, which comes after those of its nodes
        self.until(f'slot {slot} has an RDMA device', lambda: self.vm.code(f'grep -q " 0000:0{slot}:00.0$" /dev/rdma_mock') == 0)
        self.settle()

    def unplug(self, slot, timeout=DEADLINE):
        """Seconds that it took."""
        start = time.monotonic()
        self.pull(slot)
        self.await_pulled(slot, timeout)
        took = time.monotonic() - start
        self.settle()
        return took

    def insert(self, slot, options):
        """As plug(), and waits for nothing."""
        self.mock(f'pci 0000:0{slot}:00.0 {options}')
        self.vm.qmp('device_add', driver='edu', bus=f'rp{slot}', id=f'slot{slot}')

    def pull(self, slot):
        """Begins what unplug() does, and waits for nothing."""
        self.vm.qmp('device_del', id=f'slot{slot}')

    def await_pulled(self, slot, timeout=DEADLINE):
        """Waits until the kernel has let go of the adapter, and not for udev."""
        self.vm.wait_event('DEVICE_DELETED', timeout, device=f'slot{slot}')

    def set_mac(self, device, netdev, mac, ip='ip'):
        """Gives the network device of a RoCE port another MAC address, waits until the port has the GUID of that, and returns it."""
        guid = eui64(mac)
        self.run(f'{ip} link set {netdev} address {mac}')
        self.until(f'{device} has the GUID {guid}', lambda: self.port_guid(device) == guid)
        return guid

    def settle(self):
        self.vm.run('udevadm settle')

    def node_events(self):
        """Has udev look at all nodes again, and not at their devices."""
        self.vm.run('udevadm trigger --settle -s infiniband_mad -s infiniband_verbs')

    # -- what can be seen -----------------------------------------------------------------------

    def run(self, script, **options):
        return self.vm.run(script, **options).strip()

    def devices(self):
        return self.run('ls /sys/class/infiniband').split()

    def in_slot(self, slot, kind='infiniband'):
        """Names of what hangs on the adapter in a slot: infiniband, infiniband_mad, infiniband_verbs."""
        return self.run(f'ls /sys/bus/pci/devices/0000:0{slot}:00.0/{kind} 2>/dev/null || true').split()

    def port_guid(self, device, port=1):
        """Zeroes as long as it has none."""
        return self.run(f'cut -d: -f5- /sys/class/infiniband/{device}/ports/{port}/gids/0 | tr -d :')

    def port_links(self):
        """{'GUID/umad': '/dev/infiniband/umad0'} for all that exist."""
        return self._links('by-port-guid')

    def node_links(self):
        return self._links('by-node-guid')

    def _links(self, kind):
        out = self.run(f'cd /dev/infiniband/{kind} 2>/dev/null && for l in */*; do '
                       'p=$(realpath -e $l 2>/dev/null) && echo "$l $p"; done || true')
        return dict(line.split() for line in out.splitlines())

    def nodes_of(self, device):
        """{(port, 'umad'): '/dev/infiniband/umad0'}, from sysfs alone. uverbs has port 0."""
        out = self.run('for n in /sys/class/infiniband_mad/* /sys/class/infiniband_verbs/*; do [ -e $n/ibdev ] || continue; '
                       'echo "$(basename $n) $(cat $n/ibdev) $(cat $n/port 2>/dev/null || echo 0)"; done')
        found = {}
        for name, owner, port in (line.split() for line in out.splitlines()):
            if owner == device:
                found[int(port), re.sub(r'\d+$', '', name)] = f'/dev/infiniband/{name}'
        return found

    def properties(self, path):
        out = self.run(f'udevadm info -q property {path}')
        return dict(line.split('=', 1) for line in out.splitlines())

    def device_units(self):
        """Names of the device units of RDMA that are plugged."""
        # without --all it hides the names of a device that do not begin with "sys-"
        out = self.run('systemctl list-units --all --plain --no-legend --type=device --state=plugged')
        return {line.split()[0] for line in out.splitlines() if re.search('infiniband|rdma', line.split()[0])}

    def leftovers(self):
        """What a removed device may not leave behind. Udev 252 keeps a directory with a lock for every
        link that ever was."""
        return self.run('find /dev/infiniband -mindepth 1 ! -name rdma_cm ! -type d 2>/dev/null; '
                        'find /run/udev/links/*infiniband* -mindepth 1 ! -name .lock 2>/dev/null; '
                        'find /run/udev/data /run/udev/tags -name "*infiniband*" -o -name "c231:*"; '
                        'find /run/rdmad/claims /run/rdmad/contested /run/rdmad/names -mindepth 1 2>/dev/null; true').split('\n')

    def journal(self, since='-b'):
        return self.run(f'journalctl {since} --no-pager -o cat')

    def start_monitor(self, options):
        """Starts `udevadm monitor` of kernel events, waits until it listens, and returns what end_monitor() takes."""
        token = self.vm.start(f'exec udevadm monitor --kernel {options}')
        # protocol 15 is NETLINK_KOBJECT_UEVENT; the port ID of a process's first socket is its PID
        self.until('udevadm monitor listens', lambda: self.vm.code(
            'awk -v pid="$(pgrep -nx udevadm)" \'$2 == 15 && $3 == pid { found = 1 } END { exit !found }\' /proc/net/netlink') == 0)
        return token

    def end_monitor(self, token):
        """Ends it and returns what it printed."""
        self.vm.kill(token)
        return self.vm.finish(token)[1]

    # -- services -------------------------------------------------------------------------------

    def service(self, name, unit, command='/bin/sleep infinity'):
        """A service with only BindsTo= and After= a device unit, enabled by WantedBy= it."""
        self.vm.concerned.add(name)
        self.vm.put(f'[Unit]\nBindsTo={unit}\nAfter={unit}\n[Service]\nExecStart={command}\n[Install]\nWantedBy={unit}\n',
                    f'/etc/systemd/system/{name}.service')
        self.run(f'systemctl daemon-reload; systemctl enable -q {name}.service 2>&1')

    def counted(self, name, stop=''):
        """A service that nothing ties to a device, and that counts its starts, of which systemd allows any number."""
        self.vm.concerned.add(name)
        stop = f'ExecStop={stop}\n' if stop else ''
        self.vm.put('[Unit]\nStartLimitIntervalSec=0\n'
                    f'[Service]\nExecStartPre=/bin/sh -c "echo >> /run/starts-{name}"\nExecStart=/bin/sleep infinity\n{stop}',
                    f'/etc/systemd/system/{name}.service')

    def starts(self, name):
        return int(self.run(f'cat /run/starts-{name} 2>/dev/null | wc -l'))

    def bind(self, name, match, binding):
        """A binding file of rdmad, read at the next reload_bindings()."""
        self.run('mkdir -p /etc/rdmad/binding.d')
        self.vm.put(f'[Match]\n{match}\n[Binding]\n{binding}\n', f'/etc/rdmad/binding.d/{name}.binding')

    def reload_bindings(self):
        """Tells rdmad, if it runs; if not, it reads them when it starts."""
        self.run('systemctl daemon-reload; systemctl try-reload-or-restart rdmad.service; systemctl start rdmad.socket')

    def anchors(self):
        """The slices that tie units to nodes; not those that keep PID 1 from forgetting units."""
        return set(name for name in self.run('systemctl list-units --plain --no-legend "rdmad-*.slice" | cut -d" " -f1').split()
                   if not name.endswith(':bound.slice'))

    def show(self, unit, property):
        return self.run(f'systemctl show --value -p {property} "{unit}"')

    def pid(self, service):
        return int(self.show(service, 'MainPID'))

    def until(self, what, predicate, timeout=DEADLINE):
        """Waits until the predicate holds; the failure says what was waited for."""
        end = time.monotonic() + timeout
        for pause in pauses():
            if value := predicate():
                return value
            if time.monotonic() > end:
                raise Failure(f'not within {timeout} s: {what}')
            time.sleep(pause)

    def until_active(self, service, timeout=DEADLINE):
        self.until(f'{service} is active', lambda: self.show(service, 'ActiveState') == 'active', timeout)

    def states(self, *services):
        """ActiveState of each; none where PID 1 has so much to do that it does not answer."""
        return self.run('systemctl show --value -p ActiveState ' + ' '.join(services) + ' 2>/dev/null', check=False).split()

    def until_states(self, states, timeout=DEADLINE):
        """Waits until each of {service: ActiveState} holds, and none has a job."""
        def holds():
            jobs = self.run('systemctl list-jobs --no-legend --full')
            return self.states(*states) == list(states.values()) and not any(service in jobs for service in states)
        try:
            self.until('', holds, timeout)
        except Failure:
            seen = dict(zip(states, self.states(*states)))
            wrong = [service for service in states if seen.get(service) != states[service]]
            raise Failure(f'states of services, wanted {sorted(set(states.values()))}; wrong: {wrong}\n' + self.story_of(wrong[0]) if wrong
                          else 'services have jobs that do not end')

    def story_of(self, service):
        """All that can be known of how it came to where it is."""
        return self.run(f'systemctl list-jobs --no-legend; rdmactl status {service}; cat /run/rdmad/units/{service}; '
                        f'systemctl show {service} | grep Monotonic=; '
                        'for i in /run/rdmad/bound/*/*; do echo $i $(readlink $i); done; '
                        f'journalctl -b --no-pager -o short-monotonic -u rdmad -u {service} | tail -60', check=False)

    def until_inactive(self, service, timeout=DEADLINE):
        self.until(f'{service} is inactive', lambda: self.show(service, 'ActiveState') in ('inactive', 'failed'), timeout)

    # -- judging --------------------------------------------------------------------------------

    def expect(self, what, seen, wanted):
        if seen != wanted:
            raise Failure(f'{what}\n    wanted: {wanted}\n    seen:   {seen}')

    def expect_true(self, what, holds, seen=''):
        if not holds:
            raise Failure(f'{what}\n    seen: {seen}')

    def stays(self, what, look, wanted, seconds):
        """Fails as soon as look() is anything else than wanted, within that many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.expect(what, look(), wanted)
            time.sleep(LONGEST_PAUSE)

    def note(self, text):
        """A figure for the report."""
        self.figures.append(text)


@contextlib.contextmanager
def lab(suite, rdmad=True, setup=MOCK, commit='', **options):
    """A restored machine; rdmad=False is what a distribution ships alone, commit an earlier rdmad."""
    then = (package.digest(suite, commit), functools.partial(_furnish, commit=commit)) if rdmad else None
    with machine.restore(suite, setup=setup, then=then, **options) as vm:
        yield Lab(vm)


def _furnish(vm, commit):
    # scenarios plug far more often than an administrator would
    vm.run('mkdir -p /etc/rdmad')
    vm.put('[Lifecycle]\nFlapLimit=0\n', '/etc/rdmad/rdmad.conf')
    package.install(vm, commit=commit)


def guid(number):
    """A port GUID as properties and links have it."""
    return f'{number:016x}'


def eui64(mac):
    """The GUID that the kernel makes of a MAC address for a RoCE port (addrconf_ifid_eui48(), include/net/addrconf.h)."""
    digits = mac.replace(':', '')
    return f'{int(digits[:2], 16) ^ 2:02x}{digits[2:6]}fffe{digits[6:]}'
