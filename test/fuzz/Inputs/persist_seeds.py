# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# persist_seeds.py DIRECTORY: writes small files of the option persist, with one
# bucket of each type, cells, all kinds of notes, and a trace. The layout is that of
# rt/sys/persistent.h, of bucket.h, heapx.h and peak.h in rt/bucket, and of
# trace_buf.h, trace_records.h and trace_rows.h in rt/trace.

import os
import struct
import sys

BASE = 0x7f0000000000
HEAD, BUCKET, CELL, CHECK, ROOTS = 1392, 224, 64, 664, 672
with open(os.path.join(os.path.dirname(__file__), "../../../rt/sys/stats.def")) as stats:
    STATS = sum(line.startswith("MPROF_STAT(") for line in stats)
ROW, BUFFER, HEAPX, HEAPX_CELL = 832, 96, 960, 192
MEM, BLOCK, MUTEX, THREAD, TRACE, CUSTOM, CPU = 1, 2, 3, 4, 5, 6, 8
MODULE, LABELS, LOCK, PROFILE, HOOK = 1, 2, 3, 4, 5
# Types of records, and how a thread enters the trace.
(BEGIN, END, CREATE, BLOCK_SYNC, BLOCK_COND, SLEEP, START, START_SELF, WAKE, CALL,
 CALL_LONG, HEAP, GC_START, GC_DONE, TASK, TASK_END, REGION, LOG, LABEL_SET, CHARGE) = (
     1, 2, 5, 6, 7, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25)
FROM_CREATE, FROM_UNKNOWN = 0, 4


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % (1 << 64)
    return h


