# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_heap.py HEAP NONE GC: traces, see trace-heap.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    heap = [e.args[0] for e in events(sys.argv[1])[0] if e.type == "HeapAlloc"]
    # What the process has besides the blocks stays as it is.
    base = heap[0] - 301 * 1024
    assert 0 <= base < 100000, heap
    steps = [(b - a) // 1024 for a, b in zip(heap, heap[1:])]
    assert set(steps) == {100, -100}, steps
    assert steps == sorted(steps, reverse=True), steps
    assert 900 * 1024 < max(heap) - base <= 1000 * 1024, heap
    assert not [e for e in events(sys.argv[2])[0] if e.type == "HeapAlloc"]
    gc = [(e.type, e.args) for e in events(sys.argv[3])[0]
          if e.type.startswith("GC")]
    assert [t for t, _ in gc] == ["GCStart", "GCDone"] * 3, gc
    assert [args[0] for t, args in gc if t == "GCStart"] == [0, 1, 2], gc


main()
