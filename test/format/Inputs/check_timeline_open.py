# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_timeline_open.py JSON: checks the JSON of the trace left-open of
# trace_cases.py. Times are (ticks - 1000) * 64 ns.

import sys

from timeline import Timeline, units

line = Timeline(sys.argv[1]).check()


def at(tick):
    return units((tick - 1000) * 64)


assert line.names[1] == "main G1 tid 10", line.names
assert line.names[3] == "work G3", line.names  # no tid, as it had two tids
assert line.slices(1, "region") == [
    ("whole", at(1020), at(1100)),
    ("part", at(1027), at(1100) - 1),
]
assert line.slices(2, "region") == [("rest", at(1030), at(1040) + 1)]
assert [(e["ph"], e["name"], e["ts"]) for e in line.ranges] == [
    ("b", "job", at(1025)),
    ("b", "assist", at(1028)),
    ("e", "assist", at(1029)),
    ("e", "job", at(1100)),
]
