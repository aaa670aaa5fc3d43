# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_begin_and_end.py TRACE N: see trace-begin-and-end.c."""

import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    found, _ = events(sys.argv[1])
    n = int(sys.argv[2])
    runs = {e.args[0]: e.args[1][0][0] for e in found if e.type == "GoCreate"}
    waiting = {e.args[0] for e in found if e.type in ("GoWaiting",
                                                      "GoInSyscall")}
    counts = collections.Counter(runs[g] for g in waiting)
    assert counts == {"for_turns": n, "for_bytes": n}, counts
    last = {}
    for e in found:
        if e.type == "GoUnblock":
            last[e.args[0]] = e.type
        elif e.g in runs:
            last[e.g] = e.type
    ends = collections.Counter((runs[g], last.get(g)) for g in waiting)
    assert ends[("for_turns", "GoBlockCond")] == n, ends
    assert ends[("for_bytes", "GoSysBlock")] == n, ends


main()
