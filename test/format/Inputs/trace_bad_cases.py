# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small traces with violations of the rules of mprof trace check:
#   BAD[rule] or BAD[rule:x]  a trace whose first violation is of this rule
# ACCEPTED has the names of those that Go 1.26 accepts.

from trace_cases import base, block, case
from trace_writer import NONE, Generation, batch, entry, header, write

BAD, ACCEPTED = {}, set()


def bad(name, go126=False, minor=23):
    if go126:
        ACCEPTED.add(name)
    return case(BAD, name, minor)


def second(g, *statuses):
    """A generation after g with these (G, M, status)."""
    h = Generation(g.minor, 2)
    h.main = h.stack((0x401100, "main", "/a.c", 1))
    h.work = h.stack((0x401200, "work", "/a.c", 2))
    h.ev(10, 2000, "ProcStatus", 0, 1)
    for i, status in enumerate(statuses):
        h.ev(10, 2001 + i, "GoStatus", *status)
    return h


# --- bytes


@bad("truncated:batch")
def _(g):
    return write(23, g)[:-1]


@bad("no-events:no-generation")
def _(g):
    return header(23)


@bad("truncated:before-the-stacks", go126=True)
def _(g):
    events = b"".join(
        batch(1, m, 1000 + m, entry("ProcStatus", 0, m - 10, 1)) for m in (10, 11)
    )
    return header(23) + batch(1, NONE, 1, entry("Frequency", 1000000000)) + events


@bad("batch-type")
def _(g):
    g.tail = entry("HeapAlloc", 0, 1)


@bad("batch-size")
def _(g):
    g.tail = batch(1, 10, 1100, entry("HeapAlloc", 0, 1) * 30000)


@bad("generation")
def _(g):
    return write(23, g, Generation(23, 3))


@bad("generation:0")
def _(g):
    g.number = 0


@bad("table-entry")
def _(g):
    g.string_tail = entry("Stack", 50, 0)


@bad("clock-snapshot", minor=25)
def _(g):
    g.snapshot = False


@bad("frequency:generation")
def _(g):
    g.frequency = None


@bad("frequency:twice")
def _(g):
    g.tail = batch(1, NONE, 1, entry("Frequency", 5))


@bad("string-entry")
def _(g):
    g.string_tail = entry("String", 50, 1025) + b"x" * 1025


@bad("stack-frames")
def _(g):
    g.stack(*[(0x400000 + i, "f", "/a.c", i + 1) for i in range(129)])


@bad("event-type")
def _(g):
    g.ev(11, 1030, "Stack", 1)


@bad("event-type:later")
def _(g):
    g.tail = batch(1, 12, 1030, bytes([53, 0]))


@bad("number")
def _(g):
    g.tail = batch(1, 12, 1030, entry("HeapAlloc", 0) + b"\xff" * 10 + b"\1")


@bad("pc-one-frame", go126=True)
def _(g):
    g.stack((0x401100, "other", "/a.c", 1))


@bad("unknown-string")
def _(g):
    g.ev(11, 1030, "GoBlock", 50, g.work)


@bad("unknown-stack")
def _(g):
    g.ev(11, 1030, "GoBlock", g.string("sync"), 50)


@bad("unknown-stack:often")
def _(g):
    for tick in range(1030, 1042):
        g.ev(11, tick, "UserTaskEnd", 7, 50)


@bad("string-entry:twice")
def _(g):
    g.string("sync")
    g.string_tail = entry("String", 1, 3) + b"two"


@bad("unknown-stack:new-thread")
def _(g):
    g.ev(11, 1030, "GoCreate", 3, 50, g.work)


@bad("unknown-stack:sample")
def _(g):
    g.samples = entry("CPUSamples") + entry("CPUSample", 1030, 11, 1, 2, 50)


@bad("unknown-string:frame")
def _(g):
    g.tail = batch(1, NONE, 1, entry("Stacks") + entry("Stack", 50, 1, 7, 60, 60, 1))


# --- order


