# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits with 1 if a file is empty, is not UTF-8, or has control characters other
than newlines. Bidirectional controls count, too."""

import sys

BAD = set(range(0x20)) - {0x0A} | set(range(0x7F, 0xA0))
BAD |= set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A))


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as f:
        text = f.read()
    bad = sorted({"%#x" % ord(c) for c in text if ord(c) in BAD})
    if bad or not text:
        print("%s: %s" % (sys.argv[1], bad or "empty"))
    return bool(bad) or not text


if __name__ == "__main__":
    sys.exit(main())
