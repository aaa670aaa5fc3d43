# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a trace of the format 1.23, without MProf's own readers.

events(path) returns the events in the order of time and the number of ticks in
a second. An event is Event(tick, type, m, g, args, stack, text). g is the
number of the thread that ran on the kernel thread m before the event, or 0.
stack is a list of (function, file, line), the innermost function first. text is
the message of a UserLog. The type of an event is the name that Go gave it until
1.21, which tells more: GoBlockSync and GoSleep are two types."""

import collections

Event = collections.namedtuple("Event", "tick type m g args stack text")

# Event types: the name and the form of each argument. n is a number, t a string,
# f the stack of a new thread, S the stack of the event, and - an argument that
# is left out.
NAMES = {7: ("CPUSample", "nS"), 9: ("Gomaxprocs", "nS"), 10: ("ProcStart", "--"),
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
        assert self.data[:16] == b"go 1.23 trace\0\0\0"
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

    def entry(self, kind):
        if kind == 8:
            self.frequency = self.number()
            return
        if kind == 6:
            assert self.number() == 7
            tick, m, _, g, stack = [self.number() for _ in range(5)]
            self.raw.append([tick, 7, m, [g, stack]])
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

    def read(self):
        """Fills the tables, and raw with [tick, type, M, arguments]."""
        while self.at < len(self.data):
            assert self.data[self.at] == 1
            self.at += 1
            assert self.number() == 1, "one generation"
            m, tick, size = self.number(), self.number(), self.number()
            assert size <= 65536
            end = self.at + size
            kind = self.data[self.at]
            if kind in (2, 4, 6, 8):
                self.at += 1
                while self.at < end:
                    self.entry(kind)
                continue
            while self.at < end:
                kind = self.data[self.at]
                self.at += 1
                tick += self.number()
                args = [self.number() for _ in NAMES[kind][1]]
                self.raw.append([tick, kind, m, args])
            assert self.at == end

    def named(self, number):
        return [(self.strings[f], self.strings[file], line)
                for _, f, file, line in self.stacks[number]]


def shown(r, kind, args):
    """Returns the name, the arguments and the stack of an event."""
    name, forms = NAMES[kind]
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


def events(path):
    r = Reader(path)
    r.read()
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
            g = args[0] if n == "CPUSample" else running.get(m, 0)
            result.append(Event(tick, n, m, g, args, stack, text))
        if name == "GoStart":
            running[m] = args[0]
        elif name in REASONS.values() or name in ("GoEnd", "GoPreempt"):
            running[m] = 0
    result.sort(key=lambda e: e.tick)  # stable: keeps the order within an M
    return result, r.frequency
