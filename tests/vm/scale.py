# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many devices at once, each with a service: what rdmad takes for them."""
import dataclasses
import os
import time

from lab import Failure

RUNNING = 'systemctl list-units --plain --no-legend --state=active "dev@*.service" | wc -l'
PROC = '/proc/$(systemctl show --value -p MainPID rdmad)'


@dataclasses.dataclass
class Figures:
    count: int
    start_ms: float      # for each device: from its appearance to the service that runs and is tied
    processor_ms: float  # of rdmad, for each
    memory_kb: int
    wakes: int           # in 60 s in which nothing happens

    def __str__(self):
        return (f'{self.count} devices and services: {self.memory_kb} kB, {self.wakes} wake-ups in 60 s; for each {self.start_ms:.0f} ms until '
                f'they run, and {self.processor_ms:.1f} ms of processor time of rdmad')


def plug(l, count):
    """Plugs so many devices in, and waits until a service runs with each; seconds."""
    l.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/dev@.service')
    l.bind('50-all', 'Device=*', 'Unit=dev@%d.service')
    l.reload_bindings()
    l.mock(f'add proto=ib count={count}')
    begin = time.monotonic()
    l.run('udevadm settle -t 1800', timeout=1900)
    try:
        l.until('all run', lambda: l.run(RUNNING, check=False) == str(count), timeout=max(300, 10 * count))
    except Failure as failure:
        missing = l.run('rdmactl status | sed -n "/dev@.*running/d; s/^ *\\(dev@[^ ]*\\).*/\\1/p"', check=False).split()
        raise Failure(f'{failure}\n{missing}\n' + l.story_of(missing[0] if missing else 'dev@mock0.service')) from failure
    l.until('all are tied', lambda: len(l.anchors()) == count)
    return time.monotonic() - begin


def measure(l, count):
    """Plugs so many devices in, and pulls them out."""
    took = plug(l, count)
    memory = int(l.run(f'grep VmRSS {PROC}/status').split()[1])
    ticks = l.run(f'cut -d" " -f14,15 {PROC}/stat').split()
    processor = sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK')
    l.run('sleep 20')
    wakes = f'grep ^voluntary {PROC}/status | cut -f2'
    before = int(l.run(wakes))
    l.run('sleep 60')
    woken = int(l.run(wakes)) - before
    l.mock('del all')
    l.run('udevadm settle -t 1800', timeout=1900)
    l.until('all stopped', lambda: l.run(RUNNING, check=False) == '0', timeout=900)
    l.until('nothing is left over', lambda: l.anchors() == set())
    return Figures(count, 1000 * took / count, 1000 * processor / count, memory, woken)
