# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a profile of two functions whose long names differ at the end."""

import gzip
import sys

from costly_profile import function, location, sample
from random_profile import Strings, field


def main():
    strings = Strings()
    out = field(1, field(1, strings["space"]) + field(2, strings["bytes"]))
    for i in (1, 2):
        name = strings["f" * 2000 + str(i)]
        out += function(i, name) + location(i, i, 1) + sample([i])
    with open(sys.argv[1], "wb") as f:
        f.write(gzip.compress(out + strings.message()))


if __name__ == "__main__":
    main()
