# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mprof diff and mprof leaks on profiles with extreme numbers.

    hostile_values.py MPROF SEED RUNS

Values, sizes of blocks, periods, lines and addresses are any 64-bit numbers, units are
exchanged, stacks are empty or long. Fails if mprof ends by a signal or an unknown exit
status, or prints JSON that is not valid, or a number that is none.
"""

import json
import random
import re
import subprocess
import sys

from random_profile import Strings, field, varint

EXTREME = (0, 1, 2, 16, 1000, 1 << 31, 1 << 53, 1 << 62, (1 << 63) - 1, 1 << 63,
           (1 << 64) - 1, (1 << 64) - 1000)
TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
COMMANDS = (
    "diff X Y -b alloc_space>+5% -b inuse_objects>0@f1 --all --exact",
    "diff X Y -b alloc_space>0 --format json --all",
    "diff X Y -b alloc_space>0 --format md",
    "diff X Y -b inuse_space>-5% --format html",
    "diff -b alloc_space>+5% --exact X Y -- Y X",
    "diff -b alloc_space>+5% -b inuse_space>+99999999999999999999999999999 X Y X -- Y X",
    "leaks X --suppressions suppressions --all",
    "leaks X Y --all",
)
rng = random.Random(int(sys.argv[2]))


def number():
    return rng.choice(EXTREME) if rng.random() < 0.7 else rng.randrange(1 << 64)


def profile(units):
    s = Strings()
    out = b"".join(field(1, field(1, s[t]) + field(2, s[u])) for t, u in zip(TYPES, units))
    what = rng.choice(("space", "space", "contentions", "cpu"))
    out += field(11, field(1, s[what]) + field(2, s["bytes"]))
    out += field(12, rng.choice((number(), 524288)))
    out += field(3, field(1, 1) + field(2, number()) + field(3, number()) + field(5, s["/b"]))
    for i in range(1, 9):
        name = "f%d|<%s>\n\t" % (i, "x" * rng.choice((0, 5, 2000)))
        file = rng.choice(("", "a.c", "/x/y\x07.c"))
        out += field(5, field(1, i) + field(2, s[name]) + field(4, s[file]))
        line = field(4, field(1, i) + field(2, number())) if rng.random() < 0.8 else b""
        out += field(4, field(1, i) + field(2, rng.choice((0, 1))) + field(3, number()) + line)
    for _ in range(rng.randint(0, 40)):
        stack = [rng.randint(1, 8) for _ in range(rng.choice((0, 1, 2, 5, 100)))]
        size = field(3, field(1, s["bytes"]) + field(3, number()))
        out += field(2, field(1, b"".join(map(varint, stack)))
                     + field(2, b"".join(varint(number()) for _ in TYPES))
                     + (size if rng.random() < 0.8 else b""))
    return out + s.message()


with open("suppressions", "w") as file:
    file.write("leak:*f1*\nleak:^app::\n#x\n")
statuses = {}
for n in range(int(sys.argv[3])):
    units = [rng.choice(("count", "bytes", "nanoseconds", "x")) if rng.random() < 0.2
             else ("count", "bytes")[i % 2] for i in range(len(TYPES))]
    for name in "XY":
        with open(name, "wb") as file:
            file.write(profile(units))
    command = rng.choice(COMMANDS).split()
    r = subprocess.run([sys.argv[1], *command], capture_output=True)
    statuses[r.returncode] = statuses.get(r.returncode, 0) + 1
    if r.returncode not in (0, 1, 2, 3) or b"Sanitizer" in r.stderr:
        sys.exit("%s: status %d: %s" % (command, r.returncode, r.stderr.decode()))
    if "json" in command and r.returncode != 2:
        json.loads(r.stdout)
    if re.search(rb"\bnan\b|\binf\b", r.stdout):
        sys.exit("%s: %s" % (command, r.stdout.decode()))
print("statuses", sorted(statuses))
