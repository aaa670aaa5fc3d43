# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_cases.py NAME...: writes each named trace of trace_cases.py and
# trace_cases_v2.py to a file of that name.

import sys

import trace_cases
import trace_cases_v2

tables = [
    table for cases in (trace_cases, trace_cases_v2) for table in (cases.GOOD, cases.BAD)
]
for name in sys.argv[1:]:
    found = [table[name] for table in tables if name in table]
    assert len(found) == 1, name
    with open(name, "wb") as file:
        file.write(found[0])
