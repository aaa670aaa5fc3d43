# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_cpu_stacks.py OUTPUT: see cpu-inlined-and-vdso.c."""

import re
import sys

found = dict.fromkeys(("calls_inlined", "reads_clock", "even", "odd"), 0)
for line in open(sys.argv[1]):
    if " <- " not in line:
        continue
    head, _, stack = line.rstrip("\n").rpartition(" : ")
    frames = stack.split(" <- ")
    label = re.search(r"race=(\w+)", head)
    for name in found:
        if name not in frames:
            continue
        found[name] += 1
        assert frames.count(name) == 1 and "main" in frames[frames.index(name) :], line
        assert (label and label[1]) == (name if name in ("even", "odd") else None), line
        if name != "reads_clock" and frames.index(name) > 0:
            assert frames[frames.index(name) - 1] == "inlined", line
print(found)
assert all(found.values()), found
inlined = [line for line in open(sys.argv[1]) if "inlined <- calls_inlined" in line]
assert inlined, "no frame of the inlined function"
