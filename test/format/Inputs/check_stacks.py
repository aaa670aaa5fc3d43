# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_stacks.py TEXT FRAMES: checks that two JSON files of a trace have the
# same slices with the same stacks. The first has the stacks as text, and the
# second has them in "stackFrames", each frame with its callers once.

import sys

from timeline import Timeline

text, frames = (Timeline(path).check() for path in sys.argv[1:])
DETAILS = "stack", "woken at"


def slices(line):
    return [
        (tid, start, end, event["name"], [event["args"].get(d) for d in DETAILS])
        for tid in sorted(line.rows)
        for start, end, event in line.rows[tid]
    ]


assert not text.frames
assert slices(text) == slices(frames)
nodes = [(f["name"], f.get("parent")) for f in frames.frames.values()]
assert len(nodes) == len(set(nodes)), "a frame is there twice"
for event in text.kinds["X"]:
    assert "sf" not in event and "esf" not in event, event
stacks = {e[4][0] for e in slices(frames)} - {None}
print("%d stacks of %d frames" % (len(stacks), len(nodes)))
