#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""rdmactl.py RDMACTL VERSION: runs the program against a server that says what a test wants. No rdmad and no device is needed."""
import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

RDMACTL, VERSION = sys.argv[1:3]
FINE, FAILED, USAGE, NOT_ACTIVE = range(4)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERBS = ['list', 'status', 'bindings', 'bind', 'unbind', 'monitor', 'wait', 'release', 'accept', 'prepare', 'resume', 'inhibit',
         'recover', 'reload', 'verify']
PORT_1, PORT_2, NODE = '0002c90300000a01', '0002c90300000a02', '0002c90300000a00'
NOW = int(time.time() * 1e6)


def port(number, guid=None, state='active', **changes):
    return {'number': number, 'guid': guid, 'linkType': 'infiniband', 'state': state, 'isReady': state == 'active', 'netdev': None,
            'umad': f'umad{number - 1}', 'issm': None, 'units': [], **changes}


def device(name='mlx5_0', index=0, **changes):
    return {'name': name, 'index': index, 'driver': 'mlx5_core', 'path': 'pci-0000:c1:00.0', 'nodeGuid': NODE, 'sysImageGuid': NODE,
            'protocol': 'ib', 'firmware': '16.35.2000', 'uverbs': f'uverbs{index}',
            'ports': [port(1, PORT_1, units=['srp.service']), port(2, PORT_2, 'down')], 'units': ['srp.service'], **changes}


def life(state='ready', **changes):
    return {'device': 'mlx5_0', 'index': 0, 'state': state, 'isDegraded': False, 'isBlocked': False, 'isAccepted': True, 'returns': 0, **changes}


def bound(**changes):
    return {'device': 'mlx5_0', 'index': 0, 'port': 1, 'guid': PORT_1, 'nodeGuid': NODE, 'node': 'umad0', 'isPresent': True,
            'isReady': True, 'anchor': None, **changes}


def unit(name='srp.service', **changes):
    return {'unit': name, 'activeState': 'active', 'loadState': 'loaded', 'isWanted': True, 'reason': 'its port is there', 'bindings': ['50-srp.binding'],
            'ports': [bound()], 'stop': None, **changes}


def binding(name='50-srp.binding', **changes):
    return {'name': name, 'path': '/etc/rdmad/binding.d/' + name, 'isRuntime': False, 'units': ['srp.service'], 'node': 'umad',
            'require': 'all', 'waitFor': 'active', 'restart': 'return', 'matches': ['mlx5_0/1'], 'missing': [], 'problems': [],
            **changes}


SIW = device('siw0', 4, driver=None, path=None, nodeGuid='0000000000000005', protocol='iw', ports=[port(1, None, netdev='eth0')], units=[])
AWAY = unit('away.service', activeState='inactive', isWanted=True, reason='waits for a port', ports=[], bindings=[])
PULLED = unit('pulled.service', activeState='inactive', reason='its port is gone', bindings=[], ports=[bound(device='mlx5_9', index=9, isPresent=False)],
              stop={'cause': 'unplug', 'timestamp': NOW - 9_000_000_000, 'device': 'mlx5_9', 'index': 9, 'port': 1, 'guid': PORT_1})
STOPPED = unit('stopped.service', activeState='failed', isWanted=False, reason='is left alone: it ended', bindings=[],
               stop={'cause': 'exit', 'timestamp': NOW - 10 * 86400_000_000})


def event(name, sequence=1, **changes):
    return {'sequence': sequence, 'timestamp': NOW, 'event': name, **changes}


class Refuse(Exception):
    """An error of varlink."""


class Server:
    """Answers each method by a function of its parameters that returns the only answer, a list of answers for "more", or bytes that
    are sent as they are before the server hangs up. Without such a function it is rdmad as above."""

    def __init__(self, **answers):
        self.calls = []
        self.rests = [] # what came behind the last message of each connection
        self.answers = {'Devices.List': self.devices, 'Bindings.List': self.bindings, 'Bindings.Reload': lambda _: {'problems': []},
                        'Bindings.Remove': lambda _: {'removed': []}, **{key.replace('_', '.'): value for key, value in answers.items()}}
        self.folder = tempfile.mkdtemp(prefix='rdmactl')
        self.path = self.folder + '/io.rdmad'
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.hold = threading.Event()
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hold.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(120)
        self.listener.close()
        shutil.rmtree(self.folder)

    @staticmethod
    def devices(parameters):
        wanted = parameters.get('device')
        found = [one for one in [device(), SIW]
                 if wanted in [None, one['name'], one['nodeGuid'], *(port['guid'] for port in one['ports'])]]
        if not found:
            raise Refuse('io.rdmad.Devices.NoSuchDevice', {'device': wanted})
        return {'devices': found}

    @staticmethod
    def bindings(parameters):
        wanted = parameters.get('unit')
        units = [one for one in [unit(), AWAY, PULLED, STOPPED] if wanted in [None, one['unit']]]
        if not units:
            raise Refuse('io.rdmad.Bindings.NoSuchUnit', {'unit': wanted})
        return {'bindings': [binding()], 'units': units}

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.threads.append(threading.Thread(target=self.serve, args=(connection,), daemon=True))
                self.threads[-1].start()

    def serve(self, connection):
        with connection, contextlib.suppress(ConnectionError):
            inbox = b''
            while True:
                chunk = connection.recv(65536)
                if not chunk:
                    self.rests.append(inbox)
                    return
                inbox += chunk
                while b'\0' in inbox:
                    message, inbox = inbox.split(b'\0', 1)
                    self.answer(connection, json.loads(message))

    def answer(self, connection, call):
        self.calls.append(call)
        method = call['method'].removeprefix('io.rdmad.')
        try:
            answer = self.answers[method](call['parameters'])
        except Refuse as refusal:
            answer = json.dumps({'error': refusal.args[0], 'parameters': refusal.args[1]}).encode() + b'\0'
            connection.sendall(answer)
            return
        if isinstance(answer, bytes):
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_RDWR)
            return
        for one in answer if not isinstance(answer, dict) else [answer]:
            if one is None:
                self.hold.wait(300)
                return
            if isinstance(one, float):
                time.sleep(one)
                continue
            message = {'parameters': one, **({'continues': True} if not isinstance(answer, dict) else {})}
            connection.sendall(json.dumps(message).encode() + b'\0')

    def called(self, method):
        return [call['parameters'] for call in self.calls if call['method'] == 'io.rdmad.' + method]


def command(server, arguments):
    path = server if isinstance(server, str) else server.path
    return [RDMACTL, '--socket', path, *arguments]


def run(server, *arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key not in ('COLUMNS', 'NO_COLOR', 'RDMAD_SOCKET')}
    return subprocess.run(command(server, arguments), env={**env, 'TZ': 'UTC', **environment}, capture_output=True, timeout=120)


