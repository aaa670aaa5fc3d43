# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# named_trace.py DIR FILE NAME...: writes a trace with a thread for each name of a
# function, which has created the thread and which the thread runs. DIR has
# trace_writer.py.

import sys

sys.path.insert(0, sys.argv[1])
from trace_writer import Trace

t = Trace(11)
main = t.stack((1, "main", "/a.c", 1))
t.ev(0, 1000, "GoCreate", 1, main, 0)
t.ev(0, 1001, "ProcStart", 10)
t.ev(0, 1002, "GoStart", 1, 1)
t.ev(0, 1003, "Gomaxprocs", 2, main)
t.ev(0, 1004, "Gomaxprocs", 2, main)
for i, name in enumerate(sys.argv[3:]):
    stack = t.stack((2 + i, name, "/a.c", 1))
    t.ev(0, 2000 + 10 * i, "GoCreate", 2 + i, stack, main)
    t.ev(0, 2002 + 10 * i, "GoSched", stack)
    t.ev(0, 2004 + 10 * i, "GoStart", 1, i + 2)
with open(sys.argv[2], "wb") as f:
    f.write(t.write())
