# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme_options.py PAGE HELP: compares the table of options in PAGE with HELP,
# the output of help=1. Prints each difference, and exits with 1 if there is one.
# readme_options.py --write PAGE HELP: replaces the rows in PAGE by those of HELP.
# --profiles before PAGE: takes the table of profiles instead.

import re
import sys

OPTION_ROW = r"^\| `(\w+)` \| (?:`([^`]*)`)? *\| (.*?) \| (.*?) \|$"
OPTION_HELP = r"^  (\w+)\n    (.*)\n    (.*), default (.*), now .*$"
PROFILE_ROW = r"^\| `(\w+)` \| (`PATTERN[^`]*`|on request only) \| (.*) \|$"
PROFILE_HELP = r"^  (\w+): (.*); (?:file at exit: (\S+)|on request only)$"


def options_of_help(text):
    rows = re.findall(OPTION_HELP, text, re.M)
    return [(name, default.strip("'"), r, text) for name, text, r, default in rows]


def option_line(row):
    name, default, r, text = row
    return "| `%s` |%s | %s | %s |" % (name, default and " `%s`" % default, r, text)


def profiles_of_help(text):
    rows = re.findall(PROFILE_HELP, text, re.M)
    return [
        (name, "`%s`" % file if file else "on request only", text)
        for name, text, file in rows
    ]


def profile_line(row):
    return "| `%s` | %s | %s |" % row


def write(path, pattern, lines):
    old_lines = open(path).read().split("\n")
    old = [i for i, line in enumerate(old_lines) if re.match(pattern, line)]
    old_lines[old[0] : old[-1] + 1] = lines
    open(path, "w").write("\n".join(old_lines))


arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
pattern, of_help, line_of, kind = OPTION_ROW, options_of_help, option_line, "options"
if "--profiles" in sys.argv:
    pattern, of_help, line_of = PROFILE_ROW, profiles_of_help, profile_line
    kind = "profiles"
page = re.findall(pattern, open(arguments[0]).read(), re.M)
printed = of_help(open(arguments[1]).read())
if not printed:
    sys.exit("no %s in %s" % (kind, arguments[1]))
if "--write" in sys.argv:
    write(arguments[0], pattern, [line_of(row) for row in printed])
    sys.exit(0)
for row in printed:
    if row not in page:
        print("help=1 has, the page has not:", row)
for row in page:
    if row not in printed:
        print("the page has, help=1 has not:", row)
sys.exit(page != printed)
