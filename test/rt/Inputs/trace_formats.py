# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_formats.py 1.11.json 1.23.json 1.5.json: see trace-formats.c.
Prints the addresses of the stack of the wait for the lock in 1.5."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "format", "Inputs"))
from timeline import Timeline

# A runnable thread may be shown or not: it depends on the ticks between.
LEFT_OUT = {"runnable"}


def shown(line, names):
    """By thread: slices, equal neighbours as one, with what is known of them."""
    result = {}
    for tid, row in line.rows.items():
        slices = []
        for _, _, e in sorted(row, key=lambda r: (r[0], -r[1])):
            if (not names and e["cat"] != "state") or e["name"] in LEFT_OUT:
                continue
            args = e["args"]
            one = [e["name"], args.get("woken by", "").split(" ")[-1]]
            # Of those that waited before, 1.23 knows where they started.
            if names and "since before" not in e["name"]:
                one += [args.get("stack"), args.get("woken at")]
            if slices[-1:] != [one]:
                slices.append(one)
        result[tid] = slices
    return result


def main():
    old, new, oldest = (Timeline(path).check() for path in sys.argv[1:])
    assert shown(old, True) == shown(new, True), (shown(old, True),
                                                  shown(new, True))
    assert shown(old, False) == shown(oldest, False), (shown(old, False),
                                                       shown(oldest, False))
    kinds = {s[0] for row in shown(new, False).values() for s in row}
    assert kinds >= {"running", "blocked: sync", "blocked: cond",
                     "blocked: sleep", "blocked: select", "system call"}, kinds
    names = [{tid: name.split(" tid ")[0] for tid, name in line.names.items()}
             for line in (old, new)]
    assert names[0] == names[1], names
    assert {n.split(" ")[0] for n in names[0].values()} >= {
        "main", "run", "run_early"}, names
    lock = next(e for row in oldest.rows.values() for _, _, e in row
                if e["name"] == "blocked: sync")
    assert lock["args"]["woken by"].startswith("G"), lock
    # Those of calls are where they return to.
    print(" ".join(hex(int(a, 16) - 1)
                   for a in lock["args"]["stack"].split("\n")[-3:]))


main()
