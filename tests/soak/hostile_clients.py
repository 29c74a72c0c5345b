#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/soak/hostile_clients.py [--uid UID,...] [--pid PID] [--seconds N] [--list] [SOCKET] [WORD]...: attacks rdmad over its socket.

Each attack is made by a process of an unprivileged user, or by several at once. It must be refused with a reason; root and another
user must be served within a second meanwhile; and memory and descriptors of rdmad must stay bounded. Prints a line for each attack.
Exit code: 0 all of that held, 1 something did not. To be run as root, in a machine that is for tests: it is the attacks of strangers
in earnest.
"""
import argparse
import contextlib
import glob
import json
import multiprocessing
import os
import resource
import select
import socket
import struct
import subprocess
import sys
import time
import traceback

LIST = 'io.rdmad.Devices.List'
IN_TIME = 1.0
# what rdmad may take beyond what it had: its limits, of three users and for a moment, are below that
MORE_KB = 64 * 1024
MORE_DESCRIPTORS = 140
# a client that reads nothing is dropped after 30 s
STALL = 30


class Wrong(Exception):
    """What should have been refused or served, and was not."""


# -- clients -----------------------------------------------------------------------------------------

class Client:
    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX)
        # while the queue of the socket is full, a socket of Python's that has a timeout does not wait
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', timeout, 0))
        self.socket.connect(path)
        self.socket.settimeout(timeout)
        self.inbox = b''

    def send(self, data):
        """Whether all of it was taken; if not, a reason may be there to read."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)
            return True
        return False

    def call(self, method, _flags=(), **parameters):
        return self.send(message(method, _flags, **parameters))

    def reply(self):
        """The next reply; None if rdmad has hung up."""
        while b'\0' not in self.inbox:
            try:
                part = self.socket.recv(65536)
            except ConnectionResetError:
                part = b''
            if not part:
                return None
            self.inbox += part
        reply, _, self.inbox = self.inbox.partition(b'\0')
        return json.loads(reply)

    def ask(self, method, **parameters):
        self.call(method, **parameters)
        return self.reply()

    def flood(self, data):
        """Sends as often as the socket takes it, without reading."""
        self.socket.setblocking(False)
        with contextlib.suppress(OSError):
            while True:
                self.socket.send(data)

    def is_hung_up(self):
        poll = select.poll()
        poll.register(self.socket, select.POLLHUP)
        return bool(poll.poll(0))

    def close(self):
        self.socket.close()


def message(method, flags=(), **parameters):
    return json.dumps({'method': method, 'parameters': parameters, **{flag: True for flag in flags}}).encode() + b'\0'


def error_of(reply):
    return (reply or {}).get('error', '')


