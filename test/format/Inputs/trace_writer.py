# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes execution traces in the formats of go 1.22 to 1.26. The arguments are
# not checked, so the traces may be invalid.

NAMES = """None EventBatch Stacks Stack Strings String CPUSamples CPUSample
Frequency ProcsChange ProcStart ProcStop ProcSteal ProcStatus GoCreate
GoCreateSyscall GoStart GoDestroy GoDestroySyscall GoStop GoBlock GoUnblock
GoSyscallBegin GoSyscallEnd GoSyscallEndBlocked GoStatus STWBegin STWEnd
GCActive GCBegin GCEnd GCSweepActive GCSweepBegin GCSweepEnd GCMarkAssistActive
GCMarkAssistBegin GCMarkAssistEnd HeapAlloc HeapGoal GoLabel UserTaskBegin
UserTaskEnd UserRegionBegin UserRegionEnd UserLog GoSwitch GoSwitchDestroy
GoCreateBlocked GoStatusStack ExperimentalBatch Sync ClockSnapshot
EndOfGeneration""".split()
TYPES = {name: number for number, name in enumerate(NAMES)}
NONE = (1 << 64) - 1


def leb(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(0x80 | value & 0x7F)
        value >>= 7
    out.append(value)
    return bytes(out)


def header(minor):
    return (b"go 1.%d trace" % minor).ljust(16, b"\0")


def batch(generation, m, tick, body):
    head = b"".join(map(leb, (generation, m, tick, len(body))))
    return bytes([TYPES["EventBatch"]]) + head + body


def entry(name, *numbers):
    return bytes([TYPES[name]]) + b"".join(map(leb, numbers))


class Generation:
    """Events are (M, tick, name, arguments)."""

    def __init__(self, minor, number):
        self.minor = minor
        self.number = number
        self.frequency = 1000000000
        self.snapshot = True
        self.events = []
        self.samples = b""
        self.strings = {}
        self.stacks = {}
        self.string_tail = b""
        self.tail = b""

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def stack(self, *frames):
        return self.stacks.setdefault(frames, len(self.stacks) + 1)

    def ev(self, m, tick, name, *args):
        self.events.append((m, tick, name, args))

    def write(self):
        out = b""
        for m in dict.fromkeys(e[0] for e in self.events):
            events = [e for e in self.events if e[0] == m]
            last, body = events[0][1], b""
            for _, tick, name, args in events:
                body += entry(name, tick - last, *args)
                last = tick
            out += batch(self.number, m, events[0][1], body)
        stacks = entry("Stacks")
        for frames, number in self.stacks.items():
            stacks += entry("Stack", number, len(frames))
            for pc, function, file, line in frames:
                numbers = pc, self.string(function), self.string(file), line
                stacks += b"".join(map(leb, numbers))
        strings = entry("Strings")
        for text, number in self.strings.items():
            data = text.encode()
            strings += entry("String", number, len(data)) + data
        sync = b""
        if self.frequency is not None:
            sync = entry("Frequency", self.frequency)
        if self.minor >= 25:
            sync = entry("Sync") + sync
            if self.snapshot:
                sync += entry("ClockSnapshot", self.number, *[self.number] * 3)
        for body in stacks, strings + self.string_tail, self.samples, sync:
            if body:
                out += batch(self.number, NONE, 1, body)
        out += self.tail
        return out + (entry("EndOfGeneration") if self.minor >= 26 else b"")


def write(minor, *generations):
    return header(minor) + b"".join(g.write() for g in generations)
