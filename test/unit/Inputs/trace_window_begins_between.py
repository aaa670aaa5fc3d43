# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_window_begins_between.py TRACE: see
trace-window-begins-between.c."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "rt", "Inputs"))
from trace_events import events

WANTED = {
    102: [("GoStart", 2000), ("GoBlockSync", 2200)],
    103: [("GoUnblock", 2000), ("GoStart", 2500), ("GoBlockSync", 2600)],
    104: [("GoUnblock", 2400), ("GoStart", 3200), ("GoBlockSync", 3300)],
}


def main():
    found = {}
    for e in events(sys.argv[1])[0]:
        if e.type in ("GoUnblock", "GoStart"):
            found.setdefault(e.args[0], []).append((e.type, e.tick))
        elif e.type == "GoBlockSync":
            found.setdefault(e.g, []).append((e.type, e.tick))
    for g, wanted in WANTED.items():
        assert found.get(g) == wanted, (g, found.get(g))


main()
