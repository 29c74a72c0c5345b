# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/demo [--suite SUITE] | --host: what rdmad does, shown.

Builds and installs rdmad into a virtual machine with a distribution's own kernel, systemd, udev and rdma-core, plugs adapters
into it over PCI, and prints the links, properties and units as they come and go. Installs the packages that it needs; the first
run makes the image, which takes some minutes. Needs root on Debian 12 or 13.

--host builds rdma_id in a temporary folder and shows the RDMA devices of this very machine. It changes and installs nothing.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f'{HERE}/vm')

A = '0002c90300000a01'
START = time.monotonic()
NAMES = {'bookworm': 'Debian 12', 'trixie': 'Debian 13', 'sid': 'Debian sid'}


def say(text):
    print(f'[{time.monotonic() - START:6.1f} s] {text}', flush=True)


def show(text):
    for line in text.splitlines():
        print(f'             {line}', flush=True)


def show_links(lab):
    links = lab.port_links()
    show('\n'.join(f'/dev/infiniband/by-port-guid/{link} -> {node}' for link, node in sorted(links.items())) or 'no links')


def show_units(lab):
    units = sorted(u for u in lab.device_units() if u.startswith('rdma-'))
    show('\n'.join(units) or 'no device units')


def show_service(lab):
    show(f'fabric.service is {lab.show("fabric", "ActiveState")}')


def show_command(lab, command):
    show(f'# {command}')
    show(lab.run(command, check=False))


def show_properties(lab, slot):
    device = lab.in_slot(slot)[0]
    properties = lab.properties(f'/sys/class/infiniband/{device}')
    show('\n'.join(f'{key}={value}' for key, value in properties.items() if key.startswith('ID_RDMA')))
    show(f'modules and services for it: {properties.get("SYSTEMD_WANTS", "none")}')


def plug(lab, slot, what, options):
    say(f'plugging {what} into slot {slot}')
    lab.plug(slot, options)
    if lab.in_slot(slot) == []:
        raise SystemExit(f'the adapter in slot {slot} did not come up')
    say(f'it is there: {lab.in_slot(slot)[0]}')


def in_machine(suite):
    say(f'making the machine: {NAMES[suite]}, and rdmad built for it')
    import lab as labs
    with labs.lab(suite) as lab:
        versions = re.sub(r'\s+', ' ', lab.run('uname -r; systemctl --version | head -1; dpkg-query -W rdma-core | tr "\\t" " "'))
        say(f'it runs: kernel {versions}')
        lab.run('ip link add eth1 type dummy; ip link set eth1 up')
        lab.vm.put('[Service]\nExecStart=/bin/sleep infinity\n', '/etc/systemd/system/fabric.service')
        lab.run('systemctl daemon-reload')
        say('fabric.service there knows nothing of RDMA; it is bound to a port GUID that is not there yet')
        show_command(lab, f'rdmactl bind fabric.service --port-guid {A}')

        plug(lab, 1, 'a two-port InfiniBand adapter', f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        show_properties(lab, 1)
        say('each port has links by its GUID')
        show_links(lab)
        say('and units, without escapes')
        show_units(lab)
        lab.until_active('fabric')
        say('and fabric.service runs')
        show_command(lab, 'rdmactl status fabric.service')

        plug(lab, 2, 'a RoCE adapter', 'proto=roce guid=0002c90300000b00 netdev=eth1')
        say('the kernel says RoCE, so nothing meant for InfiniBand starts; rdma-ndd and rdma-hw.target are for every RDMA device')
        show_properties(lab, 2)
        show_links(lab)

        say('renaming the InfiniBand adapter to storage0: the service keeps running')
        before = lab.pid('fabric')
        lab.run(f'rdma dev set {lab.in_slot(1)[0]} name storage0')
        lab.settle()
        lab.until('the units follow', lambda: 'sys-subsystem-rdma-devices-storage0:1-umad.device' in lab.device_units())
        lab.expect('PID of the service', lab.pid('fabric'), before)
        show_service(lab)

        say('rdmactl sees both')
        show_command(lab, 'rdmactl list')

        say('pulling the InfiniBand adapter')
        say(f'gone after {lab.unplug(1):.2f} s')
        lab.until_inactive('fabric')
        say('systemd has stopped the service, and rdmad knows why')
        lab.until('rdmad knows', lambda: 'unplug' in lab.run('rdmactl status fabric.service', check=False))
        show_command(lab, 'rdmactl status fabric.service')
        show_links(lab)

        plug(lab, 3, 'the same adapter', f'proto=ib ports=2 guid=0002c90300000a00 pguid={A}')
        lab.until_active('fabric')
        say('other slot, other name, same links; and the service runs')
        show_links(lab)
        show_command(lab, 'rdmactl status fabric.service')
        lab.expect('anchors', len(lab.anchors()), 1)
    say('shown: link types told by the kernel, links and units by port GUID, and a service that lives with its port: through a rename, '
        'an unplug and another slot')


def on_host():
    devices = sorted(os.listdir('/sys/class/infiniband')) if os.path.isdir('/sys/class/infiniband') else []
    if not devices:
        sys.exit('this machine has no RDMA devices: /sys/class/infiniband is empty or missing')
    with tempfile.TemporaryDirectory(prefix='rdmad-demo-') as build:
        say('building rdma_id')
        for command in (['meson', 'setup', '--buildtype=release', '-Dtests=disabled', build, os.path.dirname(HERE)],
                        ['ninja', '-C', build]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
        nodes = [f'/dev/infiniband/{name}' for name in sorted(os.listdir('/dev/infiniband'))
                 if re.fullmatch(r'(uverbs|umad|issm)\d+', name)] if os.path.isdir('/dev/infiniband') else []
        for subject in devices + nodes:
            say(subject)
            show(subprocess.run([f'{build}/udev-helpers/rdma_id/rdma_id', '--no-load', subject], capture_output=True,
                                text=True).stdout)
    say(f'shown: {len(devices)} RDMA devices and {len(nodes)} nodes, and the links that rdmad would give them')


def main():
    parser = argparse.ArgumentParser(prog='tests/demo', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--suite', choices=NAMES, default='trixie', help='the machine\'s distribution (%(default)s)')
    parser.add_argument('--host', action='store_true', help='show the RDMA devices of this machine, change nothing')
    options = parser.parse_args()
    if options.host:
        on_host()
        return
    say('looking for the packages that this needs')
    subprocess.run([f'{HERE}/prepare'], check=True)
    in_machine(options.suite)


main()
