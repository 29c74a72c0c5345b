# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs that many devices appear at once: for tests/bench/rdma_id and tests/bench/naming."""
import collections

# each device takes MAD buffers; small ones let a thousand devices fit
# ib_ipoib: stock rules do not know the mock's driver and would leave it out; with a driver they know they load it, as ours do
MODULES = ('modprobe ib_core recv_queue_size=64 send_queue_size=64; modprobe -a ib_umad ib_uverbs ib_ipoib rdma_ucm; '
           'modprobe rdma_mock; udevadm settle')
# its rule runs systemctl for each umad node, a third of what stock rules cost
NO_SRPTOOLS = 'ln -sf /dev/null /etc/udev/rules.d/60-srp_daemon.rules; udevadm control --reload'

# PID 1 has more to do after udev has settled
SCRIPT = '''
up() { cut -d" " -f1 /proc/uptime; }
manager() { awk '{ print ($14 + $15) * 10000 }' /proc/1/stat; }
udevd() { awk '$1 == "usage_usec" { print $2 }' /sys/fs/cgroup/system.slice/systemd-udevd.service/cpu.stat; }
start=$(up); manager=$(manager); udevd=$(udevd)
echo "add proto=ib count=%d" > /dev/rdma_mock
udevadm settle -t 900
settled=$(up)
last=; while now=$(manager); [ "$now" != "$last" ]; do last=$now; sleep 1; done
echo $start $settled $manager $(manager) $udevd $(udevd)
'''

Cost = collections.namedtuple('Cost', 'seconds manager udevd')
HEADINGS = ('settled', 'PID 1', 'udevd')


def appear(machine, count):
    """Returns the seconds until udevadm settle ends, and those of CPU time of PID 1 and of udevd with its programs."""
    start, settled, manager, manager_after, udevd, udevd_after = map(float, machine.run(SCRIPT % count, timeout=1800).split())
    return Cost(settled - start, (manager_after - manager) / 1e6, (udevd_after - udevd) / 1e6)


def ratios(ours, stock):
    return [our / other if other else float('nan') for our, other in zip(ours, stock)]
