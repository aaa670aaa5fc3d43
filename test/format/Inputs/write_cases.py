# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_cases.py NAME...: writes these traces of trace_cases.py, each to a file
# of its name.

import sys

import trace_cases

for name in sys.argv[1:]:
    with open(name, "wb") as file:
        file.write({**trace_cases.GOOD, **trace_cases.BAD}[name])
