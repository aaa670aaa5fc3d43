# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme_options.py PAGE HELP: compares the table of options in PAGE with HELP,
# the output of help=1. Prints each difference, and exits with 1 if there is one.
# readme_options.py --write PAGE HELP: replaces the rows in PAGE by those of HELP.

import re
import sys

ROW = r"^\| `(\w+)` \| (?:`([^`]*)`)? *\| (.*?) \| (.*?) \|$"


def of_page(path):
    return re.findall(ROW, open(path).read(), re.M)


def of_help(path):
    rows = re.findall(
        r"^  (\w+)\n    (.*)\n    (.*), default (.*), now .*$", open(path).read(), re.M
    )
    return [(name, default.strip("'"), r, text) for name, text, r, default in rows]


def write(path, rows):
    lines = open(path).read().split("\n")
    old = [i for i, line in enumerate(lines) if re.match(ROW, line)]
    lines[old[0] : old[-1] + 1] = [
        "| `%s` |%s | %s | %s |" % (name, default and " `%s`" % default, r, text)
        for name, default, r, text in rows
    ]
    open(path, "w").write("\n".join(lines))


arguments = [a for a in sys.argv[1:] if a != "--write"]
page, printed = of_page(arguments[0]), of_help(arguments[1])
if not printed:
    sys.exit("no options in " + arguments[1])
if len(arguments) != len(sys.argv) - 1:
    write(arguments[0], printed)
    sys.exit(0)
for row in printed:
    if row not in page:
        print("help=1 has, the page has not:", row)
for row in page:
    if row not in printed:
        print("the page has, help=1 has not:", row)
sys.exit(page != printed)
