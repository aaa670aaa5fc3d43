# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_timeline.py JSON: what became of trace_cases.everything(). Times are
# those of the trace, (ticks - 1000) * 64 ns, in units.

import sys

from timeline import Timeline, units

line = Timeline(sys.argv[1]).check()


def time_of(tick):
    """The time of a tick. (tick, N) is N units after the tick."""
    tick, moved = tick if isinstance(tick, tuple) else (tick, 0)
    return units((tick - 1000) * 64) + moved


def spans(tid, category, *expected):
    want = [
        (name, time_of(start), time_of(end))
        for name, start, end in expected
    ]
    got = line.slices(tid, category)
    assert got == want, "%s\n%s\n%s" % (tid, got, want)


assert line.names == {
    1: "G1 tid 42",
    2: "work G2 tid 43",
    3: "work G3 tid 44",
    8: "G8 tid 48",
    9: "G9",
}, line.names
spans(1, "state", ("running", 1001, 9100))
# The second call began in one generation and ended in the next.
spans(
    2,
    "state",
    ("runnable", 1100, 1201),
    ("running", 1201, 4000),
    ("system call", 4000, 7000),
    ("running", 7000, 7010),
    ("system call", 7010, 8301),
    ("runnable", 8301, 8310),
    ("running", 8310, 8500),
)
spans(
    3,
    "state",
    ("runnable", 1110, 1211),
    ("running", 1211, 1220),
    ("running", 1220, 2000),
    ("blocked: mutex", 2000, 3500),
    ("runnable", 3500, 3601),
    ("running", 3601, 4110),
    # A region splits the slices that cross its begin or end. Slices inside of a
    # region begin one unit after it and end one unit before it.
    ("running", (4110, 1), 4120),
    ("running", (4120, 1), 4140),
    ("running", (4140, 1), 4400),
    ("runnable: preempted", 4400, 4410),
    ("running", 4410, 8100),
    ("running", (8100, 1), 9000),
)
spans(3, "region", ("render", 4110, (8100, 1)), ("frame", 4120, (4140, 1)))
spans(8, "state", ("system call", 1002, 9100))
spans(9, "state", ("blocked: since before the trace", 1003, 8400), ("runnable", 8400, 9100))

calls = [e for _, _, e in line.rows[2] if e["name"] == "system call"]
assert calls[1]["args"] == {"stack": "enter /c.h:7\nwork /a.c:19"}, calls[1]
blocked = next(e for _, _, e in line.rows[3] if e["name"] == "blocked: mutex")
assert blocked["args"] == {
    "label": "painter",
    "stack": "enter /c.h:7\nwork /a.c:19",
    "woken by": "work G2",
    "woken at": "spawn /a.c:33\nmain /a.c:40",
}, blocked
assert line.arrows() == [
    ("create", 1, time_of(1100), 2, time_of(1201)),
    ("create", 1, time_of(1110), 3, time_of(1211)),
    ("wake", 2, time_of(3500), 3, time_of(3601)),
], line.arrows()
instants = [(e["tid"], e["cat"], e["name"], e["ts"], e["args"]) for e in line.kinds["i"]]
assert instants == [
    (3, "log", "cat", time_of(4130), {"value": 'said "hello"\n', "stack": "work /a.c:19"}),
    (3, "call", "system call", time_of(4350), {"stack": blocked["args"]["stack"]}),
    (3, "sample", "CPU sample", time_of(4420), {"stack": blocked["args"]["stack"]}),
], instants
ranges = [(e["ph"], e["cat"], e["name"], e["ts"]) for e in line.ranges]
assert ranges == [
    ("b", "task", "frame", time_of(4100)),
    ("b", "collector", "collection", time_of(4300)),
    ("b", "collector", "world stopped", time_of(4301)),
    ("e", "collector", "world stopped", time_of(4310)),
    ("b", "collector", "sweep", time_of(4320)),
    ("e", "collector", "sweep", time_of(4330)),
    ("e", "collector", "collection", time_of(4340)),
    ("e", "task", "frame", time_of(8110)),
], ranges
counters = [(e["name"], e["ts"], e["args"]) for e in line.kinds["C"]]
assert counters == [
    ("heap in use", time_of(4200), {"bytes": 123456}),
    ("heap goal", time_of(4201), {"bytes": 4194304}),
    # Repeated, so that viewers draw the value up to the end.
    ("heap in use", time_of(9100), {"bytes": 123456}),
    ("heap goal", time_of(9100), {"bytes": 4194304}),
], counters
