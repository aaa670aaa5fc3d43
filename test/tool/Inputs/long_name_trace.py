# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# long_name_trace.py DIR FILE: writes a trace of 54 KB in which 2,000 threads and
# 2,000 lines of code have the same name of 1,000 characters. DIR has
# trace_writer.py.

import sys

sys.path.insert(0, sys.argv[1])
from trace_writer import Generation, write

COUNT = 2000
NAME = "long" * 250

g = Generation(23, 1)
main = g.stack((1, NAME, "/a.c", 1))
preempted = g.string("preempted")
g.ev(10, 1000, "ProcStatus", 0, 1)
g.ev(10, 1001, "GoStatusStack", 1, 10, 2, main)
for i in range(COUNT):
    stack = g.stack((2 + i, NAME, "/a.c", i))
    g.ev(10, 2000 + 10 * i, "GoCreate", 2 + i, stack, main)
    g.ev(10, 2002 + 10 * i, "GoStop", preempted, stack)
    g.ev(10, 2004 + 10 * i, "GoStart", 1, i + 1)
with open(sys.argv[2], "wb") as f:
    f.write(write(23, g))
