# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_semaphore_taken.py TRACE ROUNDS: see trace-semaphore-taken.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    with open(sys.argv[2], encoding="ascii") as f:
        taken = int(f.read())
    wakes = [f[0] for e in events(sys.argv[1])[0] if e.type == "GoUnblock"
             for f in e.stack]
    second = wakes.count("post_y")
    print("%d rounds with a second post, %d woken by it" % (taken, second))
    sys.exit(0 if taken >= 1 and second >= 0.95 * taken else 1)


main()