@bad("sequence")
def _(g):
    block(g)
    g.ev(10, 1040, "GoUnblock", 2, 5, g.main)


@bad("start-runnable")
def _(g):
    block(g)
    g.ev(11, 1050, "ProcStart", 1, 1)
    g.ev(11, 1051, "GoStart", 2, 2)


@bad("unblock-waiting")
def _(g):
    g.ev(10, 1040, "GoUnblock", 2, 2, g.main)


@bad("thread-unknown")
def _(g):
    g.ev(10, 1040, "GoUnblock", 9, 1, g.main)


@bad("thread-reused")
def _(g):
    g.ev(10, 1040, "GoCreate", 2, g.work, g.main)


@bad("gc-sequence")
def _(g):
    g.ev(10, 1040, "GCBegin", 1, g.main)
    g.ev(10, 1041, "GCEnd", 3)


@bad("status-missing")
def _(g):
    block(g)
    h = second(g, (1, 10, 2))
    h.ev(10, 2040, "GoUnblock", 2, 1, h.main)
    return write(23, g, h)


@bad("status-missing:proc")
def _(g):
    block(g)
    h = second(g, (1, 10, 2))
    h.ev(11, 2040, "ProcStart", 1, 1)
    return write(23, g, h)


@bad("proc-sequence")
def _(g):
    block(g)
    g.ev(11, 1041, "ProcStart", 1, 5)


@bad("proc-sequence:call")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 4, g.work)


@bad("proc-state")
def _(g):
    g.ev(12, 1041, "ProcStart", 1, 1)


@bad("proc-state:steal")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(10, 1040, "ProcSteal", 1, 2, 12)


@bad("call-state")
def _(g):
    g.ev(11, 1030, "GoSyscallEnd")


@bad("call-state:blocked-with-P")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "GoSyscallEndBlocked")


# --- consistency


@bad("context")
def _(g):
    g.ev(12, 1030, "HeapAlloc", 1)


@bad("context:stop-without-P")
def _(g):
    g.ev(12, 1030, "ProcStop")


@bad("context:create-without-P")
def _(g):
    g.ev(12, 1030, "GoCreate", 3, g.work, g.main)


@bad("context:end-without-G")
def _(g):
    block(g)
    g.ev(11, 1040, "GoDestroy")


@bad("context:call-without-P")
def _(g):
    g.ev(12, 1040, "GoSyscallBegin", 1, g.work)


@bad("context:switch-without-G")
def _(g):
    block(g)
    g.ev(12, 1040, "ProcStatus", 5, 1)
    g.ev(12, 1041, "GoSwitch", 2, 2)


@bad("not-running:call-in-call")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "GoSyscallBegin", 2, g.work)


@bad("not-running:create-in-call")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "GoCreate", 3, g.work, g.work)


@bad("not-running:switch-in-call")
def _(g):
    block(g)
    g.ev(10, 1040, "GoSyscallBegin", 1, g.main)
    g.ev(10, 1041, "GoSwitch", 2, 2)


@bad("status-agrees:thread")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "ProcStop")
    return write(23, g, second(g, (1, 10, 2), (2, 10, 3)))


@bad("context:second-G")
def _(g):
    g.ev(10, 1025, "GoCreate", 3, g.work, g.main)
    g.ev(11, 1030, "GoStart", 3, 1)


@bad("context:call-without-thread")
def _(g):
    g.ev(10, 1003, "GoStatus", 8, NONE, 3)


@bad("status-value")
def _(g):
    g.ev(10, 1003, "GoStatus", 8, 10, 5)


@bad("status-value:proc")
def _(g):
    g.ev(10, 1003, "ProcStatus", 8, 5)


@bad("status-agrees")
def _(g):
    return write(23, g, second(g, (1, 10, 2), (2, 11, 4)))


@bad("status-agrees:proc")
def _(g):
    h = second(g, (1, 10, 2))
    h.ev(10, 2010, "ProcStatus", 1, 2)
    return write(23, g, h)


@bad("status-late")
def _(g):
    return write(23, g, second(g, (1, 10, 2), (7, NONE, 4)))


