# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# persist_seeds.py DIRECTORY: writes small files of the option persist, with one
# bucket of each type, cells and all kinds of notes. The layout is that of
# rt/sys/persist_head.h, rt/bucket/bucket.h and rt/bucket/counts.h.

import os
import struct
import sys

BASE = 0x7f0000000000
HEAD, BUCKET, CELL, STATS, CHECK, ROOTS = 1240, 208, 64, 26, 624, 632
MEM, BLOCK, MUTEX, THREAD, CUSTOM = 1, 2, 3, 4, 6
MODULE, LABELS, LOCK, PROFILE = 1, 2, 3, 4


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % (1 << 64)
    return h


class File:
    def __init__(self):
        self.data = bytearray(1280)
        self.notes = 0
        self.first = [0] * 8

    def add(self, data):
        while len(self.data) % 64:
            self.data.append(0)
        at = BASE + len(self.data)
        self.data += data
        return at

    def note(self, kind, data):
        self.notes = self.add(struct.pack("<QII", self.notes, kind, len(data)) + data)

    def bucket(self, kind, counts, size, stack, wait=0, labels=0, cells=0):
        b = bytearray(BUCKET)
        struct.pack_into("<%dQ" % len(counts), b, 0, *counts)
        # hash, size, rate, stack_len, tells, cells, owner, type, skip, end, kind,
        # labels, gone, allnext
        struct.pack_into("<QQIHHIHBBBBHIQ", b, 160, 7, size, 512, len(stack), 0, cells,
                         1, kind, 0, 0, wait, labels, 0, self.first[kind])
        self.first[kind] = self.add(b + struct.pack("<%dQ" % len(stack), *stack))

    def bytes(self):
        head = bytearray(HEAD)
        struct.pack_into("<16sIIIIQqQQQiI32s512sQ", head, 0, b"MProf persist 1", HEAD,
                         BUCKET, CELL, STATS, BASE, 1, 512, 1, 1, 42, 0, b"0.1.0",
                         b"/bin/app", 0)
        struct.pack_into("<Q", head, CHECK, fnv(head[:CHECK]))
        struct.pack_into("<9Q", head, ROOTS, *self.first, self.notes)
        struct.pack_into("<QQ", head, ROOTS + 72, len(self.data), 1000000000)
        return bytes(head) + bytes(self.data[HEAD:])


def make(kinds):
    f = File()
    f.note(MODULE, struct.pack("<QQQQQII41s256s7x", 0x1000, 0x9000, 0, 0x1000, 0, 0,
                               0xffffffff, b"ab12", b"/bin/app"))
    f.note(LABELS, struct.pack("<II", 1, 1) + b"key\0value\0")
    f.note(LOCK, struct.pack("<Q", 0x5000) + b"name (0x5000)\0")
    f.note(PROFILE, struct.pack("<Q", 1) + b"sessions\0")
    cell = f.add(struct.pack("<6Q16x", 1, 1, 2, 0, 0, 0))
    line = f.add(struct.pack("<16I", 0, (cell - BASE) // 64, *[0] * 14))
    stack = [0x1234, 0x2345, 0x99999]
    if MEM in kinds:
        f.bucket(MEM, [5, 2, 0, 1, 0, 0], 100, stack, labels=1,
                 cells=(line - BASE) // 64)
        f.bucket(MEM, [5, 2, 0, 1, 0, 0], 3000, stack[1:])
    for kind in {BLOCK, MUTEX} & kinds:
        f.bucket(kind, [3 << 20, 5000], 0x5000, stack, wait=1)
    if THREAD in kinds:
        f.bucket(THREAD, [2], 0, [])
    if CUSTOM in kinds:
        f.bucket(CUSTOM, [2], 1, stack)
    return f.bytes()


def main():
    every = {MEM, BLOCK, MUTEX, THREAD, CUSTOM}
    for i, kinds in enumerate([every, {MEM}, {BLOCK, MUTEX}, set()]):
        with open(os.path.join(sys.argv[1], str(i)), "wb") as f:
            f.write(make(kinds))


main()
