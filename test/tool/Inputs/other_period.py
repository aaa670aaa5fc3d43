# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a profile (IN OUT) and changes its period."""

import gzip
import sys

from random_profile import field


def main():
    with gzip.open(sys.argv[1]) as f:
        data = f.read()
    # The last value of a field that is not repeated counts.
    with open(sys.argv[2], "wb") as f:
        f.write(gzip.compress(data + field(12, 1)))


if __name__ == "__main__":
    main()
