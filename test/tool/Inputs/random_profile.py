# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a random profile in pprof's format.

    random_profile.py SEED STACKS FUNCTIONS OUT

The profile has inlined functions, recursion, labels, locations without names,
equal stacks in several samples, negative values if SEED is a multiple of 5, and
drop_frames if SEED is even.
"""

import gzip
import random
import sys

VARINT, BYTES = 0, 2
SCOPES = ("", "", "app::", "app::Cache::", "std::", "ns::(anonymous namespace)::")


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    return varint(number << 3 | BYTES) + varint(len(value)) + value


class Strings:
    def __init__(self):
        self.ids = {"": 0}

    def __getitem__(self, text):
        return self.ids.setdefault(text, len(self.ids))

    def message(self):
        return b"".join(field(6, s.encode()) for s in self.ids)


def locations(rng, strings, functions):
    """Returns the messages of the functions and of their locations."""
    out = []
    for i in range(1, functions + 1):
        name = "%sf%d" % (rng.choice(SCOPES), i)
        file = "/src/dir%d/file%d.cpp" % (i % 7, i % 41)
        out.append(
            field(5, field(1, i) + field(2, strings[name])
                  + field(3, strings[name]) + field(4, strings[file]))
        )
    count = functions * 2
    for i in range(1, count + 1):
        message = field(1, i) + field(2, 1 + (i % 9 == 0))
        message += field(3, (0x200000 if i % 9 == 0 else 0x100000) + 16 * i)
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3))):
            line = field(1, rng.randint(1, functions))
            message += field(4, line + field(2, rng.randint(1, 900)))
        out.append(field(4, message))
    return out, count


def sample(rng, strings, count, sign):
    depth = rng.choice((1, 3, 10, 30, 60))
    stack = [rng.randint(1, min(count, rng.choice((20, 200, count)))) for _ in range(depth)]
    if rng.random() < 0.2:
        stack[1:1] = [stack[0]] * rng.randint(1, 9)
    number = rng.randint(1, 1000)
    size = rng.choice((16, 32, 48, 1024, 100000))
    inuse = rng.choice((0, 0, number // 2))
    if sign and rng.random() < 0.3:
        inuse = -inuse
    values = (number, number * size, inuse, inuse * size)
    message = field(1, b"".join(map(varint, stack)))
    message += field(2, b"".join(map(varint, values)))
    message += field(3, field(1, strings["bytes"]) + field(3, size))
    if rng.random() < 0.3:
        tag = field(1, strings["customer"]) + field(2, strings["c%d" % rng.randint(1, 3)])
        message += field(3, tag)
    return field(2, message)


def profile(seed, stacks, functions):
    rng = random.Random(seed)
    strings = Strings()
    head = b""
    for kind, unit in (("alloc_objects", "count"), ("alloc_space", "bytes"),
                       ("inuse_objects", "count"), ("inuse_space", "bytes")):
        head += field(1, field(1, strings[kind]) + field(2, strings[unit]))
    head += field(11, field(1, strings["space"]) + field(2, strings["bytes"]))
    head += field(12, 524288) + field(9, 1700000000000000000)
    for i, name in ((1, "/bin/app"), (2, "/lib/libx.so.1")):
        start = i << 20
        head += field(3, field(1, i) + field(2, start) + field(3, start + (1 << 20))
                      + field(5, strings[name]))
    if seed % 2 == 0:
        head += field(7, strings["(std::)?f[0-9]*7|app::f[0-9]*3"])
    rest, count = locations(rng, strings, functions)
    rest += [sample(rng, strings, count, seed % 5 == 0) for _ in range(stacks)]
    return head + b"".join(rest) + strings.message()


def main():
    seed, stacks, functions = map(int, sys.argv[1:4])
    with open(sys.argv[4], "wb") as out:
        out.write(gzip.compress(profile(seed, stacks, functions), 1, mtime=0))


if __name__ == "__main__":
    main()
