# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# MPROF PROFILE: prints a line for each function that has mapped memory, with calls,
# bytes, ranges that are still mapped, and their bytes.

import csv
import subprocess
import sys

TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
rows = {}
for i, type in enumerate(TYPES):
    out = subprocess.run(
        [sys.argv[1], "top", "-n", "0", "--format=csv", "--sample=" + type, sys.argv[2]],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for row in csv.DictReader(out.splitlines()):
        rows.setdefault(row["function"], [0] * 4)[i] = int(row["flat"])
for name in sorted(rows):
    if any(rows[name]):
        print(name, *rows[name])
