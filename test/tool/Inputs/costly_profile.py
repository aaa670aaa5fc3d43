# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a profile that a careless reader reads in quadratic time or memory.

    costly_profile.py KIND COUNT OUT

ids      ids of locations that collide in a table with Fibonacci hashing
expand   one stack repeats a location with many inlined functions
comments many comments
lines    many functions with one line each
losses   many comments about lost data
strings  strings that collide in a table whose hash mixes only words, for each
         random start; COUNT is the number of strings, a power of two
drop     drop_frames that takes exponential time, for many functions
"""

import functools
import gzip
import sys

import random_profile

# The same numbers come often.
varint = functools.lru_cache(1 << 17)(random_profile.varint)
field, Strings = random_profile.field, random_profile.Strings

MASK = (1 << 64) - 1
INVERSE = pow(0x9E3779B97F4A7C15, -1, 1 << 64)


def message(number, *fields):
    """A message whose fields are pairs of a one-byte key and a number, or bytes."""
    inner = b"".join([f if isinstance(f, bytes) else f[0] + varint(f[1]) for f in fields])
    return bytes([number << 3 | 2]) + varint(len(inner)) + inner


def location(number, function, line, times=1):
    lines = message(4, (b"\x08", function), (b"\x10", line)) * times
    number = random_profile.varint(number)
    return message(4, b"\x08" + number + b"\x18" + number, lines)


def function(number, name, file=0):
    return message(5, (b"\x08", number), (b"\x10", name), (b"\x20", file))


def sample(stack):
    return message(2, message(1, b"".join(map(varint, stack))), b"\x10\x05")


def body(kind, count, strings):
    name = strings["f"]
    if kind == "ids":
        ids = [(i << 44) * INVERSE & MASK for i in range(1, count + 1)]
        rest = b"".join(location(i, 1, 1) for i in ids)
        return function(1, name) + rest + sample(ids[:1])
    if kind == "expand":
        return function(1, name) + location(1, 1, 1, count) + sample([1] * count)
    if kind == "comments":
        ids = b"".join([varint(i + 10) for i in range(count)])
        return field(13, ids) + function(1, name) + location(1, 1, 1) + sample([1])
    if kind == "losses":
        ids = b"".join(varint(strings["no_memory: %d events" % i]) for i in range(count))
        return field(13, ids) + function(1, name) + location(1, 1, 1) + sample([1])
    if kind == "lines":
        return b"".join(
            function(i, strings["f%d" % i], strings["a.c"])
            + location(i, i, i) + sample([i])
            for i in range(1, count + 1)
        )
    if kind == "strings":
        return function(1, name) + location(1, 1, 1) + sample([1])
    assert kind == "drop"
    pattern = field(7, strings["(?:a|a)*[^a]"])
    return pattern + b"".join(
        function(i, strings["a" * 60 + "%06d" % i], strings["a.c"])
        + location(i, i, i) + sample([i])
        for i in range(1, count + 1)
    )


def colliding(count):
    """Strings for a hash that multiplies each word and then adds h >> 29 to h.

    Multiplication keeps a difference in bit 63, and the shift copies it to bit 34, so
    a difference of both bits in the next word cancels it.
    """
    block, other = b"a" * 16, b"aaaaaaa\xe1aaaaeaa\xe1"
    names = [b""]
    while len(names) < count:
        names = [n + b for n in names for b in (block, other)]
    return b"".join(field(6, n) for n in names)


def numbered(count):
    return b"".join([b"\x32\x07c%06d" % i for i in range(count + 10)])


def main():
    kind, count, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    strings = Strings()
    head = field(1, field(1, strings["space"]) + field(2, strings["bytes"]))
    data = head + body(kind, count, strings)
    with open(out, "wb") as f:
        data += strings.message()
        if kind in ("strings", "comments"):
            data += (colliding if kind == "strings" else numbered)(count)
        f.write(gzip.compress(data, 1, mtime=0))


if __name__ == "__main__":
    main()
