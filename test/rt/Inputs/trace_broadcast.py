# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_broadcast.py TRACE: see trace-broadcast.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events

MAIN_HOLDS_MS, EACH_HOLDS_MS = 30, 50


def main():
    all_events, frequency = events(sys.argv[1])
    waits, woken, started = set(), {}, {}
    for e in all_events:
        names = [f[0] for f in e.stack]
        if e.type == "GoBlockCond" and "pthread_cond_wait" in names:
            waits.add(e.g)
        elif e.type == "GoUnblock" and "wake_all" in names:
            assert e.args[0] in waits and e.args[0] not in woken, e
            woken[e.args[0]] = e.tick
        elif e.type == "GoStart" and e.args[0] in woken:
            started.setdefault(e.args[0], e.tick)
    print(woken, started)
    assert len(woken) == 3, woken
    assert len(set(woken.values())) == 1, "the broadcast has one time"
    broadcast = woken.popitem()[1]
    for i, tick in enumerate(sorted(started.values())):
        least = MAIN_HOLDS_MS + i * EACH_HOLDS_MS
        assert (tick - broadcast) / frequency * 1000 >= least, (i, tick)


main()
