# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_times.py THREADS < JSON: checks the output of mprof trace top
--format=json. There must be so many threads. The times of a thread must add up
to its life. Prints each thread with the kinds of its times."""

import json
import sys

report = json.load(sys.stdin)
threads = report["threads"]
assert len(threads) == int(sys.argv[1]), threads
for t in threads:
    times = {k: v for k, v in t.items() if k.endswith("_ns")}
    begin, life = times.pop("begin_ns"), times.pop("life_ns")
    waits = times.pop("waits_ns")
    assert life > 0 and begin + life <= report["duration_ns"], t
    # Each number is rounded down to a nanosecond.
    assert abs(sum(times.values()) + sum(waits.values()) - life) <= 1, t
    kinds = [k[:-3] for k, v in times.items() if v] + sorted(waits)
    print(t["name"], "tid" if t["tid"] else "", *kinds)