class Attack:
    """What an attacker has at hand: a way to connect, and how long to go on."""

    def __init__(self, path, seconds):
        self.path = path
        self.seconds = seconds

    def dial(self):
        return Client(self.path)

    def dial_many(self, count):
        """Up to so many clients that are served, and how many were turned away with a reason."""
        served, refused = [], 0
        for _ in range(count):
            client = self.dial()
            reply = client.ask('org.varlink.service.GetInfo')
            if error_of(reply) == 'io.rdmad.TooManyConnections':
                refused += 1
                client.close()
            elif reply and 'parameters' in reply and not error_of(reply):
                served.append(client)
            else:
                raise Wrong(f'a client got {reply}')
        return served, refused

    def turns(self, pause=0.0):
        """Yields until the time is over."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            yield
            time.sleep(pause)

    def expect_refusal(self, data, reason, half_close=False):
        client = self.dial()
        client.send(data)
        if half_close:
            client.socket.shutdown(socket.SHUT_WR)
        reply = client.reply()
        if error_of(reply) != 'io.rdmad.ProtocolError' or reason not in reply['parameters']['reason']:
            raise Wrong(f'{data[:40]!r} got {reply}, not {reason!r}')
        if client.reply() is not None:
            raise Wrong(f'{data[:40]!r} did not end the connection')
        client.close()


# -- attacks: each returns how it was refused, or raises Wrong ----------------------------------------

def oversized(attack):
    for _ in attack.turns(0.1):
        attack.expect_refusal(b'{"method":"' + b'a' * 10_000_000, 'too long')
    return 'the message is too long'


def truncated(attack):
    whole = message(LIST, device='mlx5_0')
    for size in range(1, len(whole) - 1):
        attack.expect_refusal(whole[:size] + b'\0', 'no JSON')
        attack.expect_refusal(whole[:size], 'cut off', half_close=True)
    return 'the message is no JSON, or cut off'


def deeply_nested(attack):
    for _ in attack.turns(0.01):
        for bracket in (b'[', b'{"a":'):
            attack.expect_refusal(b'{"method":"a.B","parameters":' + bracket * 10_000 + b'\0', 'nested too deeply')
    return 'the message is nested too deeply'


def of_many_values(attack):
    for _ in attack.turns(0.01):
        attack.expect_refusal(b'{"method":"a.B","parameters":{"x":[' + b'0,' * 30_000 + b'0]}}\0', 'too many values')
    return 'the message has too many values'


def no_calls(attack):
    for data, reason in ((b'hello\0', 'no JSON'), (b'\0' * 60_000, 'no JSON'), (b'{"method":"a.\xff"}\0', 'no JSON'), (b'[]\0', 'no object'),
                         (b'{"method":[1]}\0', 'method is missing'), (b'{"method":"List"}\0', 'no name'), (b'{"method":"a.\\u0000B"}\0', 'no name'),
                         (b'{"method":"a.B","parameters":7}\0', 'parameters are no object'), (b'{"method":"a.B","more":1}\0', 'neither true nor false'),
                         (b'{"method":"a.B","more":true,"oneway":true}\0', 'exclude each other')):
        attack.expect_refusal(data, reason)
    client = attack.dial()
    for method, wanted in (('io.rdmad.Devices.Burn', 'MethodNotFound'), ('io.rdmad.Nothing.List', 'InterfaceNotFound')):
        if not error_of(reply := client.ask(method)).endswith(wanted):
            raise Wrong(f'{method} got {reply}')
    if not error_of(reply := client.ask(LIST, device=7)).endswith('InvalidParameter'):
        raise Wrong(f'a device that is a number got {reply}')
    # the last of two keys counts, everywhere alike
    client.send(b'{"method":"io.rdmad.Bindings.Reload","method":"' + LIST.encode() + b'"}\0')
    if error_of(reply := client.reply()):
        raise Wrong(f'a key that stands twice got {reply}')
    return 'each with its reason'


def writes(attack):
    client = attack.dial()
    for method, parameters in (('Bindings.Add', {'unit': 'x.service', 'device': '*'}), ('Bindings.Remove', {'unit': 'x.service'}),
                               ('Bindings.Reload', {}), ('Lifecycle.Release', {'device': 'mock0'}), ('Lifecycle.Accept', {'device': 'mock0'}),
                               ('Lifecycle.Prepare', {'device': 'mock0'}), ('Lifecycle.Resume', {'device': 'mock0'}), ('Lifecycle.Recover', {}),
                               ('Lifecycle.Inhibit', {'who': 'x', 'why': 'y', 'mode': 'block'})):
        for flags in ((), ('more',)):
            client.call('io.rdmad.' + method, flags, **parameters)
            if error_of(reply := client.reply()) != 'org.varlink.service.PermissionDenied':
                raise Wrong(f'{method} of a stranger got {reply}')
        client.call('io.rdmad.' + method, ('oneway',), **parameters)
    if error_of(reply := client.ask(LIST)):
        raise Wrong(f'after what was denied, List got {reply}')
    return 'org.varlink.service.PermissionDenied'


def lingering_socket(keep):
    """A TCP socket whose close(2) waits for half a minute, as the peer, which is kept, does not read."""
    listener = socket.create_server(('127.0.0.1', 0))
    client = socket.socket()
    client.connect(listener.getsockname())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 30))
    client.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            client.send(b'x' * 65536)
    keep += [listener, listener.accept()[0]]
    return client


def pass_lingering(attack, kind):
    """In a process of its own: should rdmad be faster, it is the own close(2) that waits."""
    keep = []
    descriptor = lingering_socket(keep).detach()
    if kind == 'inside another':
        ours, theirs = socket.socketpair()
        socket.send_fds(ours, [b'x'], [descriptor])
        os.close(descriptor)
        descriptor = theirs.detach()
    client = attack.dial()
    if kind == 'not received':
        client.send(b'\0')
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        socket.send_fds(client.socket, [message(LIST)], [descriptor])
    os.close(descriptor)
    time.sleep(1)


def descriptors_passed_along(attack):
    kinds = ('received', 'not received', 'inside another')
    for turn, _ in enumerate(attack.turns(0.1)):
        client = attack.dial()
        try:
            socket.send_fds(client.socket, [message(LIST)], [0] * 200)
        except PermissionError:
            return 'EPERM, by the kernel'
        reply = client.reply()
        if error_of(reply) != 'io.rdmad.ProtocolError' or 'descriptors' not in reply['parameters']['reason']:
            raise Wrong(f'descriptors got {reply}')
        client.close()
        multiprocessing.get_context('fork').Process(target=pass_lingering, args=(attack, kinds[turn % 3]), daemon=True).start()
    return 'the message comes with file descriptors'


def never_reading(attack):
    """To be dropped: what rdmad says of it is in the journal, as nobody reads it here."""
    clients, _ = attack.dial_many(16)
    for client in clients:
        client.flood(message(LIST))
    end = time.monotonic() + STALL + 30
    while not all(client.is_hung_up() for client in clients):
        if time.monotonic() > end:
            raise Wrong(f'{sum(not client.is_hung_up() for client in clients)} were not dropped')
        time.sleep(0.2)
    return 'dropped, and the journal says why'


def never_reading_monitors(attack):
    clients, _ = attack.dial_many(16)
    for client in clients:
        client.call('io.rdmad.Devices.Monitor', ('more',), pollPorts=True)
        client.flood(message(LIST))
    for _ in attack.turns(0.2):
        pass
    return 'bounded'


def reading_monitors(attack):
    """They keep up, so that each of them is told all that happens."""
    clients, _ = attack.dial_many(16)
    for client in clients:
        client.call('io.rdmad.Devices.Monitor', ('more',), pollPorts=True)
        if (reply := client.reply() or {}).get('parameters', {}).get('event') != 'snapshot':
            raise Wrong(f'a monitor got {reply}')
        client.socket.setblocking(False)
    for _ in attack.turns(0.02):
        for client in clients:
            with contextlib.suppress(BlockingIOError):
                client.socket.recv(1 << 20)
    return 'told when all else is done'


def slow(attack):
    """A byte now and then, of messages that end at last, and of one that does not."""
    clients, _ = attack.dial_many(16)
    whole = message(LIST)
    for position, _ in enumerate(attack.turns(0.05)):
        for client in clients:
            client.send(whole[position % len(whole):position % len(whole) + 1])
    for client in clients:
        client.send(whole[-1:])
        client.send(whole[:5])
        client.socket.shutdown(socket.SHUT_WR)
        replies = []
        while (reply := client.reply()) is not None:
            replies.append(reply)
        if error_of(replies[-1]) != 'io.rdmad.ProtocolError':
            raise Wrong(f'half a message at the end got {replies[-1]}')
    return 'served as they come; the message is cut off'


def thousands_of_connections(attack):
    clients, refused = attack.dial_many(3000)
    if len(clients) > 16:
        raise Wrong(f'one user has {len(clients)} connections')
    for _ in attack.turns(0.2):
        pass
    return f'{refused} times io.rdmad.TooManyConnections'


def storm(attack):
    """Connects and closes as fast as it can, so that the queue of the socket is full, while calls keep rdmad busy."""
    def rage():
        for _ in attack.turns():
            with contextlib.suppress(OSError):
                for _ in range(100):
                    attack.dial().close()
    clients, _ = attack.dial_many(16)
    busy = [multiprocessing.get_context('fork').Process(target=rage) for _ in range(4)]
    for process in busy:
        process.start()
    served = ask_all(attack, clients)
    for process in busy:
        process.join()
    return f'io.rdmad.TooManyConnections; {served} calls served in turn'


def ask_all(attack, clients):
    """Has each send as many calls as go, and reads the replies; how many there were."""
    served = 0
    for _ in attack.turns():
        for client in clients:
            client.send((message(LIST) + message('io.rdmad.Bindings.List')) * 20)
        for client in clients:
            for _ in range(40):
                if error_of(reply := client.reply()) or not reply:
                    raise Wrong(f'a call got {reply}')
                served += 1
    return served


def pipelined_calls(attack):
    clients, _ = attack.dial_many(16)
    return f'{ask_all(attack, clients)} calls served in turn'


def listing(attack):
    """Has each ask for a long answer, again and again, and reads no more than that it has come."""
    clients, _ = attack.dial_many(16)
    poll, by_descriptor, served = select.poll(), {}, 0
    for client in clients:
        by_descriptor[client.socket.fileno()] = client
        poll.register(client.socket, select.POLLIN)
        client.call('io.rdmad.Bindings.List')
    for _ in attack.turns():
        for descriptor, _ in poll.poll(100):
            client = by_descriptor[descriptor]
            if not (part := client.socket.recv(65536)):
                raise Wrong('a client was hung up on')
            if part.endswith(b'\0'):
                served += 1
                client.call('io.rdmad.Bindings.List')
    if served == 0:
        raise Wrong('no call was served')
    return f'{served} calls served in turn'


def oneway_calls(attack):
    clients, _ = attack.dial_many(16)
    for _ in attack.turns(0.01):
        for client in clients:
            client.flood(message('io.rdmad.Bindings.List', ('oneway',)))
    return 'served in turn'


def half_closed(attack):
    """Says that it sends no more, and goes on reading; or goes away with calls left."""
    for _ in attack.turns(0.01):
        client = attack.dial()
        client.send(message(LIST) * 5)
        client.socket.shutdown(socket.SHUT_WR)
        for _ in range(5):
            if error_of(reply := client.reply()) or not reply:
                raise Wrong(f'a call before the end got {reply}')
        if client.reply() is not None:
            raise Wrong('no end after the end')
        client.close()
        gone = attack.dial()
        gone.send(message(LIST) * 5)
        gone.close()
    return 'served, and hung up on'


ATTACKS = (oversized, truncated, deeply_nested, of_many_values, no_calls, writes, descriptors_passed_along, slow, pipelined_calls, listing,
           oneway_calls, half_closed, thousands_of_connections, storm, reading_monitors, never_reading_monitors,
           never_reading)


# -- who is served meanwhile -------------------------------------------------------------------------

class Watch:
    """What rdmad is like to others, and what it uses."""

    def __init__(self, path, pid, honest_uid):
        self.path, self.pid, self.honest_uid = path, pid, honest_uid
        self.slowest, self.most_kb, self.most_descriptors = 0.0, 0, 0
        # what it has for its devices; an attack may begin while one of them is away
        self.descriptors_at_rest = self.descriptors()

    def look(self):
        for uid in (0, self.honest_uid):
            self.slowest = max(self.slowest, self.time_of_a_call(uid))
        self.most_kb = max(self.most_kb, self.kilobytes())
        self.most_descriptors = max(self.most_descriptors, self.descriptors())

    def time_of_a_call(self, uid):
        start = time.monotonic()
        os.seteuid(uid)
        try:
            client = Client(self.path, timeout=60)
        finally:
            os.seteuid(0)
        reply = client.ask(LIST)
        client.close()
        if not reply or 'devices' not in reply.get('parameters', {}):
            raise Wrong(f'user {uid} got {reply}')
        return time.monotonic() - start

    def kilobytes(self):
        with open(f'/proc/{self.pid}/status') as status:
            return next(int(line.split()[1]) for line in status if line.startswith('VmRSS:'))

    def descriptors(self):
        return len(glob.glob(f'/proc/{self.pid}/fd/*'))

    def is_there(self):
        return os.path.exists(f'/proc/{self.pid}')


def carry_out(function, attack, uid, pipe):
    """In a process of its own: an attacker."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    try:
        pipe.send((True, function(attack)))
    except Wrong as wrong:
        pipe.send((False, str(wrong)[:300]))
    except Exception:  # what breaks an attack down must be seen, whatever it is
        pipe.send((False, traceback.format_exc()))


