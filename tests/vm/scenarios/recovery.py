# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel's own targets over a soft RoCE device that goes and returns: with rdmad, and beside it without."""
import contextlib

import lab as labs

ADDRESS = '10.9.0.1'
NVMET = '/sys/kernel/config/nvmet'
SOFT = '''modprobe -a dummy rdma_rxe rdma_ucm ib_uverbs
ip link add net0 type dummy; ip addr add 10.9.0.1/24 dev net0; ip link set net0 up
mount -t configfs none /sys/kernel/config 2>/dev/null; rdma link add soft0 type rxe netdev net0; udevadm settle'''


@contextlib.contextmanager
def _soft(suite, setup='true', **options):
    with labs.lab(suite, setup=setup, **options) as lab:
        lab.run(SOFT)
        yield lab


def _make_nvmet(lab, *subsystems):
    lab.run(f'modprobe -a nvmet nvmet_rdma; truncate -s 16M /run/disk; cd {NVMET}; mkdir ports/1; cd ports/1; '
            f'echo rdma > addr_trtype; echo ipv4 > addr_adrfam; echo {ADDRESS} > addr_traddr; echo 4420 > addr_trsvcid')
    for name in subsystems:
        lab.run(f'cd {NVMET}; mkdir subsystems/{name}; echo 1 > subsystems/{name}/attr_allow_any_host; '
                f'mkdir subsystems/{name}/namespaces/1; cd subsystems/{name}/namespaces/1; echo -n /run/disk > device_path; '
                f'echo 1 > buffered_io; echo 1 > enable; ln -s {NVMET}/subsystems/{name} {NVMET}/ports/1/subsystems/{name}')


def _make_iser(lab):
    lab.run('modprobe -a iscsi_target_mod ib_isert; cd /sys/kernel/config/target; mkdir -p iscsi/iqn.2026-11.org.example:a/tpgt_1; '
            f'cd iscsi/iqn.2026-11.org.example:a/tpgt_1; echo 1 > enable; mkdir np/{ADDRESS}:3261; echo 1 > np/{ADDRESS}:3261/iser')


def _make_srpt(lab):
    """A port with a LUN, and an initiator that may use it."""
    port = lab.run('cat /sys/class/infiniband/soft0/node_guid')
    lab.run('modprobe -a target_core_file ib_srpt; cd /sys/kernel/config/target; mkdir -p srpt core/fileio_0/a; '
            'echo fd_dev_name=/root/disk2,fd_dev_size=1048576 > core/fileio_0/a/control; echo 1 > core/fileio_0/a/enable; '
            f'cd srpt; mkdir -p {port}/{port}/lun/lun_0; ln -s /sys/kernel/config/target/core/fileio_0/a {port}/{port}/lun/lun_0/a; '
            f'i=0x00000000000000000002c90300000001; mkdir -p {port}/{port}/acls/$i/lun_0; '
            f'ln -s /sys/kernel/config/target/srpt/{port}/{port}/lun/lun_0 {port}/{port}/acls/$i/lun_0/a; '
            f'echo 512 > {port}/{port}/attrib/srp_max_rsp_size; echo 1 > {port}/{port}/enable')
    return port


def _make_nfs(lab):
    if lab.run('command -v nfsdctl', check=False) == '':
        raise labs.Skip('nfsdctl, which nfs-utils 2.6 does not have')
    lab.run('systemctl unmask -q nfs-server nfs-mountd nfs-idmapd rpcbind.service rpcbind.socket nfsdcld 2>/dev/null; '
            'systemctl daemon-reload; modprobe -a nfsd rpcrdma; systemctl start nfs-server; nfsdctl threads 0; '
            f'nfsdctl listener +tcp:0.0.0.0:2049 +rdma:{ADDRESS}:20049; nfsdctl threads 3')


def _listening(lab, port):
    """Who waits for connections there."""
    out = lab.run('rdma res show cm_id')
    return [line.split('comm [')[1].split(']')[0] for line in out.splitlines()
            if 'state LISTEN' in line and f'{ADDRESS}:{port} ' in line]


