# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# named_trace.py DIR FILE NAME...: writes a trace with a thread for each name of a
# function, which has created the thread and which the thread runs. DIR has
# trace_writer.py.

import sys

sys.path.insert(0, sys.argv[1])
from trace_writer import Generation, write

g = Generation(23, 1)
main = g.stack((1, "main", "/a.c", 1))
preempted = g.string("preempted")
g.ev(10, 1000, "ProcStatus", 0, 1)
g.ev(10, 1001, "GoStatusStack", 1, 10, 2, main)
for i, name in enumerate(sys.argv[3:]):
    stack = g.stack((2 + i, name, "/a.c", 1))
    g.ev(10, 2000 + 10 * i, "GoCreate", 2 + i, stack, main)
    g.ev(10, 2002 + 10 * i, "GoStop", preempted, stack)
    g.ev(10, 2004 + 10 * i, "GoStart", 1, i + 1)
with open(sys.argv[2], "wb") as f:
    f.write(write(23, g))
