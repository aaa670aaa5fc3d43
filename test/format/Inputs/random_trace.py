# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# random_trace.py SEED THREADS STEPS FILE: writes a trace in which threads are
# created, block, make system calls, wake each other and end, also while regions
# are open. The order of events depends on the seed only.

import random
import sys

from trace_writer import Trace

seed, threads, steps = map(int, sys.argv[1:4])
choose = random.Random(seed)
t = Trace()
stacks = [
    t.stack(*[(0x400000 + 256 * i + j, "f%d_%d" % (i, j), "/r.c", j + 1) for j in range(i % 9 + 1)])
    for i in range(20)
]
names = [t.string("region %d" % i) for i in range(5)]
tick = 1000
running, blocked, called = {}, {}, {}  # P: G, for all three
sequence, regions = {}, {}
free = list(range(1, threads))
new = 2


def ev(p, name, *args, **more):
    global tick
    t.ev(p, tick, name, *args, **more)
    tick += choose.randrange(4)  # equal ticks are legal


def start(p, g):
    ev(p, "ProcStart", 100 + p)
    ev(p, "GoStart", g, sequence[g])
    sequence[g] += 1
    running[p] = g


def stop(p):
    ev(p, "ProcStop")
    return running.pop(p)


ev(0, "GoCreate", 1, stacks[0], stacks[0])
sequence[1], regions[1] = 1, []
start(0, 1)
ev(0, "Gomaxprocs", 2, stacks[0])
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
        g = called.pop(q)
        ev(q, "GoSysExit", g, sequence[g], 0 if choose.random() < 0.5 else tick)
        sequence[g] += 1
        start(q, g)
    elif p is None:
        continue
    elif what < 4:
        ev(p, choose.choice(["GoBlockSync", "GoBlockCond", "GoSleep", "GoBlockNet"]), stack)
        blocked[p] = stop(p)
    elif what == 4:
        ev(p, "GoSysCall", stack)
        if choose.random() < 0.7:
            ev(p, "GoSysBlock")
            called[p] = stop(p)
    elif what == 5 and free:
        ev(p, "GoCreate", new, choose.choice(stacks), stack)
        sequence[new], regions[new] = 1, []
        start(free.pop(), new)
        new += 1
    elif what == 6 and len(running) > 1 and choose.random() < 0.2:
        ev(p, "GoEnd")
        stop(p)
        free.append(p)
    elif what == 7:
        name = choose.choice(names)
        regions[running[p]].append(name)
        ev(p, "UserRegion", 0, 0, name, stack)
    elif what == 8 and regions[running[p]]:
        ev(p, "UserRegion", 0, 1, regions[running[p]].pop(), stack)
    else:
        ev(p, "HeapAlloc", choose.randrange(1 << 40))
with open(sys.argv[4], "wb") as file:
    file.write(t.write())