def on_terminal(server, *arguments, **environment):
    """What is printed to a terminal."""
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ('COLUMNS', 'NO_COLOR')}
    process = subprocess.Popen(command(server, arguments), env={**env, 'TERM': 'xterm', **environment}, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b''
    with contextlib.suppress(OSError):
        while chunk := os.read(ours, 65536):
            output += chunk
    os.close(ours)
    assert process.wait(120) == 0, output
    return output.decode().replace('\r\n', '\n')


class Case(unittest.TestCase):
    def check(self, result, code, note=None):
        self.assertEqual(result.returncode, code, result)
        for line in result.stderr.decode().splitlines():
            self.assertTrue(line.startswith('rdmactl: ') and line.isprintable(), result.stderr)
        if code == FINE:
            self.assertEqual(result.stderr.decode(), f'rdmactl: {note}\n' if note else '')
        return result.stdout.decode()

    def check_error(self, result, code, *words):
        self.assertEqual(result.returncode, code, result)
        text = result.stderr.decode()
        self.assertEqual(text.count('\n'), 1, text)
        self.assertTrue(text.startswith('rdmactl: ') and text[:-1].isprintable(), text)
        for word in words:
            self.assertIn(word, text)
        return text

    def document(self, result, code=FINE):
        output = self.check(result, code)
        self.assertEqual(output.count('\n'), 1)
        return json.loads(output)


class CommandLine(Case):
    def test_help_names_each_verb(self):
        text = self.check(run('/nowhere', '--help'), FINE)
        for verb in VERBS:
            self.assertRegex(text, rf'\n +{verb} ')
        self.assertIn('Exit codes: 0', text)

    def test_help_of_each_verb(self):
        for verb in VERBS:
            text = self.check(run('/nowhere', verb, '--help'), FINE)
            self.assertIn('--json', text)
            self.assertIn('--help', text)

    def test_version(self):
        self.assertEqual(self.check(run('/nowhere', '--version'), FINE), f'rdmactl {VERSION}\n')

    def test_without_a_verb_there_is_help(self):
        result = run('/nowhere')
        self.assertEqual(result.returncode, USAGE)
        self.assertEqual(result.stdout, b'')
        self.assertIn(b'monitor', result.stderr)

    def test_wrong_usage(self):
        for arguments in (['nonsense'], ['list', 'x'], ['list', '--nonsense'], ['bind'], ['unbind'], ['unbind', 'a', '--all'], ['wait'], ['wait', 'a', '--for', 'x'],
                          ['wait', 'a', '--timeout', 'x'], ['wait', 'a', '--timeout', '-1'], ['wait', 'a', '--timeout', 'nan'],
                          ['wait', 'a/0'], ['wait', 'a/b'], ['wait', ''], ['wait', '/1'], ['bind', 'a'], ['bind', 'a', '--device', ''],
                          ['bind', 'a', '--runtime'], ['bind', 'a', '--device=x', '--runtime', '--root=/nowhere'],
                          ['list', '\x1b[2J'], ['status', 'a', 'b\nc']):
            with self.subTest(arguments=arguments):
                self.check_error(run('/nowhere', *arguments), USAGE, '--help')

    def test_json_before_the_verb(self):
        with Server() as server:
            for arguments in (['--json', 'list'], ['list', '--json'], ['--json', 'list', '--json']):
                self.assertEqual(self.document(run(server, *arguments)), {'devices': [device(), SIW]})
            self.assertNotIn('{', self.check(run(server, 'list'), FINE))

    def test_no_root_where_no_files_are_read_or_written(self):
        for verb in ('list', 'status', 'bindings', 'monitor', 'wait x', 'reload'):
            for arguments in (['--root=/nowhere', *verb.split()], [*verb.split(), '--root', '/nowhere']):
                self.check_error(run('/nowhere', *arguments), USAGE, '--root is for bind, unbind and verify')

    def test_an_option_without_a_value_does_not_take_the_next_word(self):
        for arguments in (['bind', 'x', '--netdev=', '--node=umad'], ['verify', '--root=', 'bad.link'], ['--socket=', 'list'],
                          ['inhibit', '--why=', '--', 'true'], ['inhibit', '--who=', 'true']):
            option = next(word for word in arguments if word.endswith('='))
            self.check_error(run('/nowhere', *arguments), USAGE, f'there is no value behind {option}; see')

    def test_whatever_of_its_files_is_closed(self):
        with Server() as server:
            for redirections in ('<&-', '2>&-', '<&- 2>&-'):
                result = subprocess.run(['sh', '-c', f'exec "$@" {redirections}', 'sh', *command(server, ('list', '--json'))],
                                        capture_output=True, timeout=120)
                self.assertEqual(self.document(result), {'devices': [device(), SIW]})
            result = subprocess.run(['sh', '-c', 'exec "$@" >&-', 'sh', *command(server, ('list',))], capture_output=True, timeout=120)
            self.check_error(result, FAILED, 'cannot write to standard output')
        # nothing was printed into a connection
        self.assertEqual(server.rests, [b''] * 4)

    def test_an_output_that_does_not_block_gets_all(self):
        many = [device(f'mlx5_{number}', number) for number in range(2000)]
        with Server(Devices_List=lambda _: {'devices': many}) as server:
            ours, theirs = os.pipe()
            os.set_blocking(theirs, False)
            process = subprocess.Popen(command(server, ('list', '--json')), stdout=theirs, stderr=subprocess.PIPE)
            os.close(theirs)
            self.assertEqual(select.select([process.stderr], [], [], 1)[0], [])
            with open(ours, encoding='utf-8') as output:
                self.assertEqual(json.load(output), {'devices': many})
            self.assertEqual((process.stderr.read(), process.wait(120)), (b'', 0))
            process.stderr.close()

    def test_usage_errors_name_the_word(self):
        for arguments, text in ((['nonsense'], "unknown verb 'nonsense'; see"), (['staus'], "unknown verb 'staus'; did you mean status?"),
                                (['--json', 'unbnd', 'x'], "did you mean unbind?"), (['bi'], 'bindings or bind?'), (['list', 'x'], ': x;'),
                                (['wait', 'a', '--for=x'], "unknown goal 'x': use active, ready, present or absent"),
                                (['wait', 'a', '--for=0'], "unknown goal '0'"), (['wait', 'a', '--timeout=x'], "'x' is not a number of seconds")):
            self.check_error(run('/nowhere', *arguments), USAGE, text)

    def test_socket_from_the_environment(self):
        with Server() as server:
            result = subprocess.run([RDMACTL, 'list'], env={'RDMAD_SOCKET': server.path}, capture_output=True, timeout=120)
        self.assertIn('mlx5_0', self.check(result, FINE))


class Unreachable(Case):
    ARGUMENTS = [['list'], ['status'], ['status', 'mlx5_0'], ['bindings'], ['monitor'], ['wait', 'mlx5_0'], ['reload'],
                 ['bind', 'a', '--device=x', '--runtime']]

    def test_no_socket(self):
        for arguments in self.ARGUMENTS:
            with self.subTest(arguments=arguments):
                self.check_error(run('/nowhere/io.rdmad', *arguments), FAILED, 'nobody listens on /nowhere/io.rdmad')

    def test_nobody_listens(self):
        with tempfile.TemporaryDirectory() as folder:
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(folder + '/io.rdmad')
            for arguments in self.ARGUMENTS:
                self.check_error(run(folder + '/io.rdmad', *arguments), FAILED, 'nobody listens on')

    def test_other_trouble(self):
        self.check_error(run('/' + 'x' * 200, 'list'), FAILED, 'File name too long')
        self.check_error(run('/etc/passwd/io.rdmad', 'list'), FAILED, 'Not a directory')


class List(Case):
    def test_a_line_for_each_port(self):
        with Server() as server:
            lines = self.check(run(server, 'list'), FINE).splitlines()
        self.assertEqual([line.split() for line in lines], [
            'DEVICE PORT INDEX TYPE STATE PORT-GUID NETDEV DRIVER PATH UNITS'.split(),
            ['mlx5_0', '1', '0', 'infiniband', 'active', PORT_1, '-', 'mlx5_core', 'pci-0000:c1:00.0', 'srp.service'],
            ['mlx5_0', '2', '0', 'infiniband', 'down', PORT_2, '-', 'mlx5_core', 'pci-0000:c1:00.0', '-'],
            ['siw0', '1', '4', 'infiniband', 'active', '-', 'eth0', '-', '-', '-']])

    def test_an_older_rdmad_tells_units_of_devices(self):
        old = device(ports=[{key: value for key, value in port(1, PORT_1).items() if key != 'units'}])
        with Server(Devices_List=lambda _: {'devices': [old]}) as server:
            self.assertEqual(self.check(run(server, 'list', '--no-legend'), FINE).split()[-1], 'srp.service')

    def test_columns_stand_below_each_other(self):
        with Server() as server:
            lines = self.check(run(server, 'list'), FINE).splitlines()
        for heading in ('STATE', 'PORT-GUID', 'UNITS'):
            at = lines[0].index(heading)
            self.assertTrue(all(line[at - 1] == ' ' and line[at] != ' ' for line in lines), lines)

    def test_no_legend(self):
        with Server() as server:
            lines = self.check(run(server, 'list', '--no-legend'), FINE).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ['mlx5_0', 'mlx5_0', 'siw0'])

    def test_a_device_without_ports_and_a_port_without_address(self):
        devices = [device('a', ports=[]), device('b', 1, ports=[port(1, PORT_1, isReady=False)])]
        with Server(Devices_List=lambda _: {'devices': devices}) as server:
            lines = [line.split() for line in self.check(run(server, 'list', '--no-legend'), FINE).splitlines()]
        self.assertEqual(lines[0][:6], ['a', '-', '0', 'ib', '-', '-'])
        self.assertEqual(lines[1][4], 'no-address')

    def test_no_devices(self):
        with Server(Devices_List=lambda _: {'devices': []}) as server:
            self.assertEqual(self.check(run(server, 'list', '--no-legend'), FINE), '')

    def test_json_is_what_rdmad_said(self):
        with Server() as server:
            self.assertEqual(self.document(run(server, 'list', '--json')), {'devices': [device(), SIW]})

    def test_nothing_is_cut_where_there_is_no_terminal(self):
        with Server(Devices_List=lambda _: {'devices': [device(ports=[port(n, PORT_1, units=['x' * 300 + '.service']) for n in (1, 2)])]}) as server:
            self.assertIn('x' * 300, self.check(run(server, 'list', COLUMNS='40'), FINE))

    def test_a_terminal_is_not_overrun(self):
        with Server(Devices_List=lambda _: {'devices': [device(ports=[port(n, PORT_1, units=['x' * 300 + '.service']) for n in (1, 2)])]}) as server:
            for width in (60, 80, 100, 120, 200):
                lines = on_terminal(server, 'list', COLUMNS=str(width), NO_COLOR='1').splitlines()
                self.assertEqual(len(lines), 3)
                self.assertLessEqual(max(map(len, lines)), width)
                self.assertIn('mlx5_0', lines[1])
                self.assertIn(PORT_1, lines[1])

    def test_80_columns_suffice_for_long_names(self):
        devices = [device('rocep193s0f0np0', driver='hns-roce-vf', ports=[port(1, PORT_1, isReady=False, netdev='enp193s0f0np0',
                                                                            units=['x' * 300 + '.service'])]), device('x' * 63, 1)]
        with Server(Devices_List=lambda _: {'devices': devices}) as server:
            lines = on_terminal(server, 'list', COLUMNS='80', NO_COLOR='1').splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(lines[1].split()[:5], ['rocep193s0f0np0', '1', 'infiniband', 'no-address', PORT_1])

    def test_colours(self):
        with Server() as server:
            self.assertIn('\x1b[32mactive\x1b[0m', on_terminal(server, 'list', COLUMNS='200'))
            self.assertIn('\x1b[31mdown\x1b[0m', on_terminal(server, 'list', COLUMNS='200'))
            self.assertNotIn('\x1b', on_terminal(server, 'list', NO_COLOR='1'))
            self.assertNotIn('\x1b', on_terminal(server, 'list', TERM='dumb'))
            self.assertNotIn('\x1b', self.check(run(server, 'list'), FINE))

    def test_hostile_names(self):
        evil = 'a\x1b[2J\u202e\n'
        with Server(Devices_List=lambda _: {'devices': [device(evil, driver=evil, units=[evil], ports=[port(1, PORT_1, units=[evil])])]}) as server:
            for arguments in (['list'], ['list', '--json'], ['status']):
                output = self.check(run(server, *arguments), FINE)
                self.assertTrue(all(line.isprintable() for line in output.splitlines()), output)

    def test_a_full_disk(self):
        with Server() as server, open('/dev/full', 'wb') as full:
            result = subprocess.run(command(server, ['list']), stdout=full, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(b'No space left', result.stderr)


    def test_nobody_reads(self):
        ours, theirs = os.pipe()
        os.close(ours)
        with Server() as server, open(theirs, 'wb') as pipe:
            result = subprocess.run(command(server, ['list']), stdout=pipe, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (FINE, b''))


class Status(Case):
    def test_all(self):
        with Server() as server:
            text = self.check(run(server, 'status'), FINE)
        self.assertIn('2 devices, 3 ports, 2 usable\n', text)
        self.assertIn('4 units bound: 1 running, 1 waiting, 1 stopped by unplug, 1 left alone\n', text)
        self.assertIn('mlx5_0: ib, mlx5_core, pci-0000:c1:00.0, index 0, node GUID ' + NODE, text)
        self.assertIn(f'  port 2: down, infiniband, {PORT_2}\n', text)
        self.assertIn('  srp.service running (active): its port is there\n', text)
        self.assertIn('    last stop: unplug of mlx5_9/1, 2 h ago\n', text)
        self.assertIn('    last stop: exit, 10 d ago\n', text)
        self.assertLess(text.index('No device for these now'), text.index('pulled.service'))

    def test_a_device_by_name_and_guid(self):
        with Server() as server:
            for what in ('mlx5_0', NODE, PORT_1, '0x' + PORT_1, '0002:c903:0000:0A01'):
                text = self.check(run(server, 'status', what), FINE)
                self.assertIn('mlx5_0: ib', text)
                self.assertIn('firmware 16.35.2000, node uverbs0', text)
                self.assertNotIn('siw0', text)
            self.assertEqual({call.get('device') for call in server.called('Devices.List')}, {'mlx5_0', NODE, PORT_1})

    def test_a_port_of_a_device(self):
        other = unit('other.service', ports=[bound(port=2, guid=PORT_2)])
        with Server(Bindings_List=lambda _: {'bindings': [], 'units': [unit(), other]}) as server:
            for what in ('mlx5_0/1', NODE + '/1', '0x' + PORT_1 + '/1'):
                text = self.check(run(server, 'status', what), FINE)
                self.assertIn('  port 1: active', text)
                self.assertIn('srp.service running', text)
                self.assertNotIn('port 2', text)
                self.assertNotIn('other.service', text)
            [told] = self.document(run(server, 'status', 'mlx5_0/2', '--json'))['devices']
            self.assertEqual((told['ports'], told['units']), ([port(2, PORT_2, 'down')], []))
            self.check_error(run(server, 'status', 'mlx5_0/3'), FAILED, "'mlx5_0' has no port 3")
            self.check_error(run(server, 'status', 'mlx5_9/1'), FAILED, "'mlx5_9/1' is no RDMA device", 'there is mlx5_0')
            self.check_error(run(server, 'status', 'mlx5_0/x'), USAGE, 'number of a port')

    def test_how_a_unit_stands_is_told_once(self):
        with Server() as server:
            text = self.check(run(server, 'status'), FINE)
        self.assertIn('stopped.service left alone (failed): it ended\n', text)
        with Server(Bindings_List=lambda _: {'bindings': [], 'units': [unit(reason='runs')]}) as server:
            self.assertIn('srp.service running (active)\n', self.check(run(server, 'status', 'srp'), FINE))

    def test_what_to_do_about_a_unit_is_told(self):
        start, unmask, reload = ('to have it follow its ports: systemctl start srp.service', 'to have it follow its ports: systemctl unmask srp.service',
                                 'when it has a file: systemctl daemon-reload')
        ended = {'activeState': 'inactive', 'isWanted': False, 'reason': 'is left alone: it ended', 'bindings': ['50-srp.binding']}
        for restart, changes, wanted in (('return', {}, start), ('no', {}, None), ('return', {'bindings': []}, None),
                                         ('return', {'loadState': 'masked'}, unmask), ('no', {'loadState': 'not-found'}, reload),
                                         ('return', {'isWanted': True}, None)):
            one = unit(**{**ended, **changes})
            with Server(Bindings_List=lambda _: {'bindings': [binding(restart=restart)], 'units': [one]}) as server:
                text = self.check(run(server, 'status', 'srp'), NOT_ACTIVE)
            self.assertEqual([line for line in (start, unmask, reload) if f'  {line}\n' in text], [wanted] if wanted else [], (restart, changes))
        # of several files, one with Restart=no keeps rdmad from starting it
        both = unit(**{**ended, 'bindings': ['50-srp.binding', '60-srp.binding']})
        for restart, wanted in (('no', False), ('return', True)):
            files = [binding(), binding(name='60-srp.binding', restart=restart)]
            with Server(Bindings_List=lambda _: {'bindings': files, 'units': [both]}) as server:
                self.assertEqual(start in self.check(run(server, 'status', 'srp'), NOT_ACTIVE), wanted)

    def test_files_with_problems_and_what_files_name_in_vain(self):
        with Server() as server:
            self.assertNotIn('binding file', self.check(run(server, 'status'), FINE))
        files = [binding(missing=[PORT_1, PORT_2]), binding('60-a.binding', problems=['x']), binding('60-b.binding', problems=['x', 'y'])]
        gone = unit(ports=[bound(isPresent=False)])
        with Server(Bindings_List=lambda _: {'bindings': files, 'units': [gone]}) as server:
            text = self.check(run(server, 'status'), FINE)
            self.assertIn('2 binding files with problems: rdmactl bindings lists them; after a correction, run rdmactl reload\n', text)
            for what in (text, self.check(run(server, 'status', 'srp.service'), FINE)):
                self.assertIn(f'nothing has GUID {PORT_2}, which 50-srp.binding names\n', what)
                self.assertNotIn('GUID ' + PORT_1, what)

    def test_a_unit_says_by_its_exit_code_whether_it_runs(self):
        with Server() as server:
            text = self.check(run(server, 'status', 'srp.service'), FINE)
            self.assertIn(f'bound to mlx5_0/1: present, {PORT_1}, umad0', text)
            self.assertIn('by 50-srp.binding', text)
            idle = unit(ports=[bound(isReady=False)], activeState='inactive', reason=f'waits until port {PORT_1} of mlx5_0 can be used')
            with Server(Bindings_List=lambda _: {'bindings': [], 'units': [idle]}) as waits:
                self.assertIn(f'bound to mlx5_0/1: not usable, {PORT_1}, umad0', self.check(run(waits, 'status', 'srp'), NOT_ACTIVE))
            self.assertEqual(self.check(run(server, 'status', 'srp'), FINE), text)
            self.assertIn('gone', self.check(run(server, 'status', 'pulled'), NOT_ACTIVE))
            self.check(run(server, 'status', 'stopped.service'), NOT_ACTIVE)
            self.assertEqual(server.called('Devices.List'), [{'device': name} for name in ('srp', 'pulled')])

    def test_json(self):
        with Server() as server:
            self.assertEqual(sorted(self.document(run(server, 'status', '--json'))), ['bindings', 'devices', 'removing', 'units'])
            self.assertEqual(self.document(run(server, 'status', 'mlx5_0', '--json')), {'devices': [device()], 'removing': []})
            self.assertEqual(self.document(run(server, 'status', 'pulled', '--json'), NOT_ACTIVE)['units'], [PULLED])

    def test_what_is_not_there(self):
        with Server() as server:
            self.check_error(run(server, 'status', 'mlx5_1'), FAILED, "'mlx5_1' is no RDMA device", 'there is mlx5_0')
            self.check_error(run(server, 'status', 'spr.service'), FAILED, "'spr.service'", 'there is srp.service')
            self.check_error(run(server, 'status', 'zzzzzzzz'), FAILED, 'there is mlx5_0, siw0')
            for hostile in (b'\xff\xfe', b'\x1b[2J', b'a\nb', b'x' * 100000):
                self.check_error(run(server, 'status', hostile), FAILED, 'is no RDMA device')


BROKEN = binding('60-x.binding', units=[], matches=[], problems=['/etc/rdmad/binding.d/60-x.binding:3: Unit: is wrong'])


class BindingsTable(Case):
    def test_table_and_problems(self):
        broken = binding('60-x.binding', units=[], matches=[], problems=['/etc/rdmad/binding.d/60-x.binding:3: Unit: is\x1b wrong'])
        with Server(Bindings_List=lambda _: {'bindings': [binding(units=['a.service', 'b.target']), broken], 'units': []}) as server:
            lines = self.check(run(server, 'bindings'), FINE).splitlines()
        self.assertEqual(lines[0].split(), 'NAME UNITS NODE REQUIRE WAITFOR RESTART MATCHES'.split())
        self.assertEqual(lines[1].split(), ['50-srp.binding', 'a.service,b.target', 'umad', 'all', 'active', 'return', 'mlx5_0/1'])
        self.assertEqual(lines[2].split(), ['60-x.binding', '-', 'umad', 'all', 'active', 'return', '-'])
        self.assertEqual(lines[3:], ['', '/etc/rdmad/binding.d/60-x.binding:3: Unit: is\\x1b wrong'])

    def test_80_columns_suffice_for_long_names(self):
        name = '50-srp_daemon_port@%d:%p.service-0123456789abcdef.binding'
        long = binding(name, units=['srp_daemon_port@%d:%p.service', 'x.service'], matches=['rocep193s0f0np0/1'] * 4)
        with Server(Bindings_List=lambda _: {'bindings': [long], 'units': []}) as server:
            lines = on_terminal(server, 'bindings', COLUMNS='80', NO_COLOR='1').splitlines()
            self.assertIn(name, self.check(run(server, 'bindings', COLUMNS='80'), FINE))
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertTrue(lines[1].startswith('50-srp_daemon_port@%d:%'), lines)
        self.assertIn(' srp_daemon_port', lines[1])

    def test_json_and_no_legend(self):
        with Server() as server:
            self.assertEqual(self.document(run(server, 'bindings', '--json')), {'bindings': [binding()]})
            self.assertEqual(len(self.check(run(server, 'bindings', '--no-legend'), FINE).splitlines()), 1)

    def test_without_headings_mistakes_are_not_among_the_lines(self):
        with Server(Bindings_List=lambda _: {'bindings': [binding(), BROKEN], 'units': []}) as server:
            result = run(server, 'bindings', '--no-legend')
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.check_error(result, FINE, BROKEN['problems'][0])


RUNTIME = '# Made by rdmad for this boot: rdmactl bind --runtime\n[Match]\nDevice=*\n[Binding]\nUnit={}.service\n'


class Files(Case):
    """bind, unbind and verify below a folder."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix='rdmactl')
        self.addCleanup(shutil.rmtree, self.root)
        self.folder = self.root + '/etc/rdmad/binding.d'

    def ctl(self, server, *arguments):
        return run(server, '--root', self.root, *arguments)

    def offline(self, *arguments):
        return subprocess.run([RDMACTL, '--root', self.root, *arguments], env={}, capture_output=True, timeout=120)

    def files(self):
        return sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []

    def content(self):
        [name] = self.files()
        with open(f'{self.folder}/{name}', encoding='utf-8') as file:
            return file.read()

    def put(self, name, text, folder='etc/rdmad/binding.d'):
        os.makedirs(f'{self.root}/{folder}', exist_ok=True)
        path = f'{self.root}/{folder}/{name}'
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def matching(self, *matches, units=(), **changes):
        """A server that has read our only file."""
        def bindings(_):
            return {'bindings': [binding('10-other.binding', matches=['mlx5_9/9'])] +
                                [binding(name, matches=list(matches), **changes) for name in self.files()],
                    'units': [{**one, 'bindings': one['bindings'] + self.files()} for one in units]}
        return Server(Bindings_List=bindings)

    def test_bind_writes_a_file_and_tells_rdmad(self):
        with self.matching('mlx5_0/1') as server:
            text = self.check(self.ctl(server, 'bind', 'srp', '--port-guid=0x0002:C903:0000:0a01', '--wait-for=active', '--restart=no',
                                       '--node=umad', '--require=any'), FINE)
            self.assertEqual([call['method'] for call in server.calls], ['io.rdmad.Bindings.Reload', 'io.rdmad.Bindings.List'])
        [name] = self.files()
        self.assertRegex(name, r'^50-srp\.service-[0-9a-f]{16}\.binding$')
        self.assertEqual(text, f'srp.service now lives with mlx5_0/1 ({self.folder}/{name}); rdmad never starts it: --restart=no\n')
        lines = self.content().splitlines()
        self.assertTrue(lines[0].startswith('# Written by "rdmactl bind"'))
        self.assertEqual(lines[1:], ['[Match]', 'PortGUID=' + PORT_1, '[Binding]', 'Unit=srp.service', 'Node=umad', 'Require=any',
                                     'WaitFor=active', 'Restart=no'])
        self.assertEqual(os.stat(f'{self.folder}/{name}').st_mode & 0o7777, 0o644)

    def test_all_match_keys(self):
        self.check(self.offline('bind', 'a.target', '--port-guid', PORT_1, '--node-guid', '0x2c90300000a00', '--link-type', 'infiniband',
                                '--driver', 'mlx5_*', '--device', 'mlx5_0 mlx5_1', '--path', 'pci-*', '--netdev', 'ib0', '--port', '2'), FINE)
        self.assertEqual(self.content().splitlines()[1:11],
                         ['[Match]', 'PortGUID=' + PORT_1, 'NodeGUID=' + NODE, 'LinkType=infiniband', 'Driver=mlx5_*',
                          'Device=mlx5_0 mlx5_1', 'Path=pci-*', 'NetDev=ib0', 'Port=2', '[Binding]'])

    def test_lists_in_parts(self):
        for arguments in (['--port-guid', f'0x{PORT_1},{PORT_2}'], [f'--port-guid={PORT_1}', '--port-guid', PORT_2],
                          [f'--port-guid={PORT_1} {PORT_2}'], [f'--port-guid={PORT_1},', f'--port-guid=0x{PORT_2}']):
            self.check(self.offline('bind', 'a', *arguments), FINE)
            self.assertEqual(self.content().splitlines()[2], f'PortGUID={PORT_1} {PORT_2}')
            self.assertEqual(len(self.files()), 1)
        self.check(self.offline('bind', 'b', '--device=x', '--device=a,b', f'--port-guid={PORT_1}', '--require=any'), FINE)
        with open(f'{self.folder}/{self.files()[1]}', encoding='utf-8') as file:
            self.assertIn('\nDevice=x a,b\n', file.read())

    def test_the_same_again(self):
        with self.matching('mlx5_0/1') as server:
            self.ctl(server, 'bind', 'srp', '--device=mlx5_0')
            before = self.files()
            inode = os.stat(f'{self.folder}/{before[0]}').st_ino
            text = self.check(self.ctl(server, 'bind', 'srp.service', '--device=mlx5_0'), FINE)
        self.assertIn('it was bound that way already: srp.service lives with mlx5_0/1', text)
        self.assertEqual(self.files(), before)
        self.assertEqual(os.stat(f'{self.folder}/{before[0]}').st_ino, inode)

    def test_another_setting_replaces_and_another_match_adds(self):
        self.offline('bind', 'srp', '--device=mlx5_0')
        self.offline('bind', 'srp', '--device=mlx5_0', '--restart=no')
        self.assertIn('Restart=no', self.content())
        self.offline('bind', 'srp', '--device=mlx5_1')
        self.offline('bind', 'other', '--device=mlx5_1')
        self.assertEqual(len(self.files()), 3)

    def test_nothing_matches_yet(self):
        with self.matching() as server:
            self.assertIn('no port matches now; srp.service starts when one appears',
                          self.check(self.ctl(server, 'bind', 'srp', '--device=mlx5_7'), FINE))

    def test_a_unit_that_does_not_run(self):
        units = [unit(activeState='inactive', isWanted=False, reason='is left alone: it was stopped before it was bound', bindings=[])]
        with self.matching('mlx5_0/1', units=units) as server:
            lines = self.check(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FINE).splitlines()
        self.assertTrue(lines[0].startswith('srp.service is now bound to mlx5_0/1 ('), lines)
        self.assertEqual(lines[1:], ['srp.service left alone (inactive): it was stopped before it was bound',
                                     '  to have it follow its ports: systemctl start srp.service'])

    def test_bind_waits_a_moment_for_rdmad_to_know(self):
        asked = []
        def bindings(_):
            asked.append(time.monotonic())
            known = {} if len(asked) < 3 else {'activeState': 'active', 'reason': 'runs'}
            return {'bindings': [binding(name) for name in self.files()],
                    'units': [unit(**{'activeState': None, 'reason': 'systemd has not answered yet', 'bindings': self.files(), **known})]}
        with Server(Bindings_List=bindings) as server:
            text = self.check(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FINE)
        self.assertEqual((text.count('\n'), len(asked)), (1, 3))
        with self.matching('mlx5_0/1', units=[unit(activeState='inactive', reason='is being started', bindings=[])]) as server:
            begin = time.monotonic()
            self.assertIn('srp.service waiting (inactive): is being started\n',
                          self.check(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FINE))
            self.assertLess(time.monotonic() - begin, 60)

    def test_other_files_that_bind_the_unit_are_named(self):
        with self.matching('mlx5_0/1', units=[unit(bindings=['10-other.binding'])]) as server:
            self.check_error(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FINE, 'srp.service', '/etc/rdmad/binding.d/10-other.binding')
        theirs = self.put('10-admin.binding', '[Match]\nDevice=*\n[Binding]\nUnit=srp.service\n')
        result = self.offline('bind', 'srp', '--device=mlx5_0', '--json')
        self.check_error(result, FINE, theirs + ' also binds srp.service')
        self.assertEqual(json.loads(result.stdout)['others'], [theirs])

    def test_a_guid_of_the_wrong_kind(self):
        with self.matching(missing=[NODE]) as server:
            self.check_error(self.ctl(server, 'bind', 'srp', '--port-guid', NODE), FINE, f'{NODE} is the node GUID of mlx5_0',
                             'unbind srp.service', 'bind it by --node-guid')
        with self.matching(missing=[PORT_1]) as server:
            self.check_error(self.ctl(server, 'bind', 'other', '--node-guid', PORT_1), FINE, 'is the port GUID of mlx5_0/1', '--port-guid')

    def test_bind_json(self):
        with self.matching('mlx5_0/1') as server:
            told = self.document(self.ctl(server, 'bind', 'srp', '--device=mlx5_0', '--json'))
        self.assertEqual(told, {'unit': 'srp.service', 'name': self.files()[0], 'path': f'{self.folder}/{self.files()[0]}', 'isNew': True,
                                'matches': ['mlx5_0/1'], 'others': []})

    def test_an_image_that_is_not_there_or_leads_out_of_itself(self):
        verbs = (['bind', 'srp', '--device=x'], ['unbind', 'srp'], ['unbind', '--all'], ['verify'])
        with tempfile.TemporaryDirectory() as other:
            os.makedirs(f'{self.root}/etc')
            os.symlink(other, f'{self.root}/etc/rdmad')
            for verb in verbs:
                self.check_error(self.offline(*verb), FAILED, f'/etc/rdmad/binding.d leads out of the image, to {os.path.realpath(other)}')
            self.assertEqual(os.listdir(other), [])
        for verb in verbs:
            self.check_error(subprocess.run([RDMACTL, '--root=/nowhere', *verb], env={}, capture_output=True, timeout=120), FAILED,
                             '--root=/nowhere: No such file or directory')

    def test_bind_without_rdmad_is_a_warning(self):
        result = self.ctl('/nowhere/io.rdmad', 'bind', 'srp', '--device=mlx5_0')
        self.check_error(result, FINE, 'nobody listens on /nowhere/io.rdmad')
        self.assertIn(b'srp.service will live with the ports that match when rdmad runs', result.stdout)
        self.assertEqual(len(self.files()), 1)

    def test_an_image_is_nothing_for_rdmad(self):
        self.check(self.offline('bind', 'srp', '--device=mlx5_0'), FINE)
        self.check(self.offline('unbind', 'srp'), FINE)

    def test_rdmad_refuses(self):
        def refuse(_):
            raise Refuse('org.varlink.service.PermissionDenied', {})
        with Server(Bindings_Reload=refuse) as server:
            self.check_error(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FAILED, 'is written, but rdmad lets only root')
        self.assertEqual(len(self.files()), 1)

    def test_problems_of_other_files_are_told(self):
        with self.matching('mlx5_0/1') as server:
            server.answers['Bindings.Reload'] = lambda _: {'problems': ['x.binding:1: bad']}
            self.check_error(self.ctl(server, 'bind', 'srp', '--device=mlx5_0'), FINE, 'x.binding:1: bad')

    def test_what_cannot_be_bound(self):
        for arguments, word in (([b'a b', '--device=x'], 'not allowed'), (['../../x', '--device=x'], 'not allowed'), (['a', '--port-guid=12'], 'not a GUID'),
                                (['a', '--link-type=ib'], 'not a link type'), (['a', '--port=0'], 'not a port number'),
                                (['a.automount', '--device=x'], 'does not end in'), (['a', '--device=x', '--node=verbs'], '--node: '),
                                (['a', '--device=x', '--restart=yes'], '--restart: '), (['a', '--device=x\n[Binding]\nUnit=evil.service'], 'line break'),
                                (['a', '--device=x\\', '--port=1'], 'line break'), (['a', b'--device=\xff'], 'UTF-8'), (['a@', '--device=x'], 'template'),
                                (['a%', '--device=x'], "'%'"), (['a', "--device='x"], 'quote'), (['x' * 300, '--device=x'], '255'),
                                (['a', '--device=' + 'x' * 70000], '64 KiB'), (['a', '--port-guid=,'], 'empty'),
                                (['a', '--device=x', '--require=all', '--require=any'], '--require')):
            with self.subTest(arguments=arguments):
                self.check_error(self.offline('bind', *arguments), USAGE, word)
                self.assertEqual(self.files(), [])

    def test_odd_units(self):
        for name in ('a@%d:%p.service', 'srp-a\\x2db.service', 'x' * 247 + '.service'):
            self.check(self.offline('bind', name, '--device=*'), FINE)
            self.assertEqual(len(self.files()), 1)
            self.assertLessEqual(len(self.files()[0]), 255)
            self.check(self.offline('unbind', name), FINE)
            self.assertEqual(self.files(), [])

    def test_a_file_of_somebody_else_stays(self):
        self.offline('bind', 'srp', '--device=mlx5_0')
        [name] = self.files()
        ours = shutil.copy(f'{self.folder}/{name}', self.root + '/ours')
        self.put(name, '# mine\n')
        self.check_error(self.offline('bind', 'srp', '--device=mlx5_0'), FAILED, name, 'did not write it')
        self.assertEqual(self.content(), '# mine\n')
        os.unlink(f'{self.folder}/{name}')
        os.symlink(ours, f'{self.folder}/{name}')
        self.check_error(self.offline('bind', 'srp', '--device=mlx5_0'), FAILED, 'did not write it')

    def test_a_folder_that_cannot_be_written(self):
        os.makedirs(self.root + '/etc')
        with open(self.root + '/etc/rdmad', 'w', encoding='utf-8'):
            pass
        self.check_error(self.offline('bind', 'srp', '--device=mlx5_0'), FAILED, '/etc/rdmad', 'Not a directory')

    def test_runtime(self):
        added = {'name': '50-srp.binding', 'path': '/run/rdmad/binding.d/50-srp.binding'}
        known = {'bindings': [binding(**added)], 'units': [unit()]}
        with Server(Bindings_Add=lambda _: added, Bindings_List=lambda _: known) as server:
            text = self.check(run(server, 'bind', 'srp', '--runtime', '--port-guid=0x' + PORT_1, '--netdev=ib0', '--wait-for=active'), FINE)
            self.assertEqual(server.called('Bindings.Add'),
                             [{'unit': 'srp.service', 'portGuid': PORT_1, 'netdev': 'ib0', 'waitFor': 'active'}])
        self.assertIn('srp.service now lives with mlx5_0/1 (/run/rdmad/binding.d/50-srp.binding)', text)

    def test_a_file_that_has_no_effect(self):
        added = {'name': '50-srp.binding', 'path': '/run/rdmad/binding.d/50-srp.binding'}
        problem = '/etc/rdmad/binding.d/50-srp.binding.d/a.conf:1: Nonsense: unknown key'
        for bindings, words in (([binding()], ['rdmad reads /etc/rdmad/binding.d/50-srp.binding in its place']),
                                ([], ['does not use it', 'masks it']),
                                ([binding(**added, units=[], matches=[], problems=[problem])], ['it binds nothing', problem])):
            known = {'bindings': bindings, 'units': [unit()]}
            with Server(Bindings_Add=lambda _: added, Bindings_List=lambda _: known) as server:
                self.check_error(run(server, 'bind', 'srp', '--runtime', '--device=x'), FAILED, added['path'] + ' is written, but', *words)

    def test_systemd_may_not_start_rdmad(self):
        def hang_up(_):
            return b''
        with Server(Bindings_Reload=hang_up) as server:
            result = self.ctl(server, 'bind', 'srp', '--device=mlx5_0')
            self.check_error(result, FINE, 'the connection to rdmad broke')
            self.assertIn(b'when rdmad runs', result.stdout)
            self.assertEqual(len(self.files()), 1)
            self.check_error(self.ctl(server, 'unbind', 'srp'), FINE, 'the connection to rdmad broke')
            self.assertEqual(self.files(), [])

    def test_runtime_is_refused(self):
        for error, parameters, word in (('io.rdmad.Bindings.InvalidBinding', {'reason': 'no such thing'}, 'no such thing'),
                                        ('org.varlink.service.PermissionDenied', {}, 'only root'),
                                        ('org.varlink.service.MethodNotFound', {'method': 'x'}, 'older'),
                                        ('org.varlink.service.InvalidParameter', {'parameter': 'unit'}, "'unit'"),
                                        ('io.rdmad.TooManyConnections', {}, 'later'), ('io.rdmad.ProtocolError', {'reason': 'bad'}, 'bad'),
                                        ('x.Strange\x1b', {}, 'x.Strange\\x1b')):
            def refuse(_):
                raise Refuse(error, parameters)
            with Server(Bindings_Add=refuse) as server:
                self.check_error(run(server, 'bind', 'srp', '--runtime', '--device=x'), FAILED, word)

    def test_unbind(self):
        def none(parameters):
            raise Refuse('io.rdmad.Bindings.NoSuchUnit', parameters)
        self.offline('bind', 'srp', '--device=mlx5_0')
        self.offline('bind', 'srp', '--device=mlx5_1')
        self.offline('bind', 'other', '--device=mlx5_0')
        runtime, other = (self.put(f'50-{name}.binding', RUNTIME.format(name), 'run/rdmad/binding.d') for name in ('srp', 'other'))
        with Server(Bindings_List=none) as server:
            text = self.check(self.ctl(server, 'unbind', 'srp'), FINE)
            self.assertEqual(len(server.called('Bindings.Reload')), 1)
        self.assertIn(runtime, text)
        self.assertFalse(os.path.exists(runtime))
        self.assertTrue(os.path.exists(other))
        self.assertEqual(text.count('50-srp.service-'), 2)
        self.assertIn('if srp.service runs, it keeps running', text)
        self.assertIn('other', self.content())

    def test_unbind_all(self):
        for unit_name in ('srp', 'other', 'each@%g.service'):
            self.offline('bind', unit_name, '--device=mlx5_0')
        bound = [f'{self.folder}/{name}' for name in self.files()]
        runtime = self.put('50-r.binding', RUNTIME.format('r'), 'run/rdmad/binding.d')
        with Server() as server:
            text = self.check(self.ctl(server, 'unbind', '--all'), FINE)
            self.assertEqual(len(server.called('Bindings.Reload')), 1)
        for path in (*bound, runtime):
            self.assertIn(path, text)
            self.assertFalse(os.path.exists(path))
        self.assertEqual(json.loads(self.check(self.offline('unbind', '--all', '--json'), FINE)), {'removed': [], 'others': []})

    def test_unbind_all_leaves_the_files_of_others(self):
        text = '[Match]\nDevice=*\n[Binding]\nUnit=x.service\n'
        theirs = [self.put('10-admin.binding', text), self.put('20-admin.binding', text, 'run/rdmad/binding.d')]
        self.offline('bind', 'srp', '--device=mlx5_0')
        self.put('hidden', 'no binding')
        result = self.offline('unbind', '--all')
        self.check_error(result, FAILED, 'rdmactl did not write ' + ', '.join(theirs))
        self.assertEqual(self.files(), ['10-admin.binding', 'hidden'])
        self.assertEqual(json.loads(self.offline('unbind', '--all', '--json').stdout), {'removed': [], 'others': theirs})

    def test_a_file_that_cannot_be_removed_keeps_no_other(self):
        for unit in ('a', 'b'):
            self.offline('bind', unit, '--device=mlx5_0')
        runtime = self.folder.replace('/etc/', '/run/')
        shutil.copytree(self.folder, runtime)
        stays = [f'{runtime}/{name}' for name in os.listdir(runtime)]
        with Server() as server:
            os.chmod(runtime, 0o555)
            # what is mounted read-only stops root
            script = f'mount --bind {runtime} {runtime} && mount -o remount,bind,ro {runtime} && exec "$@"'
            mounted = ['unshare', '--mount', 'sh', '-c', script, 'sh'] if os.geteuid() == 0 else []
            result = subprocess.run([*mounted, *command(server, ('--root', self.root, 'unbind', '--all'))], capture_output=True, timeout=120)
            os.chmod(runtime, 0o755)
            self.check_error(result, FAILED, 'removed', *stays, 'Read-only' if mounted else 'Permission denied')
            self.assertEqual(len(server.called('Bindings.Reload')), 1)
        self.assertEqual(self.files(), [])

    def test_a_full_disk_costs_no_binding(self):
        self.offline('bind', 'srp', '--device=mlx5_0')
        [name], text = self.files(), self.content()
        # two pages: one for what is there, and one that fills the file system
        script = ('folder=$1; shift; cp -rT "$folder" "$folder.copy"; mount -t tmpfs -o size=8k none "$folder" && cp "$folder.copy"/* "$folder" && '
                  'head -c 4096 /dev/zero > "$folder/fill"; "$@"; code=$?; rm "$folder/fill"; ls -A "$folder"; cat "$folder"/*; exit $code')
        as_root = [] if os.geteuid() == 0 else ['--map-root-user']
        # another one, and the same with another condition
        for arguments in (['other', '--device=mlx5_0'], ['srp', '--device=mlx5_0', '--wait-for=active']):
            result = subprocess.run(['unshare', '--mount', *as_root, 'sh', '-c', script, 'sh', self.folder, RDMACTL, '--root', self.root, 'bind', *arguments],
                                    capture_output=True, timeout=120)
            self.check_error(result, FAILED, self.folder, 'No space left')
            self.assertEqual(result.stdout.decode(), f'{name}\n{text}')

    def test_unbind_all_where_rdmad_does_not_answer(self):
        self.offline('bind', 'srp', '--device=mlx5_0')
        [name] = self.files()
        def refuse(_):
            raise Refuse('org.varlink.service.PermissionDenied', {})
        with Server(Bindings_Reload=refuse) as server:
            self.check_error(self.ctl(server, 'unbind', '--all'), FAILED, name, 'only root')

    def test_unbind_what_rdmad_has_not_read_yet(self):
        def none(parameters):
            raise Refuse('io.rdmad.Bindings.NoSuchUnit', parameters)
        self.offline('bind', 'srp', '--device=mlx5_0')
        with Server(Bindings_List=none) as server:
            self.check(self.ctl(server, 'unbind', 'srp'), FINE)

    def test_unbind_what_others_bind(self):
        theirs = self.put('10-admin.binding', '[Match]\nDevice=*\n[Binding]\nUnit=srp.service x.service\n')
        self.check_error(self.offline('unbind', 'srp'), FAILED, theirs)
        self.offline('bind', 'srp', '--device=mlx5_0')
        result = self.offline('unbind', 'srp')
        self.check_error(result, FINE, theirs)
        self.assertEqual(self.files(), ['10-admin.binding'])
        self.offline('bind', 'srp', '--device=mlx5_0')
        self.assertEqual(json.loads(self.offline('unbind', 'srp', '--json').stdout)['others'], [theirs])

    def test_unbind_what_only_rdmad_knows(self):
        with Server() as server:
            self.check_error(self.ctl(server, 'unbind', 'srp'), FAILED, '/etc/rdmad/binding.d/50-srp.binding')

    def test_unbind_what_is_not_bound(self):
        self.check_error(self.offline('unbind', 'srp'), FAILED, "'srp.service' is not bound")
        def none(parameters):
            raise Refuse('io.rdmad.Bindings.NoSuchUnit', parameters)
        with Server(Bindings_Remove=none) as server:
            self.check_error(self.ctl(server, 'unbind', 'zzz'), FAILED, "'zzz.service' is not bound")

    def test_unbind_an_instance(self):
        self.offline('bind', 'srp@%d:%p.service', '--device=*')
        [name] = self.files()
        known = binding(name, path=f'{self.folder}/{name}', units=['srp@%d:%p.service'])
        with Server(Bindings_List=lambda _: {'bindings': [known], 'units': [unit('srp@mlx5_0:1.service', bindings=[name])]}) as server:
            for result in (self.ctl(server, 'unbind', 'srp@mlx5_0:1'), self.offline('unbind', 'srp@mlx5_0:1')):
                self.check_error(result, FAILED, name, 'rdmactl unbind srp@%d:%p.service')
        self.assertEqual(self.files(), [name])

    def test_an_edited_file_that_names_more_units_stays(self):
        self.offline('bind', 'srp', '--device=mlx5_0')
        [name] = self.files()
        self.put(name, self.content() + 'Unit=more.service\n')
        self.check_error(self.offline('unbind', 'srp'), FAILED, name)
        self.assertEqual(self.files(), [name])

    def test_verify(self):
        self.put('10-a.binding', f'[Match]\nPortGUID={PORT_1}\n[Binding]\nUnit=a.service\n')
        self.put('20-b.binding', '[Match]\nDevice=none\n[Binding]\nUnit=a.service\n', 'usr/lib/rdmad/binding.d')
        self.put('30-c.binding', '[Match]\nLinkType=infiniband\n[Binding]\nUnit=a.service\n', 'run/rdmad/binding.d')
        with Server() as server:
            text = self.check(self.ctl(server, 'verify'), FINE)
            self.assertEqual(text, '10-a.binding: mlx5_0/1\n20-b.binding: nothing\n30-c.binding: mlx5_0/1, mlx5_0/2, siw0/1\n')
            self.assertEqual(self.document(self.ctl(server, 'verify', '--json')),
                             {'problems': [], 'notes': [], 'matches': {'10-a.binding': ['mlx5_0/1'], '20-b.binding': [],
                                                          '30-c.binding': ['mlx5_0/1', 'mlx5_0/2', 'siw0/1']}})

    def test_verify_finds_problems(self):
        binding_file = self.put('10-a.binding', '[Match]\nDevice=*\n[Binding]\nUnit=a\n')
        link_file = self.put('10-a.link', '[Match]\nOriginalName=*\n[Link]\nNamePolicy=x\x1by\n', 'etc/rdmad/link.d')
        result = self.offline('verify')
        self.assertEqual(result.returncode, FAILED)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith(f"{binding_file}:4: Unit: 'a' is not allowed"))
        self.assertTrue(lines[1].startswith(f'{link_file}:4: NamePolicy: '))
        self.assertTrue(lines[1].isprintable())
        self.assertEqual(len(self.document(self.offline('verify', '--json'), FAILED)['problems']), 2)

    def test_verify_notes_names_that_nobody_reads(self):
        strange = [self.put('a.conf', ''), self.put('b.bindings', ''), self.put('c.binding', '', 'run/rdmad/link.d')]
        self.put('.hidden', '')
        self.put('x.conf', '', 'etc/rdmad/binding.d/10-a.binding.d')
        lines = self.check(self.offline('verify'), FINE).splitlines()
        self.assertEqual([line.split(': note: ')[0] for line in lines[:-1]], strange)
        self.assertIn('rdmad ignores it, as its name does not end in .binding', lines[0])
        self.assertEqual(lines[-1], 'there are no .binding and no .link files')
        self.assertEqual(len(self.document(self.offline('verify', '--json'))['notes']), 3)

    def test_verify_notes_units_without_a_file(self):
        units = 'a.service b.service c@1.service c@%d.service d@%p.service e-%d.service f.slice g@x.target'
        path = self.put('10-a.binding', f'[Match]\nDevice=*\n[Binding]\nUnit={units}\n')
        self.check(self.offline('verify'), FINE)
        for name in ('b.service', 'c@.service'):
            self.put(name, '', 'usr/lib/systemd/system')
        os.makedirs(self.root + '/etc/systemd/system')
        os.symlink('/nowhere', self.root + '/etc/systemd/system/g@x.target')
        notes = self.document(self.offline('verify', '--json'))['notes']
        self.assertEqual(notes, [f'{path}: note: systemd has no file for {name}' for name in ('a.service', 'd@%p.service')])
        self.assertIn(notes[0] + '\n', self.check(self.offline('verify', path), FINE))

    def test_verify_files_that_are_named(self):
        good = self.put('a.binding', '[Match]\nDevice=mlx5_0\nPort=2\n[Binding]\nUnit=a.service\n', 'x')
        with Server() as server:
            self.assertEqual(self.check(self.ctl(server, 'verify', good), FINE), f'{good}: mlx5_0/2\n')
            # two may have one name
            other = self.put('a.binding', '[Match]\nDevice=none\n[Binding]\nUnit=a.service\n', 'y')
            self.assertEqual(self.document(self.ctl(server, 'verify', good, other, '--json'))['matches'], {good: ['mlx5_0/2'], other: []})
            # the last word, too, which has the end of the line after it; where that can be written as it is
            with open('/proc/cmdline') as line:
                words = line.read().split()
            if words and re.fullmatch(r'[\w=.:/,-]+', words[-1]):
                told = self.put('told.binding', f'[Match]\nKernelCommandLine={words[-1]}\nPort=2\n[Binding]\nUnit=a.service\n', 'x')
                self.assertEqual(self.document(self.ctl(server, 'verify', told, '--json'))['matches'], {told: ['mlx5_0/2']})
        for name, word in ((good + '.txt', 'neither'), (self.root + '/no.link', 'No such file')):
            result = self.offline('verify', good, name)
            self.assertEqual(result.returncode, FAILED)
            self.assertIn(word, result.stdout.decode())

    def test_verify_without_rdmad(self):
        self.put('10-a.binding', '[Match]\nDevice=*\n[Binding]\nUnit=a.service\n')
        self.check_error(self.ctl('/nowhere/x', 'verify'), FINE, 'cannot be told', 'nobody listens on /nowhere/x')
        self.put('20-b.binding', '[Match]\nDevice=*\n[Binding]\nUnit=b\n')
        # what is wrong with the files does not depend on what is wrong with rdmad
        with Server(Devices_List=lambda _: b'') as server:
            result = self.ctl(server, 'verify')
            self.check_error(result, FAILED, 'cannot be told', 'broke')
            self.assertIn("20-b.binding:4: Unit: 'b' is not allowed", result.stdout.decode())
        os.unlink(self.folder + '/20-b.binding')
        self.assertEqual(self.document(self.offline('verify', '--json')), {'problems': [], 'notes': [], 'matches': None})

    def test_verify_of_nothing(self):
        self.assertIn('there are no', self.check(self.offline('verify'), FINE))


class Life(Case):
    def lines(self, **changes):
        with Server(Devices_List=lambda _: {'devices': [device(life=life(**changes))]}) as server:
            return self.check(run(server, 'status', 'mlx5_0'), FINE).splitlines()

    def test_status_tells_what_is_worth_telling(self):
        self.assertTrue(self.lines()[1].startswith('  port 1'))
        self.assertEqual(self.lines(state='settling')[1], '  settling')
        self.assertEqual(self.lines(isDegraded=True)[1], '  degraded: none of its ports could be used in time')
        self.assertEqual(self.lines(state='removing', isBlocked=True)[1], '  its removal waits: it is in use')
        self.assertEqual(self.lines(isAccepted=False, cause='replaced')[1],
                         '  in place of another device: some wait for rdmactl accept mlx5_0; went last: replaced')
        self.assertEqual(self.lines(returns=3, heldUntil=7, cause='hot unplug')[1],
                         '  held, as it came back 3 times: nothing is started with it; rdmactl release mlx5_0 ends that; '
                         'went last: hot unplug')

    def test_monitor(self):
        events = [event('snapshot', 1, devices=[]), event('life', 2, change='went', life=life('grace', cause='reset')),
                  event('life', 3, change='state', life=life('returned')), event('life', 4, change='held', life=life())]
        with Server(Devices_Monitor=lambda _: events) as server:
            with subprocess.Popen(command(server, ['monitor']), env={'TZ': 'UTC'}, stdout=subprocess.PIPE) as process:
                seen = [process.stdout.readline().decode().rstrip() for _ in events]
                process.terminate()
        self.assertEqual([line.split(' ', 2)[2] for line in seen[1:]],
                         ['life mlx5_0, went: reset', 'life mlx5_0, returned', 'life mlx5_0, held'])

    def test_release(self):
        with Server(Lifecycle_Release=lambda _: {}) as server:
            self.assertEqual(self.check(run(server, 'release', '0x2c90300000a00'), FINE),
                             '0x2c90300000a00 is not held; rdmactl status shows what may not start yet, and why\n')
            self.assertEqual(server.calls[-1]['parameters'], {'device': NODE})
            self.assertEqual(self.document(run(server, 'release', 'mlx5_0', '--json')), {'device': 'mlx5_0'})

    def test_accept(self):
        with Server(Lifecycle_Accept=lambda _: {}) as server:
            self.assertEqual(self.check(run(server, 'accept', 'mlx5_0'), FINE), 'mlx5_0 is accepted; rdmactl status shows what may not start yet, and why\n')
            self.assertEqual(server.calls[-1]['parameters'], {'device': 'mlx5_0'})

    def test_release_of_nothing(self):
        def refuse(parameters):
            raise Refuse('io.rdmad.Lifecycle.NoSuchDevice', parameters)
        with Server(Lifecycle_Release=refuse) as server:
            result = run(server, 'release', 'mlx5_9')
            self.assertEqual(self.check(result, FAILED), '')
            self.assertEqual(result.stderr, b"rdmactl: 'mlx5_9' is no RDMA device or GUID; rdmactl list shows what is there\n")


HOLDER = {'pid': 412, 'command': 'ib_write_bw', 'unit': 'perftest.service', 'isStored': False, 'nodes': ['uverbs0']}
STORE = {'pid': 1, 'command': 'systemd', 'isStored': True, 'nodes': ['uverbs0']}
BACKUP = {'device': None, 'who': 'backup', 'why': 'it runs', 'mode': 'block'}


class Blocked(Case):
    def status(self, *holders):
        blocked = life('removing', isBlocked=True, **({'holders': list(holders[0])} if holders else {}))
        with Server(Devices_List=lambda _: {'devices': [], 'removing': [blocked]}) as server:
            one = self.check(run(server, 'status', 'mlx5_0'), FINE)
            self.assertIn(one, self.check(run(server, 'status'), FINE))
            return one

    def test_who_blocks_is_told(self):
        self.assertEqual(self.status(), 'mlx5_0, index 0: being removed\n  its removal waits: it is in use\n')
        self.assertIn('it is in use by a part of the kernel, or by mapped memory\n', self.status([]))
        self.assertIn('it is in use by "ib_write_bw" (PID 412) of perftest.service, systemd, which stores a descriptor for some service',
                      self.status([HOLDER, STORE]))

    def test_monitor(self):
        events = [event('snapshot', 1, devices=[]), event('life', 2, change='holders', life=life('removing', holders=[HOLDER])),
                  event('life', 3, change='holders', life=life('removing', holders=[]))]
        with Server(Devices_Monitor=lambda _: events) as server:
            with subprocess.Popen(command(server, ['monitor']), env={'TZ': 'UTC'}, stdout=subprocess.PIPE) as process:
                seen = [process.stdout.readline().decode().rstrip() for _ in events]
                process.terminate()
        self.assertEqual([line.split(' ', 2)[2] for line in seen[1:]],
                         ['life mlx5_0, in use by "ib_write_bw" (PID 412) of perftest.service', 'life mlx5_0, in use by no process'])


class Prepare(Case):
    STEPS = [{'stage': 'inhibited', 'inhibitors': [BACKUP]}, {'stage': 'stopping', 'units': ['a.service', 'b.service']},
             {'stage': 'inUse', 'holders': [HOLDER]}]

    def test_steps_and_the_end(self):
        with Server(Lifecycle_Prepare=lambda _: [*self.STEPS, {'stage': 'safe'}]) as server:
            result = run(server, 'prepare', '0x0002c90300000a00')
            self.assertEqual(result.returncode, FINE)
            self.assertEqual(result.stdout, b'mlx5_0 can be removed; rdmactl resume mlx5_0 undoes this\n')
            self.assertEqual(result.stderr.decode().splitlines(),
                             ['rdmactl: mlx5_0 waits for backup (it runs)', 'rdmactl: mlx5_0 stops a.service, b.service',
                              'rdmactl: mlx5_0 waits for "ib_write_bw" (PID 412) of perftest.service'])
            self.assertEqual(server.called('Lifecycle.Prepare'), [{'device': 'mlx5_0', 'ignoreInhibitors': False}])
            document = self.document(run(server, 'prepare', 'mlx5_0', '--ignore-inhibitors', '--json'))
            self.assertEqual(document, {'device': 'mlx5_0', 'stage': 'safe', 'removed': False})
            self.assertEqual(server.called('Lifecycle.Prepare')[-1]['ignoreInhibitors'], True)

    def refused(self, error, parameters, *options):
        def refuse(_):
            raise Refuse('io.rdmad.Lifecycle.' + error, parameters)
        with Server(Lifecycle_Prepare=refuse) as server:
            return run(server, 'prepare', 'mlx5_0', *options)

    def test_refusals(self):
        for error, parameters, told in (
                ('Inhibited', {'inhibitors': [BACKUP]}, 'mlx5_0 is inhibited by backup (it runs); --ignore-inhibitors goes on all the same'),
                ('InUse', {'holders': [HOLDER]}, 'mlx5_0 is in use by "ib_write_bw" (PID 412) of perftest.service; end that, and run rdmactl prepare mlx5_0 again; '
                 'what was stopped stays so until rdmactl resume mlx5_0'),
                ('InUse', {'reason': 'systemd: it is odd'}, 'who has mlx5_0 open is not known: systemd: it is odd; '
                 'what was stopped stays so until rdmactl resume mlx5_0'),
                ('Busy', {'device': 'mlx5_0'}, 'mlx5_0 is being prepared already; rdmactl resume undoes that'),
                ('Resumed', {'device': 'mlx5_0'}, 'somebody else has resumed mlx5_0'),
                ('Ambiguous', {'devices': ['a', 'b']}, 'several devices are called so: give a name, of a, b')):
            result = self.refused(error, parameters)
            self.assertEqual(self.check(result, {'Inhibited': 4, 'InUse': 5}.get(error, FAILED)), '')
            self.assertEqual(result.stderr.decode(), f'rdmactl: {told}\n')
        result = self.refused('InUse', {'holders': [HOLDER]}, '--json')
        self.assertEqual(result.returncode, 5)
        self.assertEqual(json.loads(result.stdout), {'device': 'mlx5_0', 'refused': 'InUse', 'holders': [HOLDER]})

    def test_several_devices(self):
        with Server(Devices_List=lambda _: {'devices': [device(), device('mlx5_1', 1)]}) as server:
            result = run(server, 'prepare', NODE)
            self.assertEqual(self.check(result, FAILED), '')
            self.assertIn(b'give a name, of mlx5_0, mlx5_1', result.stderr)
            self.assertEqual(server.called('Lifecycle.Prepare'), [])

    def test_what_hangs_on_no_pci_device_is_not_removed(self):
        # a name that no device of this machine has
        with Server(Lifecycle_Prepare=lambda _: [{'stage': 'safe'}], Devices_List=lambda _: {'devices': [device('nowhere0')]}) as server:
            result = run(server, 'prepare', '--remove', 'nowhere0')
            self.assertEqual(self.check(result, FAILED), '')
            self.assertEqual(result.stderr, b'rdmactl: nowhere0 hangs on no device that could be removed; it stays prepared until rdmactl resume nowhere0\n')

    def test_a_device_that_is_renamed_meanwhile_is_removed_by_its_new_name(self):
        for after, told in ((device('nowhere1', 1), 'nowhere1 hangs on no device that could be removed; it stays prepared until rdmactl resume nowhere1'),
                            (device('nowhere0', 2), 'nowhere0 was prepared, and is gone now')):
            lists = [[device('nowhere0', 1)], [after]]
            with Server(Lifecycle_Prepare=lambda _: [{'stage': 'safe'}], Devices_List=lambda _: {'devices': lists.pop(0)}) as server:
                result = run(server, 'prepare', '--remove', 'nowhere0')
            self.assertEqual(self.check(result, FAILED), '')
            self.assertEqual(result.stderr.decode(), f'rdmactl: {told}\n')

    def test_resume(self):
        with Server(Lifecycle_Resume=lambda _: {}) as server:
            self.assertEqual(self.check(run(server, 'resume', 'mlx5_0'), FINE),
                             'mlx5_0 is not prepared for removal; rdmactl status shows what may not start yet, and why\n')
            self.assertEqual(server.calls[-1]['parameters'], {'device': 'mlx5_0'})


class Inhibit(Case):
    def run_under(self, server, *arguments):
        return run(server, 'inhibit', *arguments)

    def test_a_command_runs_meanwhile(self):
        with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
            result = self.run_under(server, '--device=0x0002c90300000a00', '--mode=delay', '--who=me', '--why=because', '--',
                                    'sh', '-c', 'echo "$0 $1"; exit 7', '--json', '--help')
            self.assertEqual((result.returncode, result.stdout, result.stderr), (7, b'--json --help\n', b''))
            self.assertEqual(server.called('Lifecycle.Inhibit'), [{'device': NODE, 'mode': 'delay', 'who': 'me', 'why': 'because'}])
            self.assertEqual(self.run_under(server, '--', 'sh', '-c', 'kill -9 $$').returncode, 137)
            self.assertEqual(server.called('Lifecycle.Inhibit')[-1], {'mode': 'block', 'who': 'sh', 'why': 'no reason given'})
            missing = self.run_under(server, '--', '/nowhere/command')
            self.assertEqual((missing.returncode, missing.stderr), (127, b'rdmactl: /nowhere/command: No such file or directory\n'))

    def test_a_command_gets_its_words_as_they_are(self):
        words = ['sh', '-c', 'printf "%s|" "$@"', 'sh', '[ -e x ]', '[a,b]', '[]', '', '--', '--json', '[::1]', '--why=']
        with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
            for options in (['--'], [], ['--mode', 'delay'], ['--who', 'inhibit', '--why=x', '--']):
                result = self.run_under(server, *options, *words)
                self.assertEqual(self.check(result, FINE), '|'.join(words[4:]) + '|', options)
            self.assertEqual(server.called('Lifecycle.Inhibit')[2]['mode'], 'delay')

    def test_it_objects_until_the_command_has_ended_whatever_ends_it(self):
        for number, ignored in ((signal.SIGTERM, False), (signal.SIGHUP, False), (signal.SIGHUP, True)):
            with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
                script = 'trap "echo told; sleep 1; echo done; exit 3" TERM HUP; echo ready; for i in $(seq 100); do sleep 0.1; done'
                before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
                process = subprocess.Popen(command(server, ('inhibit', '--', 'sh', '-c', script)), stdout=subprocess.PIPE)
                signal.signal(signal.SIGHUP, before)
                self.assertEqual(process.stdout.readline(), b'ready\n')
                process.send_signal(number)
                if ignored: # as under nohup(1)
                    self.assertEqual(select.select([process.stdout], [], [], 0.5)[0], [])
                    process.send_signal(signal.SIGTERM)
                self.assertEqual(process.stdout.read(), b'told\ndone\n')
                self.assertEqual(process.wait(120), 3)
                process.stdout.close()

    def test_a_command_ignores_what_the_caller_ignores(self):
        both = (signal.SIGINT, signal.SIGQUIT)
        for ignored in both:
            with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
                before = [signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL) for number in both]
                try:
                    result = self.run_under(server, '--', 'sed', '-n', 's/SigIgn:\t//p', '/proc/self/status')
                finally:
                    for number, handler in zip(both, before):
                        signal.signal(number, handler)
            mask = int(self.check(result, FINE), 16)
            self.assertEqual({number for number in (*both, signal.SIGPIPE) if mask >> number - 1 & 1}, {ignored})

    def test_a_signal_that_ends_both_is_no_failure_to_systemd(self):
        for number, other in ((signal.SIGTERM, signal.SIGHUP), (signal.SIGHUP, signal.SIGTERM)):
            with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
                before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
                process = subprocess.Popen(command(server, ('inhibit', '--', 'sh', '-c', f'trap "" {other}; echo ready; exec sleep 100')),
                                           stdout=subprocess.PIPE)
                signal.signal(signal.SIGHUP, before)
                self.assertEqual(process.stdout.readline(), b'ready\n')
                # as systemd does with SendSIGHUP=
                process.send_signal(number)
                process.send_signal(other)
                self.assertEqual(process.wait(120), -number)
                process.stdout.close()

    def test_whoever_starts_it_may_ignore_the_end_of_children(self):
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            with Server(Lifecycle_Inhibit=lambda _: [{}, None]) as server:
                process = subprocess.Popen(command(server, ('inhibit', '--', 'sh', '-c', 'exit 7')))
                signal.signal(signal.SIGCHLD, before)
                self.assertEqual(process.wait(120), 7)
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_an_rdmad_that_comes_back_is_asked_again(self):
        # the first one hangs up after its answer, the second one stays
        answers = [json.dumps({'parameters': {}, 'continues': True}).encode() + b'\0', [{}, None]]
        with Server(Lifecycle_Inhibit=lambda _: answers.pop(0)) as server:
            result = self.run_under(server, '--', 'sleep', '2')
            self.assertEqual(result.returncode, FINE)
            self.assertEqual(result.stderr, b'rdmactl: rdmad has ended; until it is back nothing keeps devices from being prepared\n')
            self.assertEqual(answers, [])

    def test_it_ends_with_the_command_though_the_next_rdmad_hangs(self):
        answers = [json.dumps({'parameters': {}, 'continues': True}).encode() + b'\0', [None]]
        with Server(Lifecycle_Inhibit=lambda _: answers.pop(0)) as server:
            process = subprocess.Popen(command(server, ('inhibit', '--', 'sh', '-c', 'sleep 2; exit 7')), stderr=subprocess.DEVNULL)
            # it would wait half a minute for a reply
            self.assertEqual(process.wait(20), 7)
            self.assertEqual(answers, [])

    def test_it_does_not_run_without(self):
        def refuse(_):
            raise Refuse('org.varlink.service.PermissionDenied', {})
        with Server(Lifecycle_Inhibit=refuse) as server:
            result = self.run_under(server, '--', 'echo', 'ran')
            self.assertEqual((result.returncode, result.stdout, result.stderr), (125, b'', b'rdmactl: rdmad lets only root do that\n'))
        self.assertEqual(self.run_under('/nowhere', '--', 'echo', 'ran').returncode, 125)
        self.assertEqual(self.run_under('/nowhere', '--mode=never', '--', 'true').returncode, USAGE)

    def test_list(self):
        with Server(Lifecycle_ListInhibitors=lambda _: {'inhibitors': [BACKUP, {**BACKUP, 'device': 'mlx5_0', 'mode': 'delay'}]}) as server:
            self.assertEqual(self.check(run(server, 'inhibit'), FINE),
                             'any device: block by backup (it runs)\nmlx5_0: delay by backup (it runs)\n')
            self.assertEqual(self.document(run(server, 'inhibit', '--json'))['inhibitors'][0], BACKUP)
        with Server(Lifecycle_ListInhibitors=lambda _: {'inhibitors': []}) as server:
            self.assertEqual(self.check(run(server, 'inhibit'), FINE), 'nobody inhibits anything\n')


class Recover(Case):
    TARGETS = [{'kind': 'nvmet', 'name': 'ports/1', 'address': '192.0.2.1:4420', 'state': 'restored'},
               {'kind': 'iser', 'name': 'iqn.x:a/tpgt_1', 'address': '[2001:db8::1]:3260', 'state': 'waiting', 'reason': 'not\x1b yet'}]

    def test_table_and_reasons(self):
        asked = []
        with Server(Lifecycle_Recover=lambda parameters: asked.append(parameters) or {'targets': self.TARGETS}) as server:
            lines = self.check(run(server, 'recover'), FINE).splitlines()
            self.assertEqual([line.split() for line in lines[:3]],
                             [['KIND', 'TARGET', 'ADDRESS', 'STATE'], ['nvmet', 'ports/1', '192.0.2.1:4420', 'restored'],
                              ['iser', 'iqn.x:a/tpgt_1', '[2001:db8::1]:3260', 'waiting']])
            self.assertEqual(lines[3:], ['', 'iser iqn.x:a/tpgt_1 at [2001:db8::1]:3260: not\\x1b yet'])
            self.assertEqual(self.document(run(server, 'recover', '--dry-run', '--json')), {'targets': self.TARGETS})
        self.assertEqual(asked, [{'dryRun': False}, {'dryRun': True}])

    def test_what_failed_is_the_exit_code(self):
        failed = [{**self.TARGETS[0], 'state': 'failed', 'reason': 'no'}]
        with Server(Lifecycle_Recover=lambda _: {'targets': failed}) as server:
            self.assertIn('failed', self.check(run(server, 'recover'), FAILED))
        with Server(Lifecycle_Recover=lambda _: {'targets': []}) as server:
            self.assertIn('nothing', self.check(run(server, 'recover'), FINE))
        with Server(Lifecycle_Recover=lambda _: {'targets': [{'kind': 7}]}) as server:
            self.check(run(server, 'recover'), FAILED)

    def test_why_nothing_could_be_looked_at(self):
        def refuse(_):
            raise Refuse('io.rdmad.Lifecycle.NotRecovered', {'reason': 'the job is still there'})
        with Server(Lifecycle_Recover=refuse) as server:
            self.check_error(run(server, 'recover'), FAILED, 'the job is still there', 'journalctl -u rdmad-recovery')


class Reload(Case):
    def test_reload(self):
        with Server() as server:
            self.assertEqual(self.check(run(server, 'reload'), FINE), '')
            self.assertEqual(self.document(run(server, 'reload', '--json')), {'problems': []})

    def test_problems(self):
        with Server(Bindings_Reload=lambda _: {'problems': ['a:1: x', 'b:2: \x1b']}) as server:
            result = run(server, 'reload')
            self.assertEqual(self.check(result, FAILED), '')
            self.assertEqual(result.stderr, b'rdmactl: a:1: x\nrdmactl: b:2: \\x1b\n')


EVENTS = [event('snapshot', 7, devices=[device()]), event('port', 8, device=device(ports=[port(1, PORT_1, 'down'), port(2, PORT_2)]), port=1),
          event('rename', 9, device=device('ibp1s0'), oldName='mlx5_0'), event('add', 10, device=SIW),
          event('unit', 11, unit='srp.service', unitState='inactive', reason='its port\x1b is gone'),
          event('binding', 12, binding='50-srp.binding', change='added'), event('remove', 13, device=SIW), event('lost', 20, devices=[])]


class Monitor(Case):
    def test_a_line_for_each_event(self):
        with Server(Devices_Monitor=lambda _: EVENTS + [None]) as server:
            with subprocess.Popen(command(server, ['monitor']), env={'TZ': 'UTC'}, stdout=subprocess.PIPE) as process:
                lines = [process.stdout.readline().decode() for _ in EVENTS]
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(120), FINE)
            self.assertEqual(server.called('Devices.Monitor'), [{'pollPorts': False}])
            self.assertIs(server.calls[0]['more'], True)
        stamp = time.strftime('%Y-%m-%d %H:%M:%S ', time.gmtime(NOW / 1e6))
        self.assertEqual([line.removeprefix(stamp) for line in lines], [
            'snapshot 1 device: mlx5_0\n', 'port mlx5_0/1, state active -> down\n', 'rename ibp1s0, was mlx5_0\n',
            'add siw0, index 4, iw, node GUID 0000000000000005, 1 port\n', 'unit srp.service, inactive, its port\\x1b is gone\n',
            'binding 50-srp.binding, added\n', 'remove siw0, index 4, iw, node GUID 0000000000000005, 1 port\n', 'lost 0 devices\n'])

    def test_json(self):
        with Server(Devices_Monitor=lambda _: EVENTS + [None]) as server:
            with subprocess.Popen(command(server, ['monitor', '--json', '--poll-ports']), stdout=subprocess.PIPE) as process:
                self.assertEqual([json.loads(process.stdout.readline()) for _ in EVENTS], EVENTS)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(120), FINE)
            self.assertEqual(server.called('Devices.Monitor'), [{'pollPorts': True}])

    def test_a_gap_is_told(self):
        events = [event('snapshot', 1, devices=[]), event('binding', 4, binding='x')]
        with Server(Devices_Monitor=lambda _: events) as server:
            with subprocess.Popen(command(server, ['monitor']), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertIn(b'2 events before this one', process.stderr.readline())
                process.terminate()

    def test_the_connection_breaks(self):
        whole = json.dumps({'parameters': EVENTS[0], 'continues': True}).encode() + b'\0'
        with Server(Devices_Monitor=lambda _: whole) as server:
            result = run(server, 'monitor')
        self.check_error(result, FAILED, 'the connection to rdmad broke')
        self.assertIn(b'snapshot', result.stdout)

    def test_the_reader_goes(self):
        with Server(Devices_Monitor=lambda _: [EVENTS[0], None]) as server:
            with subprocess.Popen(command(server, ['monitor']), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.wait(120), FINE)
                self.assertEqual(process.stderr.read(), b'')


class Wait(Case):
    DOWN = device(ports=[port(1, PORT_1, 'down'), port(2, PORT_2, 'down')])

    # a deadline that is not kept ends later than this, one that is kept ends sooner on a busy machine, too
    LATE = 60

    def wait(self, events, *arguments):
        with Server(Devices_Monitor=lambda _: events) as server:
            begin = time.monotonic()
            result = run(server, 'wait', *arguments)
            self.asked = server.called('Devices.Monitor')
            return result, time.monotonic() - begin

    def test_it_is_so_already(self):
        for what in ('mlx5_0/1', PORT_1, '0x' + PORT_1, NODE + '/1'):
            result, _ = self.wait([event('snapshot', devices=[device()]), None], what)
            self.assertEqual(self.check(result, FINE), '')
            self.assertEqual(self.asked, [{'pollPorts': True}])

    def test_it_becomes_so(self):
        up = device(ports=[port(1, PORT_1), port(2, PORT_2)])
        result, took = self.wait([event('snapshot', devices=[]), 0.3, event('add', 2, device=self.DOWN), 0.3,
                                  event('port', 3, device=up, port=1), None], 'mlx5_0')
        self.check(result, FINE, "'mlx5_0' is not there now")
        self.assertGreaterEqual(took, 0.6)

    def test_all_of_several(self):
        result, _ = self.wait([event('snapshot', devices=[device()]), None], PORT_1, 'siw0', '--timeout=0.2')
        self.assertEqual(result.stderr.decode(), "rdmactl: 'siw0' is not there now\nrdmactl: waited 0.2 s: 'siw0' is not there\n")
        self.assertEqual(result.returncode, FAILED)
        result, _ = self.wait([event('snapshot', devices=[device(), SIW]), None], PORT_1, 'siw0')
        self.check(result, FINE)

    def test_a_name_that_may_be_mistyped_is_told_at_once(self):
        note = b"rdmactl: 'mlx5_9' is not there now; there is mlx5_0\n"
        with Server(Devices_Monitor=lambda _: [event('snapshot', devices=[device(), SIW]), None]) as server:
            with subprocess.Popen(command(server, ['wait', 'mlx5_9', '--timeout=60']), stderr=subprocess.PIPE) as process:
                seen = process.stderr.readline()
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(0.3)
                process.kill()
        self.assertEqual(seen, note)
        self.check(self.wait([event('snapshot', devices=[device()]), None], 'mlx5_9', '--for=absent')[0], FINE, note.decode()[9:-1])
        # once, though rdmad is started anew and asked again
        snapshots = [json.dumps({'parameters': event('snapshot', devices=[]), 'continues': True}).encode() + b'\0',
                     [event('snapshot', devices=[device()]), None]]
        with Server(Devices_Monitor=lambda _: snapshots.pop(0)) as server:
            self.check(run(server, 'wait', PORT_1, '--timeout=20'), FINE, f"'{PORT_1}' is not there now")

    def test_the_deadline(self):
        result, took = self.wait([event('snapshot', devices=[self.DOWN]), None], PORT_1, '--timeout=0.5')
        self.check_error(result, FAILED, f'port {PORT_1} of mlx5_0 is down')
        self.assertTrue(0.5 <= took < self.LATE, took)

    def test_the_deadline_holds_while_much_happens(self):
        chatter = [event('snapshot', devices=[self.DOWN])] + [0.01, event('binding', binding='x')] * 100 * self.LATE
        result, took = self.wait(chatter, PORT_1, '--timeout=0.5')
        self.check_error(result, FAILED, 'is down')
        self.assertTrue(0.5 <= took < self.LATE, took)

    def test_a_server_that_says_nothing(self):
        result, took = self.wait([None], PORT_1, '--timeout=0.3')
        self.check_error(result, FAILED, 'did not answer in time')
        self.assertTrue(0.3 <= took < self.LATE, took)

    def test_an_rdmad_that_is_started_anew_is_asked_again(self):
        def snapshot(found):
            return json.dumps({'parameters': event('snapshot', devices=[found]), 'continues': True}).encode() + b'\0'
        answers = [snapshot(self.DOWN), snapshot(self.DOWN), [event('snapshot', devices=[device()]), None]]
        with Server(Devices_Monitor=lambda _: answers.pop(0)) as server:
            self.check(run(server, 'wait', PORT_1, '--timeout=20'), FINE)
            self.assertEqual(len(server.called('Devices.Monitor')), 3)
        # in vain: until the time is over
        with Server(Devices_Monitor=lambda _: snapshot(self.DOWN)) as server:
            self.check_error(run(server, 'wait', PORT_1, '--timeout=1'), FAILED, f'port {PORT_1} of mlx5_0 is down')
        # one that never says anything is not for long, nor one that says what it should not
        with Server(Devices_Monitor=lambda _: b'') as server:
            self.check_error(run(server, 'wait', PORT_1, '--timeout=20'), FAILED, 'the connection to rdmad broke')
            self.assertEqual(len(server.called('Devices.Monitor')), 3)
        with Server(Devices_Monitor=lambda _: [event('snapshot', devices=[self.DOWN]), {'sequence': 1, 'timestamp': 1}, None]) as server:
            self.check_error(run(server, 'wait', PORT_1, '--timeout=20'), FAILED, 'event is missing')
            self.assertEqual(len(server.called('Devices.Monitor')), 1)

    def test_for_ever(self):
        with Server(Devices_Monitor=lambda _: [event('snapshot', devices=[self.DOWN]), None]) as server:
            with subprocess.Popen(command(server, ['wait', 'mlx5_0', '--timeout=0'])) as process:
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(0.5)
                process.kill()

    def test_present_and_absent(self):
        self.check(self.wait([event('snapshot', devices=[self.DOWN]), None], 'mlx5_0', '--for=present')[0], FINE)
        self.assertEqual(self.asked, [{'pollPorts': False}])
        self.check(self.wait([event('snapshot', devices=[SIW]), None], 'mlx5_0', '--for=absent')[0], FINE, "'mlx5_0' is not there now")
        result, _ = self.wait([event('snapshot', devices=[device()]), 0.2, event('remove', 2, device=device()), None], PORT_1, '--for=absent')
        self.check(result, FINE)
        self.check_error(self.wait([event('snapshot', devices=[device()]), None], PORT_1, '--for=absent', '--timeout=0.2')[0], FAILED,
                         f"'{PORT_1}' is there")

    def test_json(self):
        self.assertEqual(self.document(self.wait([event('snapshot', devices=[device()]), None], PORT_1, '--json')[0]),
                         {'for': 'active', 'holds': True, 'seen': None})
        result, _ = self.wait([event('snapshot', devices=[device()]), None], PORT_2, '--json', '--timeout=0.2')
        self.assertEqual(json.loads(result.stdout), {'for': 'active', 'holds': False, 'seen': f'port {PORT_2} of mlx5_0 is down'})
        self.assertEqual(result.returncode, FAILED)


COMPLETE = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_rdmactl
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "${COMPREPLY[@]}"
"""


# As readline breaks a line into words
COMPLETE_LINE = r"""
. /usr/share/bash-completion/bash_completion; . "$1"; COMP_LINE=$2; COMP_POINT=${#2}
COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
mapfile -t COMP_WORDS < <(grep -oE '[^ @=:]+|[@=:]' <<<"$2"); [[ $2 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_rdmactl
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
"""


# Writes what is offered to a file. Names that begin with "builtin" are zsh's own way to call what a function hides.
COMPLETE_ZSH = r"""
fpath=("$1" $fpath); offered=$2; : >$offered
autoload -Uz compinit; compinit -D -u
compadd() {
    if (( ! ${@[(I)-[OAD]]} )); then
        local -a offered_now
        builtin compadd -A offered_now "$@"
        print -rl -- $offered_now >>$offered
    fi
    builtin compadd "$@"
}
completed() { : >${offered:h}/completed }
comppostfuncs=(completed)
bindkey '^I' complete-word
: >${offered:h}/loaded
"""


class Completion(Case):
    def complete_line(self, server, line):
        """As above, but for what bash-completion does; what is behind the last word break."""
        folder = os.path.dirname(os.path.abspath(RDMACTL))
        return subprocess.run(['bash', '-c', COMPLETE_LINE, 'bash', ROOT + '/completions/rdmactl.bash', line],
                              env={'PATH': folder + ':/usr/bin:/bin', 'RDMAD_SOCKET': server.path}, capture_output=True, check=True, text=True,
                              timeout=120).stdout.split()

    @unittest.skipUnless(os.path.exists('/usr/share/bash-completion/bash_completion'), 'bash-completion is not installed')
    def test_words_with_colons_and_ats(self):
        name = 'srp@mlx5_0:1.service'
        with Server(Bindings_List=lambda _: {'bindings': [binding(units=[name, 'srp@%d:%p.service', 'x:y.service'])], 'units': []}) as server:
            self.assertEqual(self.complete_line(server, 'rdmactl unbind srp@ml'), ['mlx5_0:1.service'])
            self.assertEqual(self.complete_line(server, 'rdmactl unbind srp@mlx5_0:'), ['1.service'])
            self.assertEqual(self.complete_line(server, 'rdmactl unbind srp@%d:%p'), ['%p.service'])
            self.assertEqual(self.complete_line(server, 'rdmactl unbind srp@'), ['%d:%p.service', 'mlx5_0:1.service'])
            self.assertEqual(self.complete_line(server, 'rdmactl status x:'), ['y.service'])
            self.assertEqual(self.complete_line(server, 'rdmactl unbind sr'), ['srp@%d:%p.service', name])
            self.assertEqual(self.complete_line(server, 'rdmactl bind a@b:c --port-guid=0002c9'), [PORT_1, PORT_2])
            self.assertEqual(self.complete_line(server, 'rdmactl bind a@b:c.service --req'), ['--require='])

    def test_what_an_option_wants_and_nobody_can_tell(self):
        with Server() as server:
            for words in (['wait', '--timeout'], ['wait', 'mlx5_0', '--timeout', '='], ['inhibit', '--who'], ['inhibit', '--why', '=']):
                self.assertEqual(self.complete(server, *words, ''), [], words)

    def test_node_guids_are_offered_where_a_device_is_meant(self):
        with Server() as server:
            for verb in ('status', 'wait', 'prepare', 'resume', 'release', 'accept'):
                self.assertEqual(self.complete(server, verb, '000'), sorted([PORT_1, PORT_2, NODE, SIW['nodeGuid']]), verb)

    def test_the_command_of_inhibit(self):
        with Server() as server:
            for words in (['--'], [], ['--mode', '=', 'delay'], ['--why', 'x', '--']):
                self.assertIn('setpriv', self.complete(server, 'inhibit', *words, 'setpr'), words)
            self.assertEqual(self.complete(server, 'inhibit', '--', 'ls', '--mode', ROOT + '/README'), [ROOT + '/README.md'])
            self.assertEqual(self.complete(server, 'inhibit', '--mode', '=', 'd'), ['delay'])
            self.assertEqual(self.complete(server, 'inhibit', '--wh'), ['--who=', '--why='])

    def complete_zsh(self, server, line):
        """What zsh offers behind the line."""
        with tempfile.TemporaryDirectory() as home:
            env = {'HOME': home, 'PATH': os.path.dirname(os.path.abspath(RDMACTL)) + ':/usr/bin:/bin', 'RDMAD_SOCKET': server.path,
                   'TERM': 'dumb'}
            process, terminal = pty.fork()
            if process == 0:
                os.execve('/usr/bin/env', ['env', 'zsh', '-f', '-i'], env)
            with open(home + '/rc', 'w', encoding='utf-8') as file:
                file.write(COMPLETE_ZSH)
            os.write(terminal, f'. {home}/rc {ROOT}/completions {home}/offered\n'.encode())
            self.read_until(terminal, lambda: os.path.exists(home + '/loaded'))
            os.write(terminal, line.encode() + b'\t')
            self.read_until(terminal, lambda: os.path.exists(home + '/completed'))
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(terminal)
            with open(home + '/offered', encoding='utf-8') as file:
                return sorted(set(file.read().split()))

    def read_until(self, terminal, holds):
        deadline = time.monotonic() + 120
        seen = b''
        while not holds():
            self.assertLess(time.monotonic(), deadline, seen)
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536)

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_zsh_offers_the_same(self):
        with Server() as server:
            self.assertEqual(self.complete_zsh(server, 'rdmactl wait --timeout '), [])
            self.assertIn('setpriv', self.complete_zsh(server, 'rdmactl inhibit -- setpr'))
            self.assertIn('setpriv', self.complete_zsh(server, 'rdmactl inhibit --mode=delay setpr'))
            for option, wanted in (('port-guid', [PORT_1, PORT_2]), ('driver', ['mlx5_core']), ('device', ['mlx5_0', 'siw0']),
                                   ('path', ['pci-0000:c1:00.0']), ('netdev', ['eth0']), ('port', ['1', '2'])):
                self.assertEqual(self.complete_zsh(server, f'rdmactl bind x --{option}='), wanted, option)
            for verb in ('status', 'wait', 'prepare'):
                self.assertEqual(self.complete_zsh(server, f'rdmactl {verb} 000'), sorted([PORT_1, PORT_2, NODE, SIW['nodeGuid']]), verb)

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_zsh_loads_it(self):
        script = 'fpath=("$1" $fpath); autoload -Uz compinit && compinit -D -u && autoload -U +X _rdmactl && print -r -- $_comps[rdmactl]'
        with tempfile.TemporaryDirectory() as home:
            result = subprocess.run(['zsh', '-f', '-c', script, 'zsh', ROOT + '/completions'], env={'HOME': home, 'PATH': '/usr/bin:/bin'},
                                    capture_output=True, text=True, timeout=120)
        self.assertEqual((result.stdout, result.stderr), ('_rdmactl\n', ''))

    def complete(self, server, *words):
        env = {'PATH': os.path.dirname(os.path.abspath(RDMACTL)) + ':/usr/bin:/bin', 'RDMAD_SOCKET': server.path}
        script = ROOT + '/completions/rdmactl.bash'
        return subprocess.run(['bash', '-c', COMPLETE, 'bash', script, 'rdmactl', *words], env=env, capture_output=True, check=True,
                              text=True, timeout=120).stdout.split()

    def test_verbs_options_and_what_rdmad_knows(self):
        with Server() as server:
            self.assertEqual(sorted(self.complete(server, '')), sorted(VERBS))
            self.assertEqual(self.complete(server, 'mon'), ['monitor'])
            self.assertEqual(self.complete(server, 'monitor', '--p'), ['--poll-ports'])
            self.assertEqual(self.complete(server, 'wait', 'mlx'), ['mlx5_0'])
            self.assertEqual(self.complete(server, 'status', 'srp'), ['srp.service'])
            self.assertEqual(self.complete(server, 'unbind', ''), ['srp.service'])
            self.assertEqual(self.complete(server, 'bind', 'a', '--port-guid', '=', '0002c9'), [PORT_1, PORT_2])
            self.assertEqual(self.complete(server, 'bind', 'a', '--netdev', '='), ['eth0'])
            self.assertEqual(self.complete(server, 'bind', 'a', '--node-guid', '='), [SIW['nodeGuid'], NODE])
            self.assertEqual(self.complete(server, '--root', '/', 'wait', 'x', '--for', 'a'), ['absent', 'active'])

    def test_files_with_mistakes_are_not_offered(self):
        with Server(Bindings_List=lambda _: {'bindings': [BROKEN, binding()], 'units': [unit()]}) as server:
            self.assertEqual(self.complete(server, 'unbind', ''), ['srp.service'])

    def test_names_are_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            evil = f'a$(>{folder}/x)`>{folder}/y`;*'
            with Server(Devices_List=lambda _: {'devices': [device(evil)]}) as server:
                self.complete(server, 'wait', '')
            self.assertEqual(os.listdir(folder), [])

    def test_an_image_is_offered_where_it_is_taken(self):
        with Server() as server:
            offered = {verb for verb in VERBS if '--root' in self.complete(server, verb, '--ro')}
        self.assertEqual(offered, {'bind', 'unbind', 'verify'})

    def test_both_shells_know_all_options(self):
        options = {option for verb in ([], *([verb] for verb in VERBS))
                   for option in re.findall(r'--[a-z-]+', self.check(run('/nowhere', *verb, '--help'), FINE))}
        self.assertGreater(len(options), 15)
        for name in ('rdmactl.bash', '_rdmactl'):
            with open(f'{ROOT}/completions/{name}', encoding='utf-8') as file:
                known = set(re.findall(r'--[a-z-]+', file.read()))
            self.assertEqual(options - known, set(), name)