def _until_listening(lab, port, who):
    lab.until(f'{who} listens on port {port}', lambda: _listening(lab, port) == [who])


def _reset(lab, until_gone=True):
    lab.run('rdma link del soft0')
    if until_gone:
        lab.until('the device is gone', lambda: lab.devices() == [])
    lab.run('rdma link add soft0 type rxe netdev net0')


def _settled(lab):
    """rdmad knows the device."""
    lab.run('rdmactl wait soft0 --for=ready --timeout=60')


# writes block after block behind the first MiB of the host's disk, and what came of each into /run/io
WRITER = '''exec > /run/io; n=0
while :; do
    n=$(((n + 1) % 1024)); disk=$(ls /dev/nvme?n1 2>/dev/null | head -1); outcome=failed
    [ -z "$disk" ] || ! dd if=/dev/zero of=$disk conv=nocreat oflag=direct,dsync bs=4k count=1 seek=$((512 + n)) 2>/dev/null || outcome=written
    read now rest < /proc/uptime; echo $outcome $now; [ $outcome = written ] || sleep 0.2
done'''


def _written(lab, since=0.0):
    """When blocks were written, in seconds of the machine's clock."""
    lines = [line.split() for line in lab.run('cat /run/io', check=False).splitlines()]
    return [float(line[1]) for line in lines if len(line) == 2 and line[0] == 'written' and float(line[1]) > since]


def _now(lab):
    return float(lab.run('cut -d" " -f1 /proc/uptime'))


def an_nvme_target_and_its_host_are_back_after_a_reset(suite):
    for rdmad in (True, False):
        with _soft(suite, rdmad=rdmad) as lab:
            _make_nvmet(lab, 'data')
            lab.run(f'modprobe nvme_rdma; mkdir -p /etc/nvme; echo "-t rdma -a {ADDRESS} -s 4420" > /etc/nvme/discovery.conf; '
                    'systemctl enable -q nvmf-autoconnect.service; systemctl start nvmf-autoconnect.service')
            disks = 'ls /dev/nvme?n1 2>/dev/null || true'
            disk = lab.until('the host has its disk', lambda: lab.run(disks))
            lab.until('the disk has a size', lambda: lab.run(f'blockdev --getsize64 {disk}') != '0')
            lab.run(f'head -c 1M /dev/urandom > /root/written; dd if=/root/written of={disk} oflag=direct bs=64k 2>&1')
            writer = lab.vm.start(WRITER)
            if rdmad:
                _settled(lab)
            lab.until('blocks are written', lambda: len(_written(lab)) > 20)
            _reset(lab)
            back = _now(lab)
            if not rdmad:
                lab.stays('without rdmad no block is written any more', lambda: _written(lab, since=back), [], 20)
                lab.expect('without rdmad nobody listens', _listening(lab, 4420), [])
                lab.expect('though it is configured', lab.run(f'ls {NVMET}/ports/1/subsystems'), 'data')
                lab.expect('and the host has no disk', lab.run(disks), '')
                continue
            _until_listening(lab, 4420, 'nvmet_rdma')
            disk = lab.until('the host has a disk again', lambda: lab.run(disks))
            lab.until('blocks are written again', lambda: len(_written(lab, since=back)) > 20)
            lab.vm.kill(writer, 9)
            times = _written(lab)
            gap = max(after - before for before, after in zip(times, times[1:]))
            lab.note(f'{len(times)} blocks written; none for {gap:.1f} s, over the reset')
            lab.run(f'dd if={disk} of=/root/read iflag=direct bs=64k count=16 2>&1; cmp /root/read /root/written')
            lab.expect('told', lab.journal().count(f'nvmet ports/1 at {ADDRESS}:4420 waits for connections again'), 1)
            figures = lab.figures
    return figures


