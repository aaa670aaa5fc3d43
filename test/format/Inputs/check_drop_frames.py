# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_drop_frames.py PROFILE NAMES: checks that the profile's drop_frames
# matches the names that follow "// DROP " in the file NAMES, and does not match
# those that follow "// KEEP ".

import gzip
import re
import sys

profile = gzip.open(sys.argv[1]).read()
start = profile.index(b"malloc|calloc")
# The string is preceded by its length, a varint.
length, shift, at = 0, 0, profile.rindex(b"\x32", 0, start) + 1
for byte in profile[at:start]:
    length |= (byte & 127) << shift
    shift += 7
pattern = profile[start : start + length].decode()
re.compile(pattern)

names = [line.rstrip("\n") for line in open(sys.argv[2])]
drop = [n[8:] for n in names if n.startswith("// DROP ")]
keep = [n[8:] for n in names if n.startswith("// KEEP ")]
assert len(drop) > 9 and len(keep) > 4
for name in drop:
    assert re.fullmatch(pattern, name), (name, pattern)
for name in keep:
    assert not re.fullmatch(pattern, name), (name, pattern)
