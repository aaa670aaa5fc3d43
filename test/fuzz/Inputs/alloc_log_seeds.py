# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# alloc_log_seeds.py DIR: writes random allocation logs to DIR, always the same
# ones, as seeds of alloc_log_fuzz.c.

import os
import random
import sys

choose = random.Random(1)


def stack():
    frames = ["\t0x%x app+0x%x" % (0x401000 + i, i) for i in range(choose.randrange(4))]
    return frames + choose.choice([[], [], ["\t[truncated]"], ["\t0x7f0000000000"]])


def record(time):
    block = "0x%x" % (0x1000 * choose.randrange(1, 6))
    size = "0x%x" % choose.choice([1, 8, 32, 1 << 40])
    of = choose.choice(["", "", ", gc", ", custom"])
    call, end = choose.choice(
        [
            ("alloc(%s, %s%s)" % (block, size, of), []),
            ("free(%s, %s%s)" % (block, size, of), []),
            ("free(%s%s)" % (block, of), []),
            ("gc()", ["end tracegc"]),
        ]
    )
    thread = "thread %d [%.6f]:" % (choose.randrange(1, 4), time / 1e6)
    return ["trace" + call, thread, *stack(), *end, ""]


def log(part):
    lines = [
        "# MProf allocation log 1, pid 71, part %d, begun 1763760000000000000" % part,
        "# heap_rate 1",
        "# modules 2",
        "# module 0x401000-0x402000 0x400000 00ff /none/app",
        "# module 0x7f0000000000-0x7f0000001000 0x7f0000000000 - /none/lib",
    ]
    for i in range(choose.randrange(1, 12)):
        lines += record(1000 * part + i)
        if choose.randrange(8) == 0:
            lines.append("# lost %d" % choose.randrange(9))
    return "\n".join(lines) + "\n"


for number in range(40):
    with open(os.path.join(sys.argv[1], str(number)), "w") as file:
        file.write(log(1 + number % 2))
