# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a profile that a careless reader reads in quadratic time or memory.

    costly_profile.py KIND COUNT OUT

ids      ids of locations that collide in a table with Fibonacci hashing
expand   one stack repeats a location with many inlined functions
comments many comments
lines    many functions with one line each
losses   many comments about lost data
drop     drop_frames that takes exponential time, for many functions
"""

import gzip
import sys

from random_profile import Strings, field, varint

MASK = (1 << 64) - 1
INVERSE = pow(0x9E3779B97F4A7C15, -1, 1 << 64)


def location(number, function, line, times=1):
    lines = field(4, field(1, function) + field(2, line)) * times
    return field(4, field(1, number) + field(3, number & MASK) + lines)


def function(number, name, file=0):
    return field(5, field(1, number) + field(2, name) + field(4, file))


def sample(stack):
    return field(2, field(1, b"".join(map(varint, stack))) + field(2, 5))


def body(kind, count, strings):
    name = strings["f"]
    if kind == "ids":
        ids = [(i << 44) * INVERSE & MASK for i in range(1, count + 1)]
        rest = b"".join(location(i, 1, 1) for i in ids)
        return function(1, name) + rest + sample(ids[:1])
    if kind == "expand":
        return function(1, name) + location(1, 1, 1, count) + sample([1] * count)
    if kind in ("comments", "losses"):
        text = "c%d" if kind == "comments" else "no_memory: %d events"
        ids = b"".join(varint(strings[text % i]) for i in range(count))
        return field(13, ids) + function(1, name) + location(1, 1, 1) + sample([1])
    if kind == "lines":
        return b"".join(
            function(i, strings["f%d" % i], strings["a.c"])
            + location(i, i, i) + sample([i])
            for i in range(1, count + 1)
        )
    assert kind == "drop"
    pattern = field(7, strings["(?:a|a)*[^a]"])
    return pattern + b"".join(
        function(i, strings["a" * 60 + "%06d" % i], strings["a.c"])
        + location(i, i, i) + sample([i])
        for i in range(1, count + 1)
    )


def main():
    kind, count, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    strings = Strings()
    head = field(1, field(1, strings["space"]) + field(2, strings["bytes"]))
    data = head + body(kind, count, strings)
    with open(out, "wb") as f:
        f.write(gzip.compress(data + strings.message(), 1, mtime=0))


if __name__ == "__main__":
    main()
