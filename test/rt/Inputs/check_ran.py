# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_ran.py RAN < JSON: compares the running times of mprof trace top
--format=json with RAN, lines of the id of a thread and its processor time in
nanoseconds. They differ by the time in system calls that begin and end waits."""

import json
import sys

threads = {t["tid"]: t for t in json.load(sys.stdin)["threads"]}
for line in open(sys.argv[1]):
    tid, ran = map(int, line.split())
    running = threads[tid]["running_ns"]
    assert abs(running - ran) < ran / 10, (ran, threads[tid])
