# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_window.py WHOLE WINDOW FROM TO: checks that the second JSON file is the
# part of the first between FROM and TO, in nanoseconds. Slices that cross these
# bounds are cut there.

import sys

from timeline import Timeline, units

whole, window = (Timeline(path).check() for path in sys.argv[1:3])
first, last = (units(int(ns)) for ns in sys.argv[3:5])
# Largest number of nested regions. Each region shifts the begin and the end of
# the slices inside it by a unit.
DEPTH = 16


def cut(slices):
    return [
        (name, max(start, first), min(end, last))
        for name, start, end in slices
        if end > first and start < last
    ]


def without_moves(slices):
    """Returns the slices without those that are cut to an empty rest."""
    for _, start, end in slices:
        assert first <= start and end <= last + DEPTH, slices
    return [
        (
            name,
            start if start > first + DEPTH else first,
            end if end < last - DEPTH else last,
        )
        for name, start, end in slices
        if end > first + DEPTH and start < last - DEPTH
    ]


assert set(window.rows) == set(window.names), window.names
shown = 0
for tid in whole.rows:
    for category in ("state", "region"):
        want = without_moves(cut(whole.slices(tid, category)))
        got = without_moves(window.slices(tid, category))
        assert got == want, "%s\n%s\n%s" % (tid, got, want)
        shown += len(got)

# An arrow is shown only if both its ends are.
want = [a for a in whole.arrows() if first < a[2] and a[4] < last]
got = [a for a in window.arrows() if first < a[2] and a[4] < last]
assert got == want, (got, want)
assert all(first <= a[2] and a[4] <= last for a in window.arrows())

for name in ("heap in use", "heap goal"):
    values = [(e["ts"], e["args"]["bytes"]) for e in whole.kinds["C"] if e["name"] == name]
    before = [value for at, value in values if at < first]
    want = [(first, before[-1])] if before else []
    want += [v for v in values if first <= v[0] <= last]
    end = min(last, values[-1][0] if values else 0)
    want += [(end, want[-1][1])] if want and want[-1][0] < end else []
    got = [(e["ts"], e["args"]["bytes"]) for e in window.kinds["C"] if e["name"] == name]
    # A value at the end of the window is drawn twice.
    got = list(dict.fromkeys(got))
    want = list(dict.fromkeys(want))
    assert got == want, (name, got, want)

for event in window.kinds["i"] + window.ranges:
    assert first <= event["ts"] <= last, event
points = [e["ts"] for e in whole.kinds["i"] if first <= e["ts"] <= last]
assert [e["ts"] for e in window.kinds["i"]] == points, points
print(
    "%d slices, %d arrows, %d ranges, %d points"
    % (shown, len(window.arrows()), len(window.ranges) // 2, len(points))
)
