# SPDX-License-Identifier: LGPL-2.1-or-later
"""A test machine: QEMU with a distribution's own kernel, systemd and udev, and an agent inside.

A machine is booted once and saved as a template; every test restores a private copy of it in a
fraction of a second. RAM is a memory-backend-file: the template's run maps it shared and saves the
device state with x-ignore-shared, later runs map the same file private, copy on write. A template
fits only the image, QEMU and device line it was made with.

9p and NVMe devices forbid saving: add them after the restore.
"""
import fcntl
import functools
import glob
import hashlib
import itertools
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get('RDMAD_VM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'rdmad-vm')
SUITES = ('bookworm', 'trixie', 'sid')
SLOTS = 8
KERNEL_COMMAND_LINE = (
    'panic=-1 console=ttyS0 quiet loglevel=4 mitigations=off nokaslr tsc=reliable no_timer_check audit=0 '
    'apparmor=0 selinux=0 random.trust_cpu=on rcupdate.rcu_expedited=1 systemd.show_status=0 '
    'net.ifnames=0')


# what a failure says of the directory that it leaves behind
KEPT = 'kept: '
# what is kept of a machine in which a scenario failed, beside its console and what QEMU said
EVIDENCE = {
    'journal.log': 'journalctl -b --no-pager -o short-monotonic',
    'udev.log': 'journalctl -b --no-pager -o short-monotonic -u systemd-udevd; udevadm info --export-db',
    'state.log': 'systemctl list-jobs --no-pager; systemctl list-units --failed --no-pager; ls -lR /dev/infiniband; '
                 'grep -r "" /run/rdmad 2>/dev/null | head -c 1M; rdma dev; rdma link; '
                 'ps -eo pid,stat,etimes,wchan:20,args --sort=-etimes | grep -v "]$"',
}
KEEP_DAYS = 7


class MachineError(Exception):
    pass


class Skip(Exception):
    """What a scenario misses."""


class EmulatorFailed(MachineError):
    """The emulated timer of a processor stopped, say, or the emulator crashed. It says nothing of what runs in the machine."""


# what the RCU code of the kernel says when no timer interrupt comes any more (kernel/rcu/tree_stall.h, tree_exp.h)
STALLED = re.compile("kthread timer wakeup didn't happen|rcu_preempt detected (expedited )?stalls")
# While the kernel patches its own code, at boot or when it turns a static key, an emulated processor can run into the instruction
# that is half patched when the kernel believes that none can any more (seen in sched_clock_cpu() of Linux 6.12 and 7.2).
HALF_PATCHED = re.compile(r'\bint3: 0000 \[#1\]')
# what the kernel says at last where it resets the machine itself; after a triple fault of a processor nobody can say anything
RESET_BY_KERNEL = re.compile('reboot: |sysrq: Resetting|Kernel panic')
PROCESSORS = 2
# Without CMPXCHG16B: the emulator of QEMU before 8.0 computes the flags after it from the wrong state (gen_cmpxchg16b() does not
# store cc_op, which its helper reads), so that some of their high bits are bits of an address. An interrupt that saves them there
# ends in a double fault, and local_irq_save() can believe that interrupts were enabled.
PROCESSOR = ('-cpu', 'qemu64,+rdrand,+ssse3,+sse4.1,+sse4.2,+popcnt,-cx16')
EMULATION = ('-accel', 'tcg,thread=multi', *PROCESSOR)
# The clock of such a machine goes on by a nanosecond with each instruction, and while it waits: what the host does beside it does not
# show. Its processors take turns.
COUNTED_EMULATION = ('-accel', 'tcg,thread=single', '-icount', 'shift=0,sleep=on', *PROCESSOR)
KVM = ('-accel', 'kvm', '-cpu', 'host,migratable=on')


@functools.cache
def has_kvm():
    """Returns true if this host can run a machine on its own processor. A /dev/kvm without the processor's virtualization, as inside
    some virtual machines, runs no kernel of a distribution."""
    with open('/proc/cpuinfo') as file:
        return os.access('/dev/kvm', os.R_OK | os.W_OK) and bool(re.search(r'^flags\s.*\b(vmx|svm)\b', file.read(), re.MULTILINE))


def drop_old_evidence():
    """Removes what failures of a week ago left behind."""
    for directory in glob.glob(os.path.join(CACHE, 'run', 'vm-*')):
        if os.path.getmtime(directory) < time.time() - KEEP_DAYS * 86400:
            shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def layers(suite):
    """The image and the build tree of a suite, made if what they are made of has changed."""
    subprocess.run([os.path.join(HERE, 'mkimage'), suite], check=True)
    with open(os.path.join(CACHE, f'{suite}.layers')) as file:
        return dict(line.strip().split('=', 1) for line in file)


class Machine:
    """One running machine. Use it as a context manager."""

    def __init__(self, suite, image, memory_mb=768, restore_from=None, save_to=None, extra=(), append='', is_writable=False,
                 is_counted=False):
        """restore_from: a template; save_to: a directory for one, which has its RAM already if it is restored, too. is_writable: the
        root file system may be written to; what is written goes when the machine ends. is_counted: where it is emulated, its clock
        counts instructions."""
        os.makedirs(os.path.join(CACHE, 'run'), exist_ok=True)
        self.suite = suite
        self.directory = tempfile.mkdtemp(prefix='vm-', dir=os.path.join(CACHE, 'run'))
        self._tokens = itertools.count(1)
        self._events, self._buffer = [], b''
        self._output, self._codes = {}, {}
        # units whose journal a failure shows
        self.concerned = set()
        self._log = open(f'{self.directory}/qemu.log', 'wb')
        processor = KVM if has_kvm() else COUNTED_EMULATION if is_counted else EMULATION
        command = self._command(image, memory_mb, save_to or restore_from, bool(save_to), processor, extra, append, is_writable)
        if restore_from:
            command += ['-incoming', 'defer']
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        self._qmp_socket = self._connect('qmp')
        self._qmp = self._qmp_socket.makefile('rw')
        json.loads(self._qmp.readline())
        self.qmp('qmp_capabilities')
        if restore_from:
            self._load(restore_from)
        self._agent = self._connect('agent')

    def _command(self, image, memory_mb, ram, shared, processor, extra, append, is_writable):
        d = self.directory
        memory = (f'memory-backend-file,id=mem,size={memory_mb}M,mem-path={ram}/ram,share={"on" if shared else "off"}'
                  if ram else f'memory-backend-ram,id=mem,size={memory_mb}M')
        command = [
            layers(self.suite)['qemu'], '-name', self.suite, '-nodefaults', '-no-user-config', '-no-reboot',
            '-display', 'none', '-vga', 'none', *processor, '-smp', str(PROCESSORS),
            '-m', str(memory_mb), '-object', memory, '-machine', 'q35,memory-backend=mem',
            '-kernel', f'{image}/vmlinux', '-initrd', f'{image}/initrd.cpio',
            '-append', f'{KERNEL_COMMAND_LINE} {append}',
            '-serial', f'file:{d}/console.log',
            '-qmp', f'unix:{d}/qmp,server=on,wait=off',
            '-chardev', f'socket,id=agent,path={d}/agent,server=on,wait=off',
            '-device', 'virtio-serial-pci,id=vser,max_ports=2,addr=0x2',
            '-device', 'virtserialport,chardev=agent,name=agent',
            '-drive', f'if=none,id=root,format=raw,{"snapshot" if is_writable else "readonly"}=on,file={image}/root.img,cache=unsafe',
            '-device', 'virtio-blk-pci,drive=root,addr=0x3', '-device', 'virtio-rng-pci,addr=0x4']
        # hot-plug slots: what is put on bus rpN appears as 0000:0N:00.0
        for slot in range(SLOTS):
            command += ['-device', f'pcie-root-port,id=rp{slot + 1},chassis={slot + 1},slot={slot + 1},'
                        f'bus=pcie.0,addr=0x10.{slot:x},multifunction=on']
        return command + list(extra)

    def _connect(self, name):
        end = time.monotonic() + 20
        while True:
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(f'{self.directory}/{name}')
                return s
            except OSError:
                s.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise MachineError('qemu: ' + self._qemu_log())
                time.sleep(0.005)

    def _qemu_log(self):
        with open(f'{self.directory}/qemu.log') as file:
            return file.read()

    def _load(self, template):
        self.qmp('migrate-set-capabilities', capabilities=[{'capability': 'x-ignore-shared', 'state': True}])
        self.qmp('migrate-incoming', uri=f'exec:cat {template}/state')
        while (status := self.qmp('query-status')['status']) != 'running':
            if status in ('paused', 'postmigrate', 'prelaunch'):
                self.qmp('cont')
            time.sleep(0.005)

    # -- QEMU ---------------------------------------------------------------------------------

    def qmp(self, command, **arguments):
        self._qmp.write(json.dumps({'execute': command, 'arguments': arguments}) + '\n')
        self._qmp.flush()
        while True:
            line = self._qmp.readline()
            if not line:
                raise MachineError('qemu ended: ' + self._qemu_log())
            answer = json.loads(line)
            if 'event' in answer:
                self._events.append(answer)
            elif 'error' in answer:
                raise MachineError(f'{command}: {answer["error"]["desc"]}')
            else:
                return answer['return']

    def wait_event(self, name, timeout=180, **data):
        end = time.monotonic() + timeout
        while True:
            for event in self._events:
                if event['event'] == name and all(event['data'].get(k) == v for k, v in data.items()):
                    self._events.remove(event)
                    return
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f'no {name} from QEMU within {timeout} s')
            self._qmp_socket.settimeout(left)
            try:
                self._events.append(json.loads(self._qmp.readline()))
            finally:
                self._qmp_socket.settimeout(None)

    def save(self, template):
        """State to template/state; RAM is in template/ram already."""
        self.qmp('stop')
        self.qmp('migrate-set-capabilities', capabilities=[{'capability': 'x-ignore-shared', 'state': True}])
        self.qmp('migrate-set-parameters', **{'max-bandwidth': 10 << 30})
        self.qmp('migrate', uri=f'exec:cat > {template}/state')
        while (answer := self.qmp('query-migrate'))['status'] != 'completed':
            if answer['status'] == 'failed':
                raise MachineError(str(answer))
            time.sleep(0.01)

    def quit(self, keep=False):
        try:
            self.qmp('quit')
        except (MachineError, OSError):
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        has_failed = isinstance(error, Exception) and not isinstance(error, Skip)
        failure = self._emulator_failure() if has_failed else None
        if has_failed:
            self._keep_evidence(error, is_alive=not failure)
        self.quit(keep=has_failed)
        # what failed in a machine whose timer stopped failed of that
        if failure:
            wrapped = EmulatorFailed(f'the emulator failed the machine: {failure}')
            wrapped.__notes__ = getattr(error, '__notes__', [])
            raise wrapped from error

    def _keep_evidence(self, error, is_alive):
        """Keeps what the machine can tell of itself, and shows the journal of the units concerned with the error."""
        error.add_note(f'{KEPT}{self.directory}')
        if not is_alive:
            return self._keep_registers()
        units = ' '.join(f'-u "{unit}"' for unit in sorted(self.concerned | {'rdmad*'}))
        journal = 'journalctl -q -b --no-pager -o short-monotonic'
        try:
            for name, script in EVIDENCE.items():
                with open(f'{self.directory}/{name}', 'w') as file:
                    file.write(self.run(script, 60, check=False))
            error.add_note(self.run(f'{{ {journal} -t rdmad -t rdma_id; {journal} {units}; }} | grep ^. | sort -u | tail -n 40', 60,
                                    check=False))
        except (MachineError, OSError, TimeoutError) as second:
            error.add_note(f'the machine does not answer: {second}'.splitlines()[0])

    def _keep_registers(self):
        """Where a processor is, and whether it moves, tells what the emulator fails at from a kernel that hangs."""
        try:
            with open(f'{self.directory}/registers', 'w') as file:
                for _ in range(5):
                    file.write(self.qmp('human-monitor-command', **{'command-line': 'info registers -a'}) + '\n')
        except (MachineError, OSError):
            pass  # the machine has ended

    def _emulator_failure(self):
        """How the emulator failed the machine, if it did."""
        console = self._console()
        if STALLED.search(console):
            return None if '[rdma_mock]' in console else 'the timer of a processor stopped'
        if HALF_PATCHED.search(console):
            return 'a processor ran into an instruction that was half patched'
        if self._ended_by_signal():
            return f'QEMU ended by signal {-self.process.returncode}'
        if self._shutdown_reason() == 'guest-reset' and not RESET_BY_KERNEL.search(console):
            return 'a processor was reset by a triple fault'
        return 'a processor does not wake what sleeps on it' if self._sleeps_for_ever() else None

    def _ended_by_signal(self):
        """Of itself: one that is asked to end by a signal ends with an exit code."""
        try:
            return self.process.wait(1) < 0
        except subprocess.TimeoutExpired:
            return False

    def _shutdown_reason(self):
        """Why QEMU says that the machine ended; empty if it runs, or QEMU did not say."""
        if self.process.poll() is not None:
            try:
                self._events += [json.loads(line) for line in self._qmp]
            except (OSError, ValueError):
                pass  # it ended within a line
        return next((event['data']['reason'] for event in self._events if event.get('event') == 'SHUTDOWN'), '')

    def _sleeps_for_ever(self):
        try:
            for sleeper in [self.start(f'taskset -c {processor} sleep 0.1') for processor in range(PROCESSORS)]:
                self.finish(sleeper, 60)
        except TimeoutError:
            return True
        except (MachineError, OSError):
            pass  # the machine has ended
        return False

    def _console(self):
        with open(f'{self.directory}/console.log', errors='replace') as file:
            return file.read()

    # -- the agent inside, see guest/agent.pl for its protocol -----------------------------------

    def wait_agent(self, timeout=180):
        """Until the agent answers; the token also drops what an earlier owner left in the pipe."""
        token = f'S {os.getpid()}-{time.monotonic_ns()}\n'.encode()
        end, sent, seen = time.monotonic() + timeout, 0, b''
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise MachineError('qemu ended: ' + self._qemu_log())
            if time.monotonic() - sent > 1:
                self._agent.sendall(b'\n' + token)
                sent = time.monotonic()
            if select.select([self._agent], [], [], 0.02)[0]:
                seen += self._agent.recv(65536)
                at = seen.find(token)
                if at >= 0:
                    self._buffer = seen[at + len(token):]
                    return
        raise TimeoutError('the agent does not answer')

    def start(self, script):
        """Starts a script in the machine; finish() or kill() it by the token."""
        token = str(next(self._tokens))
        body = script.encode()
        self._agent.sendall(f'X {token} {len(body)}\n'.encode() + body + f'I {token} 0\n'.encode())
        return token

    def finish(self, token, timeout=300):
        """The exit code (128 + signal) and the output, stdout and stderr together."""
        end = time.monotonic() + timeout
        while token not in self._codes:
            kind, other, value = self._message(end - time.monotonic())
            if kind == 'O':
                self._output[other] = self._output.get(other, b'') + value
            else:
                self._codes[other] = value
        return self._codes.pop(token), self._output.pop(token, b'').decode(errors='replace')

    def _message(self, timeout):
        end = time.monotonic() + timeout
        while True:
            newline = self._buffer.find(b'\n')
            if newline >= 0:
                field = self._buffer[:newline].decode(errors='replace').split(' ')
                if field[0] == 'R':
                    self._buffer = self._buffer[newline + 1:]
                    return 'R', field[1], int(field[2])
                if field[0] != 'O':
                    self._buffer = self._buffer[newline + 1:]
                    continue
                size = newline + 1 + int(field[2])
                if len(self._buffer) >= size:
                    data, self._buffer = self._buffer[newline + 1:size], self._buffer[size:]
                    return 'O', field[1], data
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._agent], [], [], left)[0]:
                raise TimeoutError('a command in the machine did not end in time')
            data = self._agent.recv(1 << 16)
            if not data:
                raise self._agent_gone()
            self._buffer += data

    def _agent_gone(self):
        lines = self._console().splitlines()
        fatal = next((at for at, line in enumerate(lines) if re.search('Oops|BUG:|Kernel panic', line)), -20)
        try:
            # negative: by that signal
            ended = f'qemu ended with {self.process.wait(5)}, {self._shutdown_reason() or "of which it does not say why"}'
        except subprocess.TimeoutExpired:
            ended = 'qemu runs'
        return MachineError('\n'.join([f'the machine is gone, {ended} {self._qemu_log()}', 'its console:', *lines[fatal:][:40]]))

    def run(self, script, timeout=300, check=True):
        """The output of a bash script; raises if it fails, unless check is off."""
        try:
            code, output = self.finish(self.start(script), timeout)
        except TimeoutError:
            raise TimeoutError(f'not ended within {timeout} s: {script}') from None
        if check and code:
            raise MachineError(f'exit code {code} of: {script}\n{output}')
        return output

    def code(self, script, timeout=300):
        return self.finish(self.start(script), timeout)[0]

    def kill(self, token, signal=15):
        self._agent.sendall(f'K {token} {signal}\n'.encode())

    def put(self, content, path, mode=0o644):
        """Writes bytes, or text, to a file in the machine."""
        if isinstance(content, str):
            content = content.encode()
        token = str(next(self._tokens))
        self._agent.sendall(f'P {token} {mode:o} {len(content)} {path}\n'.encode() + content)
        code, _ = self.finish(token)
        if code:
            raise MachineError(f'{path}: {os.strerror(code)}')