@labs.on('trixie')
def portals_and_ports_of_other_targets_are_back_after_a_reset(suite):
    for rdmad in (True, False):
        with _soft(suite, rdmad=rdmad) as lab:
            _make_iser(lab)
            port = _make_srpt(lab)
            folder = f'/sys/kernel/config/target/srpt/{port}'
            tree = f'cd {folder}; find . -not -path "*statistics*" | sort; find . -name "srp_*" -exec cat {{}} +; cat */enable'
            before, inode = lab.run(tree), lab.run(f'stat -c %i {folder}')
            _until_listening(lab, 3261, 'ib_isert')
            if rdmad:
                _settled(lab)
            lab.run('rdma link del soft0')
            lab.until('the device is gone', lambda: lab.devices() == [])
            if rdmad:
                # rdmad looked at targets when the device was ready: it need not have seen one that was made later
                lab.until('rdmad has seen the SRP port', lambda: port in lab.run('cat /run/rdmad/recovery/debts', check=False))
            lab.run('rdma link add soft0 type rxe netdev net0')
            if not rdmad:
                lab.stays('without rdmad no portal listens', lambda: _listening(lab, 3261), [], 20)
                lab.expect('and the SRP port is that of the device that went', lab.run(f'stat -c %i {folder}'), inode)
                continue
            _until_listening(lab, 3261, 'ib_isert')
            lab.until('the SRP port is made anew', lambda: lab.run(f'stat -c %i {folder}', check=False) not in (inode, ''))
            lab.until('with all that it had', lambda: lab.run(tree) == before)
            told = f'srpt port at {port} waits for connections again'
            lab.until('and told so', lambda: told in lab.journal())
            # faster than rdmad can look
            inode = lab.run(f'stat -c %i {folder}')
            _reset(lab)
            lab.until('it is made anew again', lambda: lab.run(f'stat -c %i {folder}', check=False) not in (inode, ''))
            lab.until('with all that it had', lambda: lab.run(tree) == before)


@labs.on('trixie')
def a_listener_of_the_nfs_server_does_not_keep_its_device(suite):
    for rdmad in (True, False):
        # the kernel asks rdma_cm to let go before it takes away the nodes: nothing is told meanwhile
        with _soft(suite, setup='modprobe ib_uverbs; modprobe rdma_cm', rdmad=rdmad) as lab:
            _make_nfs(lab)
            _until_listening(lab, 20049, 'rpcrdma')
            if rdmad:
                lab.counted('bound')
                lab.bind('bound', 'Driver=rdma_rxe', 'Unit=bound.service')
                lab.reload_bindings()
                lab.until_active('bound')
                _settled(lab)
            lab.run('rdma link del soft0 >/dev/null 2>&1 &')
            if not rdmad:
                lab.stays('without rdmad it is not removed', lab.devices, ['soft0'], 20)
                continue
            try:
                lab.until('the device is gone', lambda: lab.devices() == [])
            except labs.Failure as failure:
                raise labs.Failure(f'{failure}\n{lab.run("cat /run/rdmad/recovery/debts /run/rdmad/recovery/report; journalctl -b -u rdmad -u rdmad-recovery -o short-precise --no-pager | tail -40; nfsdctl listener; rdma link", check=False)}')
            lab.until_inactive('bound')
            lab.expect('the server runs on', sorted(lab.run('nfsdctl listener').split()), ['tcp:0.0.0.0:2049'])
            lab.run('rdma link add soft0 type rxe netdev net0')
            _until_listening(lab, 20049, 'rpcrdma')
            lab.expect('as many threads', lab.run('nfsdctl threads').split()[-1], '3')
            lab.until_active('bound')
            lab.expect('starts of what is bound', lab.starts('bound'), 2)


