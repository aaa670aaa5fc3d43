# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# long_name_trace.py DIR FILE: writes a trace of 340 KB in which 400 threads and
# 400 lines of code have the same name of 300,000 characters. DIR has
# trace_writer.py.

import sys

sys.path.insert(0, sys.argv[1])
from trace_writer import Trace

COUNT = 400
NAME = "long" * 75000

t = Trace(11)
main = t.stack((1, NAME, "/a.c", 1))
t.ev(0, 1000, "GoCreate", 1, main, 0)
t.ev(0, 1001, "ProcStart", 10)
t.ev(0, 1002, "GoStart", 1, 1)
t.ev(0, 1003, "Gomaxprocs", 2, main)
t.ev(0, 1004, "Gomaxprocs", 2, main)
for i in range(COUNT):
    stack = t.stack((2 + i, NAME, "/a.c", i))
    t.ev(0, 2000 + 10 * i, "GoCreate", 2 + i, stack, main)
    t.ev(0, 2002 + 10 * i, "GoSched", stack)
    t.ev(0, 2004 + 10 * i, "GoStart", 1, i + 2)
with open(sys.argv[2], "wb") as f:
    f.write(t.write())
