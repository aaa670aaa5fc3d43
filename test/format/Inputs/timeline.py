# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# timeline.py JSON...: reads Chrome's trace event format and checks the
# assumptions of its viewers. Slices of a row nest, and a thread is in one state
# at a time. An arrow has two ends, in slices, and the second is not before the
# first. Each event that begins also ends. All times are in units of 1/32 us.

import json
import sys
from bisect import bisect_left
from collections import defaultdict
from decimal import Decimal


def units(ns):
    """Returns the time as mprof trace json rounds it."""
    return (ns * 32 + 500) // 1000


def time_of(value):
    time = Decimal(value) * 32
    assert time == int(time) and 0 <= time < 1 << 62, value
    return int(time)


def begin_and_end(event, number):
    """Returns the times that a viewer computes with this type of numbers."""
    begin, duration = number(event["number"]), number(event["dur"])
    return begin, begin + duration


def truncated(value):
    """Converts microseconds to nanoseconds as Perfetto does."""
    return int(float(value) * 1000)


class Timeline:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            whole = json.load(file, parse_float=Decimal)
        events, self.frames = whole["traceEvents"], whole.get("stackFrames", {})
        self.rows = defaultdict(list)  # thread: [(start, end, event)]
        self.kinds = defaultdict(list)  # phase: [event]
        self.ranges = []  # begins and ends, in order
        for event in events:
            if event["ph"] != "M":
                event["number"] = event["ts"]
                event["ts"] = time_of(event["ts"])
                event.setdefault("args", {})
            if "sf" in event:
                event["args"]["stack"] = self.stack(event["sf"])
            if "esf" in event:
                event["args"]["woken at"] = self.stack(event["esf"])
            if event["ph"] == "X":
                start = event["ts"]
                end = start + time_of(event["dur"])
                event.setdefault("cat", "state")
                self.rows[event["tid"]].append((start, end, event))
            self.kinds[event["ph"]].append(event)
            if event["ph"] in "be":
                self.ranges.append(event)
        self.names = {
            e["tid"]: e["args"]["name"]
            for e in self.kinds["M"]
            if e["name"] == "thread_name"
        }

    def stack(self, number):
        """Returns the frames of a stack, leaf first, one per line."""
        lines = []
        while number:
            frame = self.frames[str(number)]
            lines.append(frame["name"])
            number = frame.get("parent")
        return "\n".join(lines)

    def slices(self, tid, category="state"):
        return [
            (event["name"], start, end)
            for start, end, event in sorted(self.rows[tid], key=lambda r: r[:2])
            if event["cat"] == category
        ]

    def arrows(self):
        """[(name, from thread, at, to thread, at)]"""
        ends = defaultdict(dict)
        for phase in "sf":
            for event in self.kinds[phase]:
                assert phase not in ends[event["id"]], event
                ends[event["id"]][phase] = event
        result = []
        for number, end in ends.items():
            assert set(end) == {"s", "f"}, number
            s, f = end["s"], end["f"]
            assert s["name"] == f["name"], number
            result.append((s["name"], s["tid"], s["ts"], f["tid"], f["ts"]))
        return sorted(result, key=lambda a: a[2:])

    def check(self):
        for tid, row in self.rows.items():
            self.check_nesting(tid, row)
            self.check_states(tid)
            assert tid in self.names, tid
        states = {tid: self.slices(tid) for tid in self.rows}
        ends = {tid: [end for _, _, end in row] for tid, row in states.items()}
        for name, tid, at, to, then in self.arrows():
            assert at <= then, (name, at, then)
            first = bisect_left(ends[tid], at)
            assert states[tid][first][1] <= at, (name, tid, at)
            # It points to the beginning of the slice that it caused.
            touching = states[to][bisect_left(ends[to], then) :][:9]
            assert ("running", then) in [s[:2] for s in touching], (name, to, then)
        open_ranges, last = set(), 0
        for event in self.ranges:
            key = event["cat"], event["name"], event["id"]
            assert (key in open_ranges) == (event["ph"] == "e"), event
            assert event["ts"] >= last, event
            open_ranges ^= {key}
            last = event["ts"]
        assert not open_ranges, open_ranges
        return self

    @staticmethod
    def check_nesting(tid, row):
        # Of slices that begin at the same time, chrome://tracing takes the
        # first in the file for the outer one. speedscope adds numbers of
        # JavaScript, and Perfetto truncates to nanoseconds.
        for number in Decimal, float, truncated:
            stack = []
            times = [begin_and_end(event, number) for _, _, event in row]
            for start, end in sorted(times, key=lambda t: t[0]):
                while stack and stack[-1] <= start:
                    stack.pop()
                assert not stack or end <= stack[-1], (tid, number, start, end)
                stack.append(end)

    def check_states(self, tid):
        last = 0
        for name, start, end in self.slices(tid):
            assert start >= last, (tid, name, start, last)
            last = end


if __name__ == "__main__":
    for path in sys.argv[1:]:
        line = Timeline(path).check()
        print(
            "%s: %d slices, %d arrows"
            % (path, sum(map(len, line.rows.values())), len(line.arrows()))
        )
