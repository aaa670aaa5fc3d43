# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_whole_run.py TRACE: see trace-whole-run.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    found, _ = events(sys.argv[1])
    created = [e.args[1][0][0] for e in found if e.type == "GoCreate"]
    assert created == ["main", "in_thread"], created
    sleeps = [e for e in found if e.type == "GoSleep"]
    assert len(sleeps) == 1 and sleeps[0].stack[1][0] == "in_thread", sleeps
    assert [e.type for e in found].count("GoEnd") == 1
    joins = [e for e in found if e.type == "GoBlockCond"]
    assert [f[0] for f in joins[0].stack] == [
        "pthread_join", "make_thread", "main"], joins


main()
