# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# message_seeds.py DIR: writes answers of the process that finds names, as
# tools/mprof/names/worker.h describes them, to files in DIR.

import os
import struct
import sys


def text(s):
    return s.encode() + b"\0"


def problem(line):
    return b"P" + text(line)


def frames(index, *names):
    out = b"F" + struct.pack("<II", index, len(names))
    for i, name in enumerate(names):
        out += struct.pack("<qq", 10 + i, 3) + text(name) + text("/src/a.c")
    return out


def lock(index, inside, name):
    return b"L" + struct.pack("<IQ", index, inside) + text(name)


USED = b"U" + text("/app") + text("files/ab")
SEEDS = [
    frames(0, "f", "main") + frames(1, "g") + USED + b"E",
    frames(2) + frames(0, *"f" * 256) + b"E",
    frames(1, "\x1b[2J", "") + b"E",
    problem("/app is missing") + b"E",
    problem("") + frames(0, "f") + b"E",
    problem("no end")[:-1],
    frames(0, "f")[:-3],
    frames(3, "out of range") + b"E",
    frames(0, *"f" * 257) + b"E",
    lock(0, 0, "table") + lock(1, 8, "queue") + b"E",
    lock(2, 1 << 63, "") + lock(9, 0, "out of range") + b"E",
    frames(0, "f") + frames(0, "twice") + b"E",
    b"E",
]

os.makedirs(sys.argv[1])
for i, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], str(i)), "wb") as f:
        f.write(seed)
