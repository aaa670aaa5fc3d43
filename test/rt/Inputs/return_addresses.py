# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# return_addresses.py TRACE: prints the addresses in all stacks of a trace of the
# format 1.5, each less 1, so that it lies inside of the call.

import sys

STACK = 3
data = open(sys.argv[1], "rb").read()
assert data[:16] == b"go 1.5 trace\0\0\0\0"
at = 16


def number():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


while at < len(data):
    kind, count = data[at] & 63, data[at] >> 6
    at += 1
    if count < 3:
        for _ in range(count + 2):
            number()
        continue
    end = number() + at
    if kind == STACK:
        number()
        for _ in range(number()):
            print("0x%x" % (number() - 1))
    at = end
