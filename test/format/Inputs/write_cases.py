# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_cases.py NAME...: writes each named trace of trace_cases.py and
# trace_bad_cases.py to a file of that name.

import sys

from trace_bad_cases import BAD
from trace_cases import GOOD

for name in sys.argv[1:]:
    with open(name, "wb") as file:
        file.write({**GOOD, **BAD}[name])
