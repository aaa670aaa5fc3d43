# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_durations.py TOOK TRACES...: see trace-durations.c."""

import re
import sys


def waited(paths):
    """Milliseconds by function, of what "pprof -traces" prints."""
    sums = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for part in f.read().split("-----------+"):
                found = re.search(r"^\s*([\d.]+)ms\s", part, re.M)
                for name in set(re.findall(r"\bfor_\w+", part)):
                    sums[name] = sums.get(name, 0) + float(found.group(1))
    return sums


def main():
    sums = waited(sys.argv[2:])
    is_good = True
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().split("\n")[:-1]
    for line in lines:
        name, took = line.split()
        shown = sums.get(name, 0)
        print("%s: %s ms, shown as %.3f" % (name, took, shown))
        is_good &= abs(shown - float(took)) <= 0.02 * float(took)
    sys.exit(0 if is_good and len(lines) == 4 else 1)


main()
