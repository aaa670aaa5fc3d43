# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a profile whose names contain control characters and markup."""

import gzip
import sys

from random_profile import Strings, field

NAMES = (
    "\x1b]0;owned\x07\x1b[2J",
    "<script>alert(1)| [x](http://x)",
    "line\nbreak\r\ttab",
    "\u009b31m\u202eright\u2066",
    'quote"back\\slash;semi',
    "=cmd|' /C calc'!A0",
    "b\x00x",
)


def main():
    strings = Strings()
    out = b""
    for kind in ("alloc_space", "inuse_space"):
        out += field(1, field(1, strings[kind]) + field(2, strings["bytes"]))
    start = 0x1000
    out += field(3, field(1, 1) + field(2, start) + field(3, 2 * start)
                 + field(5, strings["/bin/\x1b[31mapp"]))
    out += field(13, strings["command: \x1b[31mapp"])
    for i, name in enumerate(NAMES, 1):
        out += field(5, field(1, i) + field(2, strings[name]) + field(3, strings[name])
                     + field(4, strings["/src/\x1b[32m" + name]))
        line = field(4, field(1, i) + field(2, i))
        out += field(4, field(1, i) + field(2, 1) + field(3, start + i) + line)
        label = field(1, strings[name]) + field(2, strings["v" + name])
        value = field(2, 1000 * i) + field(2, 10 * i)
        out += field(2, field(1, i) + value + field(3, label))
    with open(sys.argv[1], "wb") as f:
        f.write(gzip.compress(out + strings.message()))


if __name__ == "__main__":
    main()
