# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_timeline.py JSON: what became of trace_cases.everything(11). Times are
# those of the trace, (ticks - 1000) * 64 ns, in units.

import sys

from timeline import Timeline, units

line = Timeline(sys.argv[1]).check()


def ns(tick, moved=0):
    return units((tick - 1000) * 64) + moved


def moved(tick):
    """The time one unit after the tick."""
    return (tick, 1)


def spans(tid, *expected):
    want = [
        (name, ns(*start) if isinstance(start, tuple) else ns(start), ns(end))
        for name, start, end in expected
    ]
    got = line.slices(tid)
    assert got == want, "%s\n%s\n%s" % (tid, got, want)


assert line.names == {
    1: "main G1 tid 4242",
    2: "work G2 tid 4243",
    3: "work G3 tid 4244",
    8: "work G8 tid 4251",
    9: "work G9 tid 4250",
}, line.names

spans(
    1,
    ("runnable", 1000, 1006),
    ("running", 1006, 2500),
    ("blocked: cond", 2500, 7600),
    ("runnable", 7600, 7701),
    ("running", 7701, 7800),
)
spans(
    2,
    ("runnable", 1100, 1201),
    ("running", 1201, 4000),
    ("system call", 4000, 7001),
    ("runnable", 7001, 7010),
    ("running", 7010, 7610),
)
# A region splits the slices that cross its begin or end. Slices inside of a
# region begin one unit after it and end one unit before it.
spans(
    3,
    ("runnable", 1110, 1211),
    ("running", 1211, 2000),
    ("blocked: sync", 2000, 3500),
    ("runnable", 3500, 3601),
    ("running", 3601, 4110),
    ("running", moved(4110), 4120),
    ("running", moved(4120), 4140),
    ("running", moved(4140), 4150),
    ("running", moved(4150), 4400),
    ("runnable: preempted", 4400, 4410),
    ("running", 4410, 7500),
)
assert line.slices(3, "region") == [
    ("render", ns(4110), ns(4150, 1)),
    ("frame", ns(4120), ns(4140, 1)),
]
spans(
    8,
    ("runnable", 1003, 1004),
    ("system call", 1004, 7301),
    ("runnable", 7301, 7310),
    ("running", 7310, 7400),
)
spans(
    9,
    ("runnable", 1001, 1002),
    ("blocked: since before the trace", 1002, 7100),
    ("runnable", 7100, 7111),
    ("running", 7111, 7200),
    ("blocked: sleep", 7200, 7800),
)

# The trace does not say who woke G 9.
assert line.arrows() == [
    ("create", 1, ns(1100), 2, ns(1201)),
    ("create", 1, ns(1110), 3, ns(1211)),
    ("wake", 2, ns(3500), 3, ns(3601)),
    ("wake", 2, ns(7600), 1, ns(7701)),
], line.arrows()

blocked = next(e for _, _, e in line.rows[3] if e["name"] == "blocked: sync")
assert blocked["args"] == {
    "stack": "enter /c.h:7\nstep /a.c:15\nwork /a.c:22",
    "woken by": "work G2",
    "woken at": "spawn /a.c:33\nmain /a.c:40",
}, blocked

counters = [(e["name"], e["ts"], e["args"]) for e in line.kinds["C"]]
assert counters == [
    ("heap in use", ns(4200), {"bytes": 123456}),
    ("heap goal", ns(4201), {"bytes": 4194304}),
    # Repeated, so that viewers draw the value up to the end.
    ("heap in use", ns(7800), {"bytes": 123456}),
    ("heap goal", ns(7800), {"bytes": 4194304}),
], counters

instants = [
    (e["tid"], e["cat"], e["name"], e["ts"], e["args"]) for e in line.kinds["i"]
]
assert instants == [
    (3, "log", "cat", ns(4130), {"value": 'said "hello"\n', "stack": "work /a.c:19"}),
    (2, "call", "system call", ns(7020), {"stack": blocked["args"]["stack"]}),
], instants

ranges = [(e["ph"], e["cat"], e["name"], e["ts"]) for e in line.ranges]
assert ranges == [
    ("b", "task", "frame", ns(4100)),
    ("e", "task", "frame", ns(4160)),
    ("b", "collector", "collection", ns(4300)),
    ("b", "collector", "world stopped", ns(4301)),
    ("e", "collector", "world stopped", ns(4310)),
    ("b", "collector", "sweep", ns(4320)),
    ("e", "collector", "sweep", ns(4330)),
    ("e", "collector", "collection", ns(4340)),
], ranges