@labs.on('trixie')
def a_crash_in_the_middle_loses_no_configuration(suite):
    with _soft(suite) as lab:
        _make_nvmet(lab, 'a', 'b', 'c')
        _settled(lab)
        lab.run('mkdir -p /etc/systemd/system/rdmad-recovery.service.d')
        lab.vm.put('[Service]\nSystemCallFilter=\nExecStart=\nExecStart=strace -o /run/rdmad/trace -e trace=symlink '
                   '-e inject=symlink:signal=KILL:when=2 /usr/lib/rdmad/rdmad-recovery\n',
                   '/etc/systemd/system/rdmad-recovery.service.d/crash.conf')
        lab.run('systemctl daemon-reload')
        _reset(lab)
        links = f'ls {NVMET}/ports/1/subsystems'
        lab.until('it was killed', lambda: 'rdmad-recovery.service: Main process exited, code=killed, status=9/KILL' in lab.journal())
        lab.expect_true('links are missing', len(lab.run(links).split()) < 3, lab.run(links))
        lab.run('rm -r /etc/systemd/system/rdmad-recovery.service.d; systemctl daemon-reload')
        lab.until('all are back', lambda: lab.run(links).split() == ['a', 'b', 'c'])
        _until_listening(lab, 4420, 'nvmet_rdma')
        lab.expect('nothing is owed', lab.run('grep -c subsystems /run/rdmad/recovery/debts', check=False), '0')


@labs.on('trixie')
def targets_wait_for_their_address_and_for_permission(suite):
    with _soft(suite) as lab:
        _make_nvmet(lab, 'data')
        _settled(lab)
        lab.run('rdma link del soft0; ip addr del 10.9.0.1/24 dev net0; ip addr add 10.8.0.1/24 dev net0; '
                'rdma link add soft0 type rxe netdev net0')
        _settled(lab)
        seen = lab.until('it waits', lambda: out if 'waiting' in (out := lab.run('rdmactl recover --dry-run')) else '')
        lab.expect_true('for its address', 'no device has its address' in seen, seen)
        lab.expect('the links stay', lab.run(f'ls {NVMET}/ports/1/subsystems'), 'data')
        lab.run('ip addr add 10.9.0.1/24 dev net0')
        _until_listening(lab, 4420, 'nvmet_rdma')
        # switched off
        lab.vm.put('[Lifecycle]\nFlapLimit=0\n[Recovery]\nNVMeTarget=no\n', '/etc/rdmad/rdmad.conf')
        lab.run('systemctl restart rdmad')
        _settled(lab)
        _reset(lab)
        _settled(lab)
        lab.stays('not with NVMeTarget=no', lambda: _listening(lab, 4420), [], 5)
        lab.expect_true('and not told of', '4420' not in lab.run('rdmactl recover --dry-run'))


@labs.on('trixie')
def a_preparation_takes_targets_away_and_names_hosts(suite):
    with _soft(suite) as lab:
        _make_nvmet(lab, 'data')
        _make_nfs(lab)
        lab.run(f'modprobe nvme_rdma; nvme connect -t rdma -a {ADDRESS} -s 4420 -n data')
        _settled(lab)
        code, out = lab.vm.finish(lab.vm.start('rdmactl prepare soft0'), 120)
        lab.expect('refused', code, 5)
        lab.expect_true('by name', 'nvme_rdma of the kernel' in out, out)
        lab.run('nvme disconnect -n data; rdmactl prepare soft0')
        lab.expect('no target is left', [_listening(lab, 4420), _listening(lab, 20049)], [[], []])
        lab.stays('nor comes back', lambda: [_listening(lab, 4420), _listening(lab, 20049)], [[], []], 5)
        lab.run('rdmactl resume soft0')
        _until_listening(lab, 4420, 'nvmet_rdma')
        _until_listening(lab, 20049, 'rpcrdma')
        lab.run('rdmactl prepare soft0; timeout 20 rdma link del soft0')
        lab.expect('removed', lab.devices(), [])
        lab.run('rdma link add soft0 type rxe netdev net0')
        _until_listening(lab, 4420, 'nvmet_rdma')
        _until_listening(lab, 20049, 'rpcrdma')
