# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# trace_seeds.py DIRECTORY: writes the traces of trace_cases.py and
# trace_bad_cases.py that are short enough for a fuzzer to change.

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../format/Inputs"))
from trace_bad_cases import BAD
from trace_cases import GOOD

MAX_SIZE = 4096

count = 0
for name, data in [*GOOD.items(), *BAD.items()]:
    if len(data) <= MAX_SIZE:
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)
        count += 1
assert count > 100, count