def leb(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def record(kind, *numbers, text=b""):
    """The first number is the ticks since the last record."""
    return bytes([kind]) + b"".join(map(leb, numbers)) + text


def wake(ticks, stack, g, seq):
    """Returns a function, because the record depends on the bytes before it."""

    def at(length):
        r = record(WAKE, ticks, stack)
        r += bytes(-(length + len(r)) % 8)
        return r + struct.pack("<Q", g << 32 | seq)

    return at


def joined(records):
    data = b""
    for r in records:
        data += r(len(data)) if callable(r) else r
    return data


class File:
    def __init__(self, heapx=0, peak=0, trace_format=b"1.23", tick_div=64):
        self.data = bytearray((HEAD + 63) // 64 * 64)
        self.notes = self.rows = 0
        self.first = [0] * 16
        self.heapx, self.peak, self.format = heapx, peak, trace_format
        self.tick_div = tick_div

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
        # hash, allnext, size, rate, stack_len, roots_plus_1, cells, gone, owner, type, skip,
        # end, kind, labels
        struct.pack_into("<QQQIHHIIHBBBBH", b, 176, 7, self.first[kind], size, 512,
                         len(stack), 0, cells, 0, 1, kind, 0, 0, wait, labels)
        b += struct.pack("<%dQ" % len(stack), *stack)
        if kind == MEM and self.peak:  # now, at_peak, peak, weight
            self.add(struct.pack("<QQQQQq16x", 5, 2, 4, 1, 3, 512))
        if kind == MEM and self.heapx:
            b += bytes(-len(b) % 64) + struct.pack("<6Q", 1, 2, 3, 400, 50, 5)
            b += bytes(528 - 48) + struct.pack("<49Q", 300, *[0] * 5, 2, *[0] * 42)
            b += bytes(HEAPX - 528 - 8 * 49)
        self.first[kind] = self.add(b)
        return self.first[kind]

    def handle(self, address):
        return (address - BASE) // 64

    def row(self, number, records, g, open_ticks=0, is_cut=0):
        half = [records[:len(records) // 2], records[len(records) // 2:]]
        after, state = 0, (0, 0)
        for part in reversed(half):
            data = joined(part)
            first = part is half[0]
            # next, row, size, len, ticks, g, seq, start, tid, waits, labels, slots,
            # generation, unmap_only, is_stuck, is_ready, is_kept
            b = struct.pack("<QIII4xQQIIi?xHII????", after, number, 4096 - BUFFER, len(data),
                            100 if first else 150, 0 if first else g, 1, 0, 7, False,
                            0, 0, 0, False, False, True, True)
            after = self.add(b + bytes(BUFFER - len(b)) + data)
        r = bytearray(ROW)
        struct.pack_into("<QQQQ?7xQQII", r, 0, self.rows, 0, after, 0, is_cut, 200, g, 3,
                         number)
        struct.pack_into("<QII", r, 136, open_ticks, self.stack if open_ticks else 0, SLEEP)
        self.rows = self.add(r)

    def bytes(self):
        head = bytearray(HEAD)
        struct.pack_into("<16sIIIIQqQQQiIIIQQ16s32s512sQ", head, 0, b"MProf persist 8",
                         HEAD, BUCKET, CELL, STATS, BASE, 1, 512, 1, 1, 42, 0, self.heapx,
                         self.peak, self.tick_div, 50, self.format, b"0.1.0", b"/bin/app", 0)
        struct.pack_into("<Q", head, CHECK, fnv(head[:CHECK]))
        struct.pack_into("<19Q", head, ROOTS, *self.first, self.notes, self.rows, 0)
        # bytes, ticks_per_second, peak_number, peak_ticks, row_size, buffer_size,
        # trace_keep_ns, processors, state
        struct.pack_into("<QQQQIIQII", head, ROOTS + 152, len(self.data), 1000000000, 3, 60,
                         ROW, BUFFER, 0, 2, 0)
        return bytes(head) + bytes(self.data[HEAD:])


def add_trace(f, is_cut):
    stack = f.handle(f.bucket(TRACE, [], 0, [0x1234, 0x2345]))
    start = f.handle(f.bucket(TRACE, [], 1, [0x3456]))
    f.stack = stack
    name = f.handle(f.add(struct.pack("<I", 4) + b"name\0"))
    first = [
        record(BEGIN, 1, 1, 42, FROM_UNKNOWN, 0), record(CREATE, 1, 2, start, stack),
        record(HEAP, 1, 5000), record(TASK, 1, 1, 0, name, stack),
        record(REGION, 1, 1, 0, name, stack), record(LABEL_SET, 1, 1),
        record(CALL, 1, stack), record(CALL_LONG, 1, stack, 9)
    ]
    first.append(wake(1, stack, 2, 2))
    first += [
        record(CHARGE, 1, stack, 900), record(REGION, 1, 1, 1, name, stack),
        record(LOG, 1, 1, name, stack, 4, text=b"text"), record(TASK_END, 1, 1, stack),
        record(GC_START, 1, 0, stack), record(GC_DONE, 1), record(SLEEP, 1, stack),
        record(START_SELF, 1, 0, 1), record(BLOCK_COND, 1, stack)
    ]
    second = [
        record(BEGIN, 5, 2, 43, FROM_CREATE, start), record(BLOCK_SYNC, 1, stack),
        record(START, 20), record(CALL, 1, stack)
    ]
    f.row(0, first, 1, is_cut=is_cut)
    f.row(1, second, 2, open_ticks=160)


def make(kinds, **options):
    f = File(**options)
    f.note(MODULE, struct.pack("<QQQQQII41s256s7x", 0x1000, 0x9000, 0, 0x1000, 0, 0,
                               0xffffffff, b"ab12", b"/bin/app"))
    f.note(LABELS, struct.pack("<II", 1, 1) + b"key\0value\0")
    f.note(LOCK, struct.pack("<Q", 0x5000) + b"name (0x5000)\0")
    f.note(PROFILE, struct.pack("<Q", 1) + b"sessions\0")
    f.note(HOOK, struct.pack("<Q", 0x1234) + b"pthread_mutex_lock\0")
    cell = f.add(struct.pack("<6Q16x", 1, 1, 2, 0, 0, 0) + bytes(HEAPX_CELL))
    line = f.add(struct.pack("<16I", 0, f.handle(cell), *[0] * 14))
    stack = [0x1234, 0x2345, 0x99999]
    if MEM in kinds:
        f.bucket(MEM, [5, 2, 0, 1, 0, 0], 100, stack, labels=1, cells=f.handle(line))
        f.bucket(MEM, [5, 2, 0, 1, 0, 0], 3000, stack[1:])
    for kind in {BLOCK, MUTEX} & kinds:
        f.bucket(kind, [3 << 20, 5000], 0x5000, stack, wait=1)
    if THREAD in kinds:
        f.bucket(THREAD, [2], 0, [])
    if CPU in kinds:
        f.bucket(CPU, [2, 20000000], 0, stack, labels=1)
    if CUSTOM in kinds:
        f.bucket(CUSTOM, [2], 1, stack)
    if TRACE in kinds:
        add_trace(f, is_cut=0)
    return f.bytes()


def main():
    every = {MEM, BLOCK, MUTEX, THREAD, TRACE, CUSTOM, CPU}
    files = [make(every, heapx=1, peak=1), make({MEM}), make({BLOCK, MUTEX}), make(set()),
             make({TRACE}), make({TRACE}, trace_format=b"1.5"), make({MEM}, heapx=1),
             make({MEM}, peak=1), make({TRACE}, tick_div=16)]
    f = File()
    add_trace(f, is_cut=1)
    files.append(f.bytes())
    for i, data in enumerate(files):
        with open(os.path.join(sys.argv[1], str(i)), "wb") as f:
            f.write(data)


main()