class Attacker:
    """A process of a user that makes one attack."""

    def __init__(self, function, attack, uid):
        context = multiprocessing.get_context('fork')
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=carry_out, args=(function, attack, uid, theirs))
        self.process.start()
        theirs.close()

    def is_done(self):
        return self.pipe.poll(0.1)

    def outcome(self):
        """Whether it was refused, and how."""
        return self.pipe.recv()

    def end(self):
        self.process.kill()
        self.process.join()


def attack_once(function, attack, uids, watch):
    """A line, and whether all is well."""
    before_kb = watch.kilobytes()
    watch.slowest = watch.most_kb = watch.most_descriptors = 0
    attackers = [Attacker(function, attack, uid) for uid in uids]
    problems = []
    try:
        while not all([attacker.is_done() for attacker in attackers]):
            watch.look()
        watch.look()
        outcomes = [attacker.outcome() for attacker in attackers]
        is_refused = all(refused for refused, _ in outcomes)
        how = ' | '.join(dict.fromkeys(how for _, how in outcomes))
    except (Wrong, OSError, EOFError) as error:
        is_refused, how = False, f'{type(error).__name__}: {error}'
    for attacker in attackers:
        attacker.end()
    if not watch.is_there():
        return f'FAILED   {function.__name__}: rdmad {watch.pid} is gone; {how}', False
    # the attacker's connections go with it, once the calls that it left and that need no answer were run
    end = time.monotonic() + 60
    while watch.descriptors() > watch.descriptors_at_rest and time.monotonic() < end:
        time.sleep(0.1)
    if not is_refused:
        problems.append(how)
    if watch.slowest > IN_TIME:
        problems.append(f'others waited {watch.slowest:.3f} s')
    if watch.most_kb > before_kb + MORE_KB:
        problems.append(f'memory: {before_kb} kB before')
    if watch.most_descriptors > watch.descriptors_at_rest + MORE_DESCRIPTORS:
        problems.append(f'descriptors: {watch.descriptors_at_rest} before')
    if watch.descriptors() > watch.descriptors_at_rest:
        problems.append(f'{watch.descriptors() - watch.descriptors_at_rest} descriptors are left over')
    figures = f'others served within {watch.slowest:.3f} s; {watch.most_kb} kB, {watch.most_descriptors} descriptors'
    name = function.__name__.replace('_', ' ')
    if problems:
        return f'FAILED   {name}: {"; ".join(problems)} ({figures})', False
    return f'refused  {name}: {how}; {figures}', True


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('--uid', type=lambda text: [int(word) for word in text.split(',')], default=[65534], dest='uids',
                         help='of the attackers, who attack at once (65534)')
    options.add_argument('--honest-uid', type=int, default=65533, help='of the user who is to be served meanwhile (65533)')
    options.add_argument('--pid', type=int, help='of rdmad (what systemd says)')
    options.add_argument('--seconds', type=float, default=5, help='how long an attack goes on that does not end by itself (5)')
    options.add_argument('--list', action='store_true', help='print the attacks')
    options.add_argument('socket', nargs='?', default='/run/rdmad/io.rdmad')
    options.add_argument('word', nargs='*', help='attacks whose names have one of the words')
    options = options.parse_args()
    attacks = [function for function in ATTACKS if not options.word or any(word in function.__name__ for word in options.word)]
    if options.list:
        print('\n'.join(function.__name__ for function in attacks))
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    # it has to run before its process can be looked at; a connection keeps it running
    keeper = Client(options.socket)
    keeper.ask(LIST)
    pid = options.pid or int(subprocess.run(['systemctl', 'show', '--value', '-p', 'MainPID', 'rdmad.service'],
                                            capture_output=True, text=True, check=True).stdout)
    watch = Watch(options.socket, pid, options.honest_uid)
    is_well = True
    for function in attacks:
        line, held = attack_once(function, Attack(options.socket, options.seconds), options.uids, watch)
        print(line, flush=True)
        is_well &= held
    return 0 if is_well else 1


if __name__ == '__main__':
    sys.exit(main())
