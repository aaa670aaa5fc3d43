# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_wakers_in_a_row.py TRACE: see trace-wakers-in-a-row.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events

ROUNDS = 50
WAITS = {"sem_wait", "pthread_cond_wait"}


def main():
    all_events, _ = events(sys.argv[1])
    waits, wakes = {}, []  # the latter as function, and when its wait began
    sleeps = []  # of main, between which the rounds are
    for e in all_events:
        names = [f[0] for f in e.stack]
        if e.type == "GoSleep":
            sleeps.append(e.tick)
        elif e.type.startswith("GoBlock") and WAITS & set(names):
            waits[e.g] = e.tick
        elif e.type == "GoUnblock" and e.args[0] in waits:
            start = waits.pop(e.args[0])
            found = [n for n in names if n in ("wake_x", "wake_y")]
            wakes.append((found[0] if found else "", start, e.tick, e.g))
    assert len(sleeps) == ROUNDS, len(sleeps)
    rounds = right = 0
    for begin, end in zip(sleeps, sleeps[1:] + [float("inf")]):
        own = [w for w in wakes if begin <= w[2] < end]
        if len(own) > 2 or [w for w in own if w[1] > w[2]]:
            sys.exit("a wake at the wrong time: %s" % own)
        if len(own) == 2:  # else one came too late to wait
            rounds += 1
            right += len({w[0] for w in own if w[3] != 0} - {""})
    print("%d rounds, %d wakes by the right function" % (rounds, right))
    sys.exit(0 if rounds >= ROUNDS / 2 and right >= 0.95 * 2 * rounds else 1)


main()