class BrokenServer(Case):
    def check_broken(self, answer, *words, arguments=('list',), **answers):
        with Server(**(answers or {'Devices_List': lambda _: answer})) as server:
            return self.check_error(run(server, *arguments), FAILED, *words)

    def test_what_is_no_answer(self):
        for answer in (b'{"parameters":{"devices":[', b'', b'{"parameters"'):
            self.check_broken(answer, 'the connection to rdmad broke')
        for answer in (b'\0', b'x\0', b'[]\0', b'"x"\0', b'null\0', b'{"parameters":[]}\0', b'{"parameters":{"devices":[\0', b'\xff\0',
                       b'{"error":7}\0', b'{"error":""}\0', b'{"continues":1}\0', b'{"parameters":{"devices":["\xff"]}}\0'):
            self.check_broken(answer, "rdmad's answer is wrong")

    def test_deep_nesting(self):
        for deep in (b'[' * 5_000_000, b'{"a":' * 1_000_000):
            self.check_broken(b'{"parameters":{"x":' + deep + b'\0', 'nests too deep')
        self.check_broken(b'{"parameters":{"x":"' + b'[' * 100 + b'\\""}}\0', 'devices')

    def test_wrong_types(self):
        for wrong in (None, 7, 'x', {}, [7], [None], ['x'], [[]], [{}]):
            self.check_broken({'devices': wrong}, "rdmad's answer is wrong: devices")
        for key, wrong in (('name', None), ('index', -1), ('index', 1 << 32), ('index', 1.5), ('nodeGuid', 'x'), ('nodeGuid', NODE.upper()),
                           ('driver', 7), ('ports', None), ('ports', [{}]), ('units', [7]), ('ports', [port(1, 'zz')])):
            self.check_broken({'devices': [device(), device(**{key: wrong})]}, 'devices[1].' + key)

    def test_wrong_answers_of_other_methods(self):
        self.check_broken(None, 'units[0].stop.cause', arguments=['status'],
                          Bindings_List=lambda _: {'bindings': [], 'units': [unit(stop={'timestamp': 1})]})
        self.check_broken(None, 'bindings[0].matches[0]', arguments=['bindings'],
                          Bindings_List=lambda _: {'bindings': [binding(matches=[1])], 'units': []})
        self.check_broken(None, 'problems', arguments=['reload'], Bindings_Reload=lambda _: {})
        self.check_broken(None, 'event is missing', arguments=['monitor'], Devices_Monitor=lambda _: [{'sequence': 1, 'timestamp': 1}])
        self.check_broken(None, 'timestamp', arguments=['wait', 'x'], Devices_Monitor=lambda _: [event('add', timestamp=1 << 63)])
        self.check_broken(None, 'path', arguments=['bind', 'x', '--device=x', '--runtime'], Bindings_Add=lambda _: {'name': 'x'})

    def test_hang_up_at_once(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(folder + '/s')
            listener.listen()
            thread = threading.Thread(target=lambda: listener.accept()[0].close())
            thread.start()
            self.check_error(run(folder + '/s', 'list'), FAILED, 'the connection to rdmad broke')
            thread.join()

    def test_gigabytes_without_end(self):
        def flood():
            connection, _ = listener.accept()
            with connection, contextlib.suppress(ConnectionError):
                for _ in range(4096):
                    connection.sendall(b'x' * (1 << 20))
                unending.append(True)
        unending = []
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(folder + '/s')
            listener.listen()
            thread = threading.Thread(target=flood)
            thread.start()
            self.check_error(run(folder + '/s', 'list'), FAILED, 'longer than 64 MiB')
            thread.join()
        self.assertEqual(unending, [])

    def test_members_that_are_new_and_times_that_are_odd(self):
        odd = unit(stop={'cause': 'unplug', 'timestamp': (1 << 63) - 1, 'new': []})
        with Server(Bindings_List=lambda _: {'bindings': [], 'units': [odd], 'new': {'a': [1]}}) as server:
            self.assertIn('just now', self.check(run(server, 'status'), FINE))
        with Server(Devices_Monitor=lambda _: [event('binding', timestamp=(1 << 63) - 1, binding='x'), None]) as server:
            with subprocess.Popen(command(server, ['monitor']), stdout=subprocess.PIPE) as process:
                self.assertIn(b'binding x', process.stdout.readline())
                process.terminate()


if __name__ == '__main__':
    if not os.access(RDMACTL, os.X_OK):
        print('skipped: there is no ' + RDMACTL)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
