# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# random_trace.py SEED THREADS STEPS FILE: writes a trace in which threads are
# created, block, make system calls, wake each other and end, also while regions
# are open. The order of events depends on the seed only.

import random
import sys

from trace_writer import Generation, write

seed, threads, steps = map(int, sys.argv[1:4])
choose = random.Random(seed)
t = Generation(23, 1)
t.frequency = 15625000  # a tick is 64 ns
stacks = [
    t.stack(*[(0x400000 + 256 * i + j, "f%d_%d" % (i, j), "/r.c", j + 1) for j in range(i % 9 + 1)])
    for i in range(20)
]
names = [t.string("region %d" % i) for i in range(5)]
reasons = [t.string(s) for s in ("sync", "sync.(*Cond).Wait", "sleep", "network")]
tick = 1000
running, blocked, called = {}, {}, {}  # P: G, for all three
sequence, regions = {}, {}
starts = {}  # P: its sequence number
free = list(range(1, threads))
new = 2


def ev(p, name, *args):
    global tick
    t.ev(100 + p, tick, name, *args)
    tick += choose.randrange(4)  # equal ticks are legal


def start(p, g):
    if p in starts:
        starts[p] += 1
        ev(p, "ProcStart", p, starts[p])
    else:
        starts[p] = 0
        ev(p, "ProcStatus", p, 1)
    ev(p, "GoStart", g, sequence[g])
    sequence[g] += 1
    running[p] = g


def stop(p):
    ev(p, "ProcStop")
    return running.pop(p)


starts[0], sequence[1], regions[1], running[0] = 0, 1, [], 1
ev(0, "ProcStatus", 0, 1)
ev(0, "GoStatusStack", 1, 100, 2, stacks[0])
ev(0, "ProcsChange", 2, stacks[0])
for _ in range(steps):
    p = choose.choice(list(running)) if running else None
    stack = choose.choice(stacks)
    what = choose.randrange(10)
    if blocked and (what == 0 or p is None):
        # Woken by another thread, or by itself.
        q = choose.choice(list(blocked))
        g = blocked.pop(q)
        ev(q if p is None or choose.random() < 0.3 else p, "GoUnblock", g, sequence[g], stack)
        sequence[g] += 1
        start(q, g)
    elif called and (what == 1 or p is None):
        q = choose.choice(list(called))
        if choose.random() < 0.5:
            ev(q, "GoSyscallEnd")
            running[q] = called.pop(q)
        else:
            ev(q, "ProcStop")
            starts[q] += 1
            ev(q, "ProcStart", q, starts[q])
            ev(q, "GoSyscallEndBlocked")
            g = called.pop(q)
            ev(q, "GoStart", g, sequence[g])
            sequence[g] += 1
            running[q] = g
    elif p is None:
        continue
    elif what < 4:
        ev(p, "GoBlock", choose.choice(reasons), stack)
        blocked[p] = stop(p)
    elif what == 4:
        starts[p] += 1
        ev(p, "GoSyscallBegin", starts[p], stack)
        if choose.random() < 0.7:
            called[p] = running.pop(p)
        else:
            ev(p, "GoSyscallEnd")
    elif what == 5 and free:
        ev(p, "GoCreate", new, choose.choice(stacks), stack)
        sequence[new], regions[new] = 1, []
        start(free.pop(), new)
        new += 1
    elif what == 6 and len(running) > 1 and choose.random() < 0.2:
        ev(p, "GoDestroy")
        stop(p)
        free.append(p)
    elif what == 7:
        name = choose.choice(names)
        regions[running[p]].append(name)
        ev(p, "UserRegionBegin", 0, name, stack)
    elif what == 8 and regions[running[p]]:
        ev(p, "UserRegionEnd", 0, regions[running[p]].pop(), stack)
    else:
        ev(p, "HeapAlloc", choose.randrange(1 << 40))
# No thread acts just before the end, where open regions shorten its last slice.
tick += 100
if not running and called:
    q, g = called.popitem()
    ev(q, "GoSyscallEnd")
    running[q] = g
elif not running:
    q, g = blocked.popitem()
    ev(q, "GoUnblock", g, sequence[g], stacks[0])
    sequence[g] += 1
    start(q, g)
ev(next(iter(running)), "HeapAlloc", 1)
with open(sys.argv[4], "wb") as file:
    file.write(write(23, t))