@bad("not-running")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "GoBlock", g.string("sync"), g.work)


@bad("task-unique")
def _(g):
    g.ev(11, 1030, "UserTaskBegin", 7, 0, g.string("task"), g.work)
    g.ev(11, 1031, "UserTaskBegin", 7, 0, g.string("task"), g.work)


@bad("region-nesting")
def _(g):
    g.ev(11, 1030, "UserRegionBegin", 0, g.string("a"), g.work)
    g.ev(11, 1031, "UserRegionBegin", 0, g.string("b"), g.work)
    g.ev(11, 1032, "UserRegionEnd", 0, g.string("a"), g.work)


@bad("stop-nesting")
def _(g):
    g.ev(11, 1030, "STWEnd")


@bad("sweep-nesting")
def _(g):
    g.ev(11, 1030, "GCSweepBegin", g.work)
    g.ev(11, 1031, "GCSweepBegin", g.work)


@bad("assist-nesting")
def _(g):
    g.ev(11, 1030, "GCMarkAssistEnd")


@bad("gc-nesting")
def _(g):
    g.ev(11, 1030, "GCBegin", 1, g.work)
    g.ev(11, 1031, "GCBegin", 2, g.work)


@bad("open-at-end", go126=True)
def _(g):
    g.ev(11, 1030, "GCMarkAssistBegin", g.work)
    g.ev(11, 1031, "GoDestroy")


@bad("tick-range", go126=True)
def _(g):
    g.ev(11, 1 << 63, "HeapAlloc", 1)


# Thread 12 has neither P nor G.
for event, *args in (
    ("GoStop", 0, 0),
    ("GoBlock", 0, 0),
    ("GoSyscallEnd",),
    ("GoSyscallEndBlocked",),
    ("GoDestroySyscall",),
    ("STWBegin", 0, 0),
    ("GCMarkAssistBegin", 0),
    ("GCSweepBegin", 0),
    ("HeapGoal", 1),
    ("GoLabel", 0),
    ("ProcsChange", 2, 0),
    ("UserTaskBegin", 7, 0, 0, 0),
    ("UserTaskEnd", 7, 0),
    ("UserRegionBegin", 7, 0, 0),
    ("UserLog", 7, 0, 0, 0),
):
    trace = base()
    trace.ev(12, 1030, event, *args)
    BAD["context:" + event] = write(23, trace)


@bad("context:GCEnd")
def _(g):
    g.ev(11, 1030, "GCBegin", 1, g.work)
    g.ev(12, 1031, "GCEnd", 2)


@bad("context:no-thread")
def _(g):
    block(g)
    g.ev(NONE, 1040, "ProcStart", 1, 1)


@bad("context:steal-without-thread")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(NONE, 1040, "ProcSteal", 1, 2, 11)


@bad("context:second-P")
def _(g):
    block(g)
    g.ev(10, 1040, "ProcStart", 1, 1)


@bad("call-state:blocked")
def _(g):
    g.ev(11, 1030, "ProcStop")
    g.ev(11, 1031, "GoSyscallEndBlocked")


@bad("call-state:destroyed")
def _(g):
    g.ev(11, 1030, "GoDestroySyscall")


@bad("proc-state:end")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "ProcStop")
    g.ev(11, 1032, "ProcStart", 1, 2)
    g.ev(11, 1033, "GoSyscallEnd")


@bad("proc-state:destroyed")
def _(g):
    g.ev(11, 1030, "GoSyscallBegin", 1, g.work)
    g.ev(11, 1031, "ProcStop")
    g.ev(11, 1032, "ProcStart", 1, 2)
    g.ev(11, 1033, "GoDestroySyscall")


@bad("assist-nesting:active")
def _(g):
    g.ev(11, 1030, "GCMarkAssistBegin", g.work)
    g.ev(10, 1031, "GCMarkAssistActive", 2)


@bad("gc-nesting:end")
def _(g):
    g.ev(11, 1030, "GCEnd", 1)
