# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints lines for heap_profile.py: 130,000 different stacks with small values, some of
which end in library functions or call themselves, and a few large ones. They have more
than 3.5 million frames."""

import random

choose = random.Random(1)
frames = ["f%d@f.c:%d" % (i // 2, i + 1) for i in range(600)]
library = ["/usr/lib/libstdc++.so.6!std::%s" % f for f in ("sort", "copy", "string::append")]
for i in range(130000):
    stack = choose.choices(frames, k=choose.randrange(24, 40)) + ["main@a.c:3"]
    if i % 3 == 0:
        stack.insert(0, choose.choice(library))
    if i % 1000 == 0:
        stack = library[: 1 + i % 2]
    print(choose.randrange(1, 4), choose.choice((16, 64, 256)), ";".join(stack))
for i in range(5):
    print(9000, 64, "large%d@a.c:%d;main@a.c:3" % (i, i))
