#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""command_line.py RDMA_ID VERSION: runs the program as a user or a script would. No device and no privilege is needed."""
import os
import re
import subprocess
import sys
import unittest

RDMA_ID, VERSION = sys.argv[1:3]
FOUND, NOT_FOUND, USAGE, REFUSED, IN_THE_WAY = range(5)
OPTIONS = ['-x', '--export', '-j', '--json', '--event', '--load-listed', '--no-load', '--rename', '--test-link', '--naming', '-h',
           '--help', '--version', 'DEVICE']
# what udev sets; the test itself may run below it
EVENT = ['DEVPATH', 'SUBSYSTEM', 'ACTION', 'ID_RDMA_INDEX']


def run(*arguments, **event):
    environment = {key: value for key, value in os.environ.items() if key not in EVENT}
    environment.update(event)
    return subprocess.run([RDMA_ID, *arguments], env=environment, capture_output=True, timeout=60)


class CommandLine(unittest.TestCase):
    def check(self, result, code, silent=True):
        self.assertEqual(result.returncode, code, result)
        if silent:
            self.assertEqual(result.stdout, b'')

    def check_terminal(self, text):
        """Nothing that steers a terminal or could pass for a second message."""
        self.assertTrue(text.endswith(b'\n'), text)
        decoded = text.decode('utf-8')
        for line in decoded[:-1].split('\n'):
            self.assertTrue(line.startswith('rdma_id: '), text)
            self.assertTrue(line.isprintable(), text)

    def test_help_names_each_option(self):
        for option in ['--help', '-h']:
            result = run(option)
            self.check(result, FOUND, silent=False)
            self.assertEqual(result.stderr, b'')
            words = re.findall(r'[A-Z]+|--?[a-z][a-z-]*', result.stdout.decode())
            for known in OPTIONS:
                self.assertIn(known, words)

    def test_help_names_no_option_that_there_is_not(self):
        text = run('--help').stdout.decode()
        for option in re.findall(r'^ +(?:(-\w), )?(--[a-z-]+)', text, re.MULTILINE):
            self.assertIn(option[1], OPTIONS)

    def test_help_tells_the_exit_codes(self):
        text = ' '.join(run('--help').stdout.decode().split())
        codes = re.search(r'Exit code: (.*?)\.', text)[1]
        self.assertEqual(re.findall(r'\b\d\b', codes), [str(code) for code in (FOUND, NOT_FOUND, USAGE, REFUSED, IN_THE_WAY)])

    def test_help_fits_a_terminal(self):
        for line in run('--help').stdout.decode().splitlines():
            self.assertLessEqual(len(line), 100)

    def test_version(self):
        result = run('--version')
        self.check(result, FOUND, silent=False)
        self.assertEqual(result.stdout.decode(), f'rdma_id {VERSION}\n')

    def test_unknown_option(self):
        for option in ['--nonsense', '-q', '--json=1', '--export=x']:
            result = run(option, 'mlx5_0')
            self.check(result, USAGE)
            self.assertIn(b'--help', result.stderr)

    def test_options_that_do_not_go_together(self):
        for arguments in (['--rename', 'mlx5_0'], ['--naming', 'status', 'mlx5_0'], ['--test-link'], ['--naming'],
                          ['--naming', 'maybe']):
            result = run(*arguments)
            self.check(result, USAGE)
            self.check_terminal(result.stderr)
            self.assertIn(b'--help', result.stderr)

    def test_two_devices(self):
        result = run('mlx5_0', 'mlx5_1')
        self.check(result, USAGE)
        self.assertIn(b'mlx5_1', result.stderr)

    def test_neither_device_nor_event(self):
        for arguments in [[], ['--export'], ['--json']]:
            result = run(*arguments)
            self.check(result, USAGE)
            self.check_terminal(result.stderr)

    def test_what_is_no_rdma_device(self):
        for device in ['no-such-device', '/dev/null', '/sys', '/etc/passwd', '/nonexistent/path', '.', '..', '/']:
            for format in [[], ['--export'], ['--json']]:
                result = run(*format, device)
                self.check(result, NOT_FOUND)
                self.assertIn(f"'{device}'".encode(), result.stderr)
                self.check_terminal(result.stderr)

    def test_empty_device(self):
        self.check(run(''), NOT_FOUND)

    def test_hostile_device(self):
        for device in [b'evil\nrdma_id: all is well', b'\x1b[2J\x1b]0;title\x07', b'\xff\xfe', b'\xc2\x9b31m', b'a\rb', b'/dev/\n',
                       b'/' + b'x' * 5000, b'%s%n%s']:
            result = run(device)
            self.check(result, NOT_FOUND)
            self.check_terminal(result.stderr)
            self.assertEqual(result.stderr.count(b'\n'), 1)

    def test_name_longer_than_any(self):
        for length in [64, 255, 256, 4096, 100000]:
            result = run('x' * length)
            self.check(result, NOT_FOUND)
            self.check_terminal(result.stderr)

    def test_hostile_command_line(self):
        for arguments in [(b'a', b'x\x1b[2J'), (b'--x\x1b[2J',), (b'a', b'x\nrdma_id: all is well')]:
            result = run(*arguments)
            self.check(result, USAGE)
            self.check_terminal(result.stderr)

    def test_event_of_a_device_that_has_gone(self):
        for subsystem in ['infiniband', 'infiniband_verbs', 'infiniband_mad', 'net']:
            result = run('--export', DEVPATH='/devices/virtual/gone/gone0', SUBSYSTEM=subsystem, ACTION='add')
            self.check(result, NOT_FOUND)
            # each device that goes early would fill the journal
            self.assertEqual(result.stderr, b'')


if __name__ == '__main__':
    if not os.access(RDMA_ID, os.X_OK):
        print('skipped: there is no ' + RDMA_ID)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
