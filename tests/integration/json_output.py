#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""json_output.py PRINT_JSON: what rdma_id --json prints is JSON, whatever a device is called, and says what it is called."""
import json
import subprocess
import sys
import unittest

PRINT_JSON = sys.argv[1]
TEXTS = [b'mlx5_0', b'"', b'\\', b'\\"', b'","index":7,"x":"', b'\n', bytes(range(128)), bytes(range(128, 256)), b'\x00', b'\x7f',
         'é€\U0001f600'.encode(), b'\xed\xa0\x80', b'\xc0\x80', b'\xf4\x90\x80\x80', b'\xe2\x82', b'a\xffb', b'\\u0041', b'</script>',
         '\u2028'.encode(), '\u0085'.encode(), b'x' * 5000]
KEYS = ['index', 'name', 'node', 'driver', 'protocol', 'nodeType', 'nodeGuid', 'sysImageGuid', 'firmware', 'ports', 'links', 'aliases']
PORT_KEYS = ['port', 'linkType', 'portGuid', 'netdev', 'state']


def pairs(items):
    """Of a key that comes twice, json takes the last: here it is an error."""
    keys = [key for key, _ in items]
    assert len(keys) == len(set(keys)), keys
    return dict(items)


def printed(text, ports):
    output = subprocess.run([PRINT_JSON, text.hex(), str(ports)], check=True, capture_output=True, timeout=60).stdout
    assert output.endswith(b'\n') and output.count(b'\n') == 1
    return json.loads(output.decode('utf-8', 'strict'), object_pairs_hook=pairs)


class JsonOutput(unittest.TestCase):
    def check(self, value, text):
        # how many U+FFFD stand for what is not UTF-8 is a matter of taste
        self.assertEqual(value.replace('\ufffd', ''), text.decode('utf-8', 'ignore'))

    def test_any_text(self):
        for text in TEXTS:
            with self.subTest(text=text[:40]):
                device = printed(text, 2)
                self.assertEqual(sorted(device), sorted(KEYS))
                self.assertEqual(len(device['ports']), 2)
                self.assertEqual(len(device['links']), 2)
                self.assertEqual(len(device['aliases']), 1)
                values = [device[key] for key in ('name', 'node', 'driver', 'protocol', 'firmware')]
                values += device['links'] + device['aliases']
                for port in device['ports']:
                    self.assertEqual(sorted(port), sorted(PORT_KEYS))
                    values.append(port['netdev'])
                for value in values:
                    self.check(value, text)

    def test_what_is_not_known_is_null(self):
        device = printed(b'', 1)
        self.assertIsNone(device['firmware'])
        self.assertIsNone(device['driver'])
        self.assertIsNone(device['ports'][0]['portGuid'])
        self.assertIsNone(device['ports'][0]['netdev'])

    def test_numbers_are_numbers(self):
        device = printed(b'x', 3)
        self.assertEqual(device['index'], 0)
        self.assertEqual([port['port'] for port in device['ports']], [1, 2, 3])

    def test_no_ports(self):
        self.assertEqual(printed(b'x', 0)['ports'], [])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
