# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_wakers.py TRACE: see trace-waker.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def line_of(source, text):
    with open(source, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.rstrip().endswith("// " + text):
                return number
    raise ValueError(text)


def main():
    all_events, _ = events(sys.argv[1])
    runs = {}  # of threads, the function that they were created with
    for e in all_events:
        if e.type == "GoCreate" and e.args[1]:
            runs[e.args[0]] = e.args[1][0][0]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                          "trace-waker.c")
    waits, handed, wrong = {}, 0, []
    for e in all_events:
        if e.type == "GoBlockSync" and runs.get(e.g, "").startswith("run_"):
            waits[e.g] = e
        elif e.type == "GoUnblock" and e.args[0] in waits:
            del waits[e.args[0]]
            who = {"run_first": "first", "run_second": "second"}
            other = who[runs[e.args[0]]]
            other = "second" if other == "first" else "first"
            if e.g == 0 and not e.stack:
                # The other had let go before this one began to wait.
                continue
            handed += 1
            found = [f for f in e.stack if f[0] == other]
            if (who.get(runs.get(e.g)) != other or not found or
                    found[0][2] != line_of(source, "unlock in " + other)):
                wrong.append(e)
    print("%d waits ended by an unlock, %d wrong" % (handed, len(wrong)))
    for e in wrong[:5]:
        print(e)
    sys.exit(0 if handed >= 100 and not wrong else 1)


main()
