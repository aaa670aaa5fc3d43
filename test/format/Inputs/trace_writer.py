# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes execution traces in the formats of go 1.5 to 1.21. The arguments are
# not checked, so the traces may be invalid.

FREQUENCY = 15625000  # ticks per second: one is 64 ns

NAMES = """None Batch Frequency Stack Gomaxprocs ProcStart ProcStop GCStart
GCDone STWStart STWDone GCSweepStart GCSweepDone GoCreate GoStart GoEnd GoStop
GoSched GoPreempt GoSleep GoBlock GoUnblock GoBlockSend GoBlockRecv
GoBlockSelect GoBlockSync GoBlockCond GoBlockNet GoSysCall GoSysExit GoSysBlock
GoWaiting GoInSyscall HeapAlloc HeapGoal TimerGoroutine FutileWakeup String
GoStartLocal GoUnblockLocal GoSysExitLocal GoStartLabel GoBlockGC
GCMarkAssistStart GCMarkAssistDone UserTaskCreate UserTaskEnd UserRegion UserLog
CPUSample""".split()
TYPES = {name: number for number, name in enumerate(NAMES)}


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


def record(name, numbers, before=1):
    """One record; `before` of the numbers are not counted in its head."""
    count = min(len(numbers) - before, 3)
    body = b"".join(map(leb, numbers))
    length = leb(len(body)) if count == 3 else b""
    return bytes([TYPES[name] | count << 6]) + length + body


class Trace:
    """Events are (P, tick, name, arguments); see write() for their bytes."""

    def __init__(self, minor=11):
        self.minor = minor
        self.frequency = FREQUENCY
        self.events = []
        self.strings = {}
        self.stacks = {}
        self.tail = b""  # behind everything else

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def stack(self, *frames):
        """Frames (pc, function, file, line), leaf first; an empty text is none."""
        return self.stacks.setdefault(frames, len(self.stacks) + 1)

    def ev(self, p, tick, name, *args, text=None):
        self.events.append((p, tick, name, args, text))

    def records(self, p, sequence):
        """Batches of P, one for CPU samples."""
        events = [e for e in self.events if e[0] == p]
        samples = [e for e in events if e[2] == "CPUSample"]
        for part in [e for e in events if e[2] != "CPUSample"], samples:
            if not part:
                continue
            last, last_seq = part[0][1], sequence[id(part[0])]
            start = [p, last_seq, last] if self.minor < 7 else [p, last]
            yield record("Batch", start, len(start) - 1)
            for event in part:
                _, tick, name, args, text = event
                numbers = [tick - last, *args]
                if self.minor < 7:
                    numbers.insert(0, sequence[id(event)] - last_seq)
                last, last_seq = tick, sequence[id(event)]
                yield record(name, numbers, len(numbers) - len(args))
                if text is not None:
                    yield leb(len(text)) + text.encode()

    def sorted_events(self):
        return sorted(self.events, key=lambda e: e[1])

    def footer(self):
        out = record("Batch", [0, 0, 1][: 2 + (self.minor < 7)], 1 + (self.minor < 7))
        stacks = b""
        for frames, number in self.stacks.items():
            numbers = [number, len(frames)]
            for pc, function, file, line in frames:
                numbers.append(pc)
                if self.minor >= 7:
                    # No text is 0, not a string of no bytes.
                    numbers += [text and self.string(text) or 0 for text in (function, file)]
                    numbers.append(line)
            stacks += counted("Stack", numbers)
        for text, number in self.strings.items():
            data = text.encode()
            out += bytes([TYPES["String"]]) + leb(number) + leb(len(data)) + data
        out += stacks
        if self.frequency is not None:
            out += bytes([TYPES["Frequency"]]) + leb(self.frequency)
            out += b"" if self.minor >= 7 else b"\0"
        return out + self.tail

    def write(self):
        sequence = {id(e): i + 1 for i, e in enumerate(self.sorted_events())}
        ps = dict.fromkeys(e[0] for e in self.events)
        body = b"".join(r for p in ps for r in self.records(p, sequence))
        return header(self.minor) + body + self.footer()


def counted(name, numbers):
    """A record in the form with a length, however few numbers it has."""
    body = b"".join(map(leb, numbers))
    return bytes([TYPES[name] | 3 << 6]) + leb(len(body)) + body