# -- templates ------------------------------------------------------------------------------------

SETTLED = 'systemctl is-system-running --wait; udevadm settle; sync; echo 3 > /proc/sys/vm/drop_caches'
# where the host is overloaded, services can miss their start timeouts again and again
SOUND = 'systemctl is-active systemd-journald.service && systemctl is-active systemd-udevd.service'


BOOTS = 3


def _save_template(suite, image, setup, options, directory):
    """Boots and saves. While a kernel patches its own code in the first seconds, an emulated CPU can run into an instruction that
    is half patched, and the kernel panics (seen: int3 in sched_clock_cpu() of Linux 7.2): then once more, and it is told."""
    for attempt in range(1, BOOTS + 1):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        try:
            with Machine(suite, image, save_to=directory, **options) as machine:
                machine.wait_agent(180)
                machine.run(setup + '\n' + SETTLED, timeout=300, check=False)
                machine.run(SOUND)
                machine.save(directory)
            return
        except (OSError, MachineError) as error:
            print(f'{suite}: boot {attempt} of {BOOTS} failed: {error}', *getattr(error, '__notes__', [])[:1], file=sys.stderr)
            if attempt == BOOTS:
                raise


def _template(suite, image, setup, options):
    """The directory of a saved machine, booted and saved first if there is none for this very image."""
    qemu = subprocess.run([layers(suite)['qemu'], '--version'], capture_output=True, text=True).stdout
    with open(__file__, 'rb') as file:
        stamp = repr((image, os.stat(f'{image}/root.img').st_mtime_ns, qemu, file.read(), setup, options))
    digest = hashlib.sha256(stamp.encode()).hexdigest()[:12]
    directory = os.path.join(CACHE, f'template-{suite}-{digest}')
    with open(f'{directory}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(f'{directory}/done'):
            _save_template(suite, image, setup, options, directory)
            open(f'{directory}/done', 'w').close()
    return directory


def _furnished(suite, image, base, then, options):
    """The directory of a template made of another one."""
    what, furnish = then
    directory = f'{base}-{what}'
    with open(f'{base}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(f'{directory}/done'):
            _drop_unused(base)
            shutil.rmtree(directory, ignore_errors=True)
            os.makedirs(directory)
            subprocess.run(['cp', '--sparse=always', f'{base}/ram', directory], check=True)
            with Machine(suite, image, restore_from=base, save_to=directory, **options) as machine:
                _wake(machine)
                furnish(machine)
                machine.save(directory)
            open(f'{directory}/done', 'w').close()
        os.utime(directory)
    return directory


def _drop_unused(base):
    """Templates of what stands in no source any more: two checkouts may take turns, so that the last one that was used stays."""
    others = sorted((directory for directory in glob.glob(f'{base}-*/')), key=os.path.getmtime)
    for directory in others[:-1]:
        shutil.rmtree(directory, ignore_errors=True)


def _wake(machine):
    machine.wait_agent(90)
    machine.run(f'date -s @{time.time():.3f} >/dev/null')


def restore(suite, setup='', then=None, extra=(), **options):
    """A private copy of a settled machine of that suite. setup runs once, before it is saved. then: (what it is, a function that
    furnishes the machine further), once for all that ask for the same."""
    image = layers(suite)['img']
    options['extra'] = tuple(extra)
    template = _template(suite, image, setup, options)
    if then:
        template = _furnished(suite, image, template, then, options)
    machine = Machine(suite, image, restore_from=template, **options)
    try:
        _wake(machine)
    except BaseException as error:
        machine.__exit__(type(error), error, None)
        raise
    return machine
