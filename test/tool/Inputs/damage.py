#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Damages a file in many ways, and runs a command after each. The command must end
# with one of the STATUSES, such as 0,2, and within 30 seconds.
#
# usage: damage.py FILE COUNT SEED STATUSES COMMAND...

import random
import subprocess
import sys
import time

path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
statuses = [int(s) for s in sys.argv[4].split(",")]
command = sys.argv[5:]
with open(path, "rb") as f:
    whole = f.read()
# Most of the file's bytes are no headers and no debug information.
out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
places = [(0, 600), (len(whole) - 4096, len(whole))]
for line in out.splitlines():
    words = line.replace("[ ", "[").split()
    if len(words) > 5 and words[1].startswith((".debug", ".symtab", ".strtab")):
        start, size = int(words[4], 16), int(words[5], 16)
        places.append((start, min(start + size, start + 1500)))
        places.append((start, start + size))
r = random.Random(seed)
worst = answers = 0
try:
    for i in range(count):
        data = bytearray(whole)
        for _ in range(r.choice((1, 4, 30))):
            start, end = r.choice(places)
            at = r.randrange(start, max(start + 1, min(end, len(data))))
            kind = r.randrange(4)
            if kind == 0:
                data[at] = r.randrange(256)
            elif kind == 1:
                data[at] ^= 1 << r.randrange(8)
            elif kind == 2:
                data[at : at + 4] = r.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"))
            else:
                data[at : at + 8] = data[at + 1 : at + 9]
        if r.randrange(8) == 0:
            del data[r.randrange(len(data)) :]
        with open(path, "wb") as f:
            f.write(data)
        begin = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, timeout=30)
        worst = max(worst, time.monotonic() - begin)
        if run.returncode not in statuses:
            with open("failed", "wb") as f:
                f.write(data)
            print("input %d (kept as failed): status %d\n%s" % (i, run.returncode, run.stderr))
            sys.exit(1)
        answers += not run.stderr
finally:
    with open(path, "wb") as f:
        f.write(whole)
print("%d inputs, %d without a message, at most %.2f s" % (count, answers, worst))
