# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_timeline_v2.py JSON: what became of trace_cases_v2.everything(). Times
# are those of the trace, ticks - 1000 ns, in units.

import sys

from timeline import Timeline, units

line = Timeline(sys.argv[1]).check()


def time_of(tick):
    """The time of a tick. (tick, N) is N units after the tick."""
    tick, moved = tick if isinstance(tick, tuple) else (tick, 0)
    return units(tick - 1000) + moved


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
    # The thread ran here, and was runnable after the call, for less than a unit.
    ("system call", 7010, 8301),
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
    ("running", (4110, 1), 4400),
    # The thread was preempted here, for less than a unit.
    ("running", 4410, 8100),
    ("running", (8100, 1), 9000),
)
spans(3, "region", ("render", 4110, (8100, 1)))
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
    ("create", 1, units(100), 2, units(201)),
    ("create", 1, units(110), 3, units(211)),
    ("wake", 2, units(2500), 3, units(2601)),
], line.arrows()
assert [(e["name"], e["ts"]) for e in line.kinds["i"]] == [
    ("cat", units(3130)),
    ("CPU sample", units(3420)),
]
assert [(e["ph"], e["name"], e["ts"]) for e in line.ranges] == [
    ("b", "frame", units(3100)),
    ("b", "collection", units(3300)),
    ("b", "world stopped", units(3301)),
    ("e", "world stopped", units(3310)),
    ("e", "collection", units(3340)),
    ("e", "frame", units(7110)),
]
# Repeated at the end, so that viewers draw the value up to there.
assert [e["args"] for e in line.kinds["C"]] == [{"bytes": 123456}] * 2
