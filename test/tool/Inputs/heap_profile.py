# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a heap profile from lines of standard input.

    heap_profile.py PERIOD BASE OUT [COMMENT]...

A line is "BLOCKS SIZE FRAME;FRAME;...", with the leaf first. BLOCKS/INUSE instead of
BLOCKS says how many of the blocks are in use, which all are otherwise. A frame is
"FUNCTION" or "FUNCTION@FILE:LINE", after "MODULE!" if it is not in the program. In a
function's name, \\xHH stands for a byte.
Addresses begin at BASE, so that profiles with other addresses can be compared.

PERIOD "memory" stands for a memory profile. A line then is "RSS USED_BESIDE FRAME;...",
whose last frame is the part. PERIOD "cpu" stands for a CPU profile, whose lines are
"SAMPLES PERIOD FRAME;..." with one period in nanoseconds.
"""

import gzip
import re
import sys

from random_profile import Strings, field, varint


HEAP = ("alloc_objects", "count"), ("alloc_space", "bytes"), \
    ("inuse_objects", "count"), ("inuse_space", "bytes")
CPU = ("samples", "count"), ("cpu", "nanoseconds")
MEMORY = tuple((kind, "bytes") for kind in (
    "used_beside", "private_dirty", "swap", "pss", "rss"))


class Profile:
    def __init__(self, types, what, unit, period, base):
        self.strings, self.base, self.ids, self.out = Strings(), base, {}, []
        for kind, of in types:
            self.out.append(field(1, self.value_type(kind, of)))
        self.out.append(field(11, self.value_type(what, unit)) + field(12, period))
        self.modules = {}
        self.mapping("/bin/app")
        self.out.append(field(13, self.strings["command: ./app <b> | [x](y) @all"]))

    def value_type(self, kind, unit):
        return field(1, self.strings[kind]) + field(2, self.strings[unit])

    def mapping(self, module):
        """Returns the id of the module's mapping."""
        if module not in self.modules:
            n = self.modules[module] = len(self.modules) + 1
            start = self.base + ((n - 1) << 30)
            self.out.append(field(3, field(1, n) + field(2, start)
                                  + field(3, start + (1 << 30))
                                  + field(5, self.strings[module])))
        return self.modules[module]

    def location(self, frame):
        """Returns the id of the frame's location, which is also that of its function."""
        if frame not in self.ids:
            n = self.ids[frame] = len(self.ids) + 1
            module, _, function = frame.rpartition("!")
            name, _, place = function.partition("@")
            mapping = self.mapping(module or "/bin/app")
            address = self.base + ((mapping - 1) << 30) + 16 * n
            file, _, line = place.partition(":")
            self.out.append(field(5, field(1, n) + field(2, self.strings[name])
                                  + field(4, self.strings[file])))
            self.out.append(field(4, field(1, n) + field(2, mapping) + field(3, address)
                                  + field(4, field(1, n) + field(2, int(line or 0)))))
        return self.ids[frame]

    def sample(self, values, frames, label=b""):
        stack = [self.location(f) for f in frames]
        self.out.append(field(2, field(1, b"".join(map(varint, stack)))
                              + field(2, b"".join(map(varint, values))) + label))

    def heap_sample(self, blocks, inuse, size, frames):
        self.sample((blocks, blocks * size, inuse, inuse * size), frames,
                    field(3, field(1, self.strings["bytes"]) + field(3, size)))

    def bytes(self):
        strings = b"".join(
            field(6, re.sub(rb"\\x(..)", lambda m: bytes([int(m[1], 16)]), s.encode()))
            for s in self.strings.ids)
        return b"".join(self.out) + strings


is_memory = sys.argv[1] == "memory"
base, lines = int(sys.argv[2], 0), sys.stdin.readlines()
if is_memory:
    profile = Profile(MEMORY, "rss", "bytes", 1, base)
elif sys.argv[1] == "cpu":
    profile = Profile(CPU, "cpu", "nanoseconds", int(lines[0].split()[1]), base)
else:
    profile = Profile(HEAP, "space", "bytes", int(sys.argv[1]), base)
for text in lines:
    first, second, stack = text.rstrip("\n").split(" ", 2)
    if sys.argv[1] == "cpu":
        profile.sample((int(first), int(first) * int(second)), stack.split(";"))
        continue
    if is_memory:
        rss = int(first)
        profile.sample((int(second), rss, 0, rss, rss), stack.split(";"))
        continue
    blocks, _, inuse = first.partition("/")
    profile.heap_sample(int(blocks), int(inuse or blocks), int(second), stack.split(";"))
for comment in sys.argv[4:]:
    profile.out.append(field(13, profile.strings[comment]))
with open(sys.argv[3], "wb") as file:
    file.write(gzip.compress(profile.bytes(), 1, mtime=0))
