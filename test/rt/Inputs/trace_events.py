# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a trace of the format 1.11 by itself, in the order of time, with what
runs where. For tests: events(path) gives Event(tick, type, p, g, args, stack),
where g is what ran on p, and stack a list of (function, file, line)."""

import collections

NAMES = {4: "Gomaxprocs", 5: "ProcStart", 6: "ProcStop", 7: "GCStart",
         8: "GCDone", 13: "GoCreate", 14: "GoStart", 15: "GoEnd",
         19: "GoSleep", 21: "GoUnblock", 24: "GoBlockSelect",
         25: "GoBlockSync", 26: "GoBlockCond", 27: "GoBlockNet",
         28: "GoSysCall", 29: "GoSysExit", 30: "GoSysBlock", 31: "GoWaiting",
         32: "GoInSyscall", 33: "HeapAlloc", 45: "UserTaskCreate",
         46: "UserTaskEnd", 47: "UserRegion", 48: "UserLog"}
# Of those with a stack it is the last argument.
WITH_STACK = {4, 7, 13, 19, 21, 24, 25, 26, 27, 28, 45, 46, 47, 48}
WAITS = {19, 24, 25, 26, 27, 30, 15}

Event = collections.namedtuple("Event", "tick type p g args stack text")


class Reader:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        assert self.data[:16] == b"go 1.11 trace\0\0\0", self.data[:16]
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

    def named(self, number):
        return [(self.strings[f], self.strings[file], line)
                for _, f, file, line in self.stacks[number]]


def events(path):
    r = Reader(path)
    r.read()
    running = {}
    result = []
    for tick, kind, p, args, text in r.raw:  # a row is in its own order
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
    result.sort(key=lambda e: e.tick)  # stable: rows stay in order
    return result, r.frequency
