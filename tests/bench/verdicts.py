# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a benchmark wants, and whether it got that."""


class Verdicts:
    def __init__(self):
        self.missed = 0

    def of(self, value, most):
        self.missed += value > most
        return f'wanted {most} at most: {"NOT REACHED" if value > most else "reached"}'
