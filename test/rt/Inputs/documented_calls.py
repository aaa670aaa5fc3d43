#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a macro call CALL(NAME) for each system call that a documentation page
# names in these rows of its table of system calls.
#
# usage: documented_calls.py PAGE ROW...

import re
import sys

rows = {}
with open(sys.argv[1]) as page:
    for line in page:
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 4:
            rows[cells[1]] = cells[2]
names = set()
for row in sys.argv[2:]:
    names.update(re.findall("`([a-z0-9_]+)`", rows[row]))
for name in sorted(names - {"log_path"}):
    print("CALL(%s)" % name)
