# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_recorder.py MILLISECONDS TRACE: see trace-recorder.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    wanted, path = int(sys.argv[1]), sys.argv[2]
    found, frequency = events(path)
    texts = [e.text for e in found if e.type == "UserLog"]
    assert "the last" in texts
    assert not any(t.startswith("round 0,") for t in texts), "the oldest"
    ms = (found[-1].tick - found[0].tick) * 1000 / frequency
    print("%d events, %.1f ms, %d bytes" % (
        len(found), ms, os.path.getsize(path)))
    if wanted:
        assert 0.9 * wanted < ms < 1.1 * wanted + 30, ms
    else:
        assert os.path.getsize(path) < 2 << 20
    names = {e.args[1][0][0] for e in found if e.type == "GoCreate"}
    assert {"run", "main", "wait_long", "wait_for_signals"} <= names, names


main()
