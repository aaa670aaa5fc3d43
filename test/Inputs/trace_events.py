# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a trace of the format 1.11 or 1.23, without MProf's own readers.

events(path) returns the events in the order of time and the number of ticks in
a second. An event is Event(tick, type, p, g, args, stack, text). g is the
number of the thread that ran on the processor p before the event, or 0. stack
is a list of (function, file, line), the innermost function first. text is the
message of a UserLog. An event of 1.23 has the type and the arguments that 1.11
gives it, and the number of its M in p."""

import collections

NAMES = {4: "Gomaxprocs", 5: "ProcStart", 6: "ProcStop", 7: "GCStart",
         8: "GCDone", 13: "GoCreate", 14: "GoStart", 15: "GoEnd",
         18: "GoPreempt", 19: "GoSleep", 21: "GoUnblock", 24: "GoBlockSelect",
         25: "GoBlockSync", 26: "GoBlockCond", 27: "GoBlockNet",
         28: "GoSysCall", 29: "GoSysExit", 30: "GoSysBlock", 31: "GoWaiting",
         32: "GoInSyscall", 33: "HeapAlloc", 45: "UserTaskCreate",
         46: "UserTaskEnd", 47: "UserRegion", 48: "UserLog"}
# The last argument of these events is their stack.
WITH_STACK = {4, 7, 13, 18, 19, 21, 24, 25, 26, 27, 28, 45, 46, 47, 48}
WAITS = {15, 18, 19, 24, 25, 26, 27, 30}

Event = collections.namedtuple("Event", "tick type p g args stack text")


# Event types of 1.23: the name in 1.11 and the form of each argument. n is a
# number, t a string, f the stack of a new thread, S the stack of the event, and
# - an argument that 1.11 does not have.
NAMES_V2 = {9: ("Gomaxprocs", "nS"), 10: ("ProcStart", "--"),
            11: ("ProcStop", ""), 13: ("ProcStatus", "nn"),
            14: ("GoCreate", "nfS"), 16: ("GoStart", "nn"), 17: ("GoEnd", ""),
            19: ("GoPreempt", "-S"), 20: ("GoBlock", "tS"),
            21: ("GoUnblock", "nnS"), 22: ("GoSysCall", "-S"),
            23: ("GoSysExit", ""), 24: ("GoSysExit", ""),
            29: ("GCStart", "nS"), 30: ("GCDone", "n"), 37: ("HeapAlloc", "n"),
            40: ("UserTaskCreate", "nntS"), 41: ("UserTaskEnd", "nS"),
            42: ("UserRegion", "ntS"), 43: ("UserRegion", "ntS"),
            44: ("UserLog", "nttS"), 48: ("GoStatus", "n-nf")}
REASONS = {"sync": "GoBlockSync", "sync.(*Cond).Wait": "GoBlockCond",
           "network": "GoBlockNet", "select": "GoBlockSelect",
           "sleep": "GoSleep"}


class Reader:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.is_v2 = self.data[:16] == b"go 1.23 trace\0\0\0"
        assert self.is_v2 or self.data[:16] == b"go 1.11 trace\0\0\0"
        self.at = 16
        self.strings = {0: ""}
        self.stacks = {0: []}
        self.frequency = 0
        self.raw = []

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def read(self):
        p = tick = 0
        while self.at < len(self.data):
            byte = self.data[self.at]
            self.at += 1
            kind, count = byte & 63, byte >> 6
            if kind == 1:
                p, tick = self.number(), self.number()
            elif kind == 2:
                self.frequency = self.number()
            elif kind == 37:
                number, length = self.number(), self.number()
                self.strings[number] = self.data[
                    self.at:self.at + length].decode()
                self.at += length
            elif kind == 3:
                self.number()
                number, frames = self.number(), self.number()
                self.stacks[number] = [
                    [self.number() for _ in range(4)] for _ in range(frames)]
            else:
                tick += self.event(kind, count, p, tick)

    def event(self, kind, count, p, tick):
        if count == 3:
            length = self.number()
            end = self.at + length
            args = []
            while self.at < end:
                args.append(self.number())
        else:
            args = [self.number() for _ in range(count + 1)]
        text = ""
        if kind == 48:
            length = self.number()
            text = self.data[self.at:self.at + length].decode()
            self.at += length
        self.raw.append([tick + args[0], kind, p, args[1:], text])
        return args[0]

    def entry(self, kind):
        if kind == 8:
            self.frequency = self.number()
            return
        assert self.data[self.at] in (3, 5)
        self.at += 1
        number, count = self.number(), self.number()
        if kind == 4:
            self.strings[number] = self.data[self.at:self.at + count].decode()
            self.at += count
        else:
            self.stacks[number] = [
                [self.number() for _ in range(4)] for _ in range(count)]

    def read_v2(self):
        """Fills the tables, and raw with [tick, type, M, arguments]."""
        while self.at < len(self.data):
            assert self.data[self.at] == 1
            self.at += 1
            assert self.number() == 1, "one generation"
            m, tick, size = self.number(), self.number(), self.number()
            assert size <= 65536
            end = self.at + size
            kind = self.data[self.at]
            if kind in (2, 4, 8):
                self.at += 1
                while self.at < end:
                    self.entry(kind)
                continue
            while self.at < end:
                kind = self.data[self.at]
                self.at += 1
                tick += self.number()
                args = [self.number() for _ in NAMES_V2[kind][1]]
                self.raw.append([tick, kind, m, args])
            assert self.at == end

    def named(self, number):
        return [(self.strings[f], self.strings[file], line)
                for _, f, file, line in self.stacks[number]]


def shown(r, kind, args):
    """Returns what 1.11 gives an event of 1.23: name, arguments and stack."""
    name, forms = NAMES_V2[kind]
    stack, values = [], []
    for form, value in zip(forms, args):
        if form == "S":
            stack = r.named(value)
        elif form != "-":
            values.append(r.strings[value] if form == "t" else
                          r.named(value) if form == "f" else value)
    if name == "GoBlock":
        name = REASONS[values.pop()]
    elif kind in (42, 43):
        values.insert(1, kind - 42)
    elif kind == 29:  # the number counts begins and ends together, from 1
        assert values[0] % 2 == 1
        values[0] //= 2
    return name, values, stack


def events_v2(r):
    r.read_v2()
    running, result = {}, []
    for tick, kind, m, args in r.raw:
        name, args, stack = shown(r, kind, args)
        text = args.pop() if name == "UserLog" else ""
        names = [name]
        if name == "GoStatus":
            names = ["GoCreate"] + {4: ["GoWaiting"],
                                    3: ["GoInSyscall"]}.get(args[1], [])
            args = [args[0], args[2]]
        elif name == "GoSysCall":
            names = ["GoSysCall", "GoSysBlock"]
        for n in names:
            result.append(Event(tick, n, m, running.get(m, 0), args, stack,
                                text))
        if name == "GoStart":
            running[m] = args[0]
        elif name in REASONS.values() or name in ("GoEnd", "GoPreempt"):
            running[m] = 0
    result.sort(key=lambda e: e.tick)
    return result, r.frequency


def events(path):
    r = Reader(path)
    if r.is_v2:
        return events_v2(r)
    r.read()
    running = {}
    result = []
    for tick, kind, p, args, text in r.raw:  # in order within each row
        stack = []
        if kind in WITH_STACK:
            stack = r.named(args[-1])
            args = args[:-1]
        if kind == 13:
            args[1] = r.named(args[1])
        if kind in (45, 47):
            args[2] = r.strings[args[2]]
        if kind == 48:
            args[1] = r.strings[args[1]]
        result.append(Event(tick, NAMES[kind], p, running.get(p, 0), args,
                            stack, text))
        if kind == 14:
            running[p] = args[0]
        elif kind in WAITS:
            running[p] = 0
    result.sort(key=lambda e: e.tick)  # stable: keeps the order within a row
    return result, r.frequency
