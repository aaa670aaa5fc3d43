# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_parts.py JSON: checks that in the output of mprof latency --format=json,
the parts of each task add up to its time, and so do those of all together."""

import json
import sys

report = json.load(open(sys.argv[1]))
for task in report["slowest"]:
    parts = sum(part["ns"] for part in task["parts"])
    assert parts == task["length_ns"], task
counts = sum(t["ended"] + t["not_ended"] for t in report["tasks"])
assert len(report["slowest"]) == counts
together = report["slowest_together"]
assert together["tasks"] == counts, together
assert together["ns"] == sum(task["length_ns"] for task in report["slowest"])
assert together["ns"] == sum(part["ns"] for part in together["parts"])
assert all(0 < part["tasks"] <= counts for part in together["parts"])
