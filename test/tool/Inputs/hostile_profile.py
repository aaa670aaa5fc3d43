# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a profile whose texts are markup: hostile_profile.py OUT

If a viewer takes one of the texts for markup, its script sets the title of the
document to "hurt".
"""

import gzip
import sys

TEXTS = [
    "",
    "</script><script>document.title='hurt'</script>",
    "<img src=x onerror=\"document.title='hurt'\">",
    "<!--<script>",
    "\"]};document.title='hurt';//",
    "\u2028\u2029\u0000\u0001\u001b[31m",
    "__proto__",
    "javascript:document.title='hurt'",
]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def main(path):
    out = b""
    for kind in (1, 2):
        out += field(1, field(1, kind) + field(2, kind + 1))
    out += field(3, field(1, 1) + field(2, 4096) + field(3, 1 << 40) + field(5, 2))
    count = len(TEXTS) - 1
    for i in range(1, count + 1):
        # Location without names first, then functions with hostile names.
        line = field(4, field(1, i) + field(2, 7)) if i > 1 else b""
        out += field(4, field(1, i) + field(2, 1) + field(3, 4096 + i) + line)
        out += field(5, field(1, i) + field(2, i) + field(3, i) + field(4, count - i + 1))
    for i in range(1, count + 1):
        label = field(3, field(1, i) + field(2, count - i + 1))
        out += field(2, field(1, 1) + field(1, i) + field(1, count) +
                     field(2, i * 10) + field(2, i) + label)
    for text in TEXTS:
        out += field(6, text.encode())
    out += field(13, 1) + field(13, 4)  # comments
    with gzip.open(path, "wb") as file:
        file.write(out)


main(sys.argv[1])
