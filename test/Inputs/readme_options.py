# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme_options.py README HELP: whether the README's table of options says what
# help=1 printed into HELP. Exit 1 and the differences if not.

import re
import sys


def of_readme(path):
    return re.findall(
        r"^\| `(\w+)` \| (?:`([^`]*)`)? *\| (.*?) \| (.*?) \|$", open(path).read(), re.M
    )


def of_help(path):
    rows = re.findall(
        r"^  (\w+)\n    (.*)\n    (.*), default (.*), now .*$", open(path).read(), re.M
    )
    return [(name, default.strip("'"), r, text) for name, text, r, default in rows]


readme, printed = of_readme(sys.argv[1]), of_help(sys.argv[2])
if not printed:
    sys.exit("no options in " + sys.argv[2])
for row in printed:
    if row not in readme:
        print("help=1 has, the README has not:", row)
for row in readme:
    if row not in printed:
        print("the README has, help=1 has not:", row)
sys.exit(readme != printed)
