# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the file names in docs/how-it-works.md.

    how_it_works_files.py PAGE TOP

PAGE is the page, and TOP the directory that has rt/, pass/, include/ and tools/.
A section of the page whose heading names a folder, such as "### `rt/heap/`", is
the table of this folder's files. Prints each offence, and exits with 1 if there
is one:

  - a source file of rt/, pass/ or one of the tools is not in the table of its
    folder. A header NAME.h beside NAME.c or NAME.cpp need not be there;
  - a table or the text names a file that does not exist. The text names a file
    by its path from TOP or from TOP/rt;
  - the tables of rt/ are not in the order of ROOMS in utils/check-rooms.py.
"""

import importlib.util
import os
import re
import sys

FILE = re.compile(r"\.(c|cpp|h|def)$")
HEADING = re.compile(r"^#+ (?:`([\w/]+)/`)?")


def folders(top):
    """Returns the files that a page must name: folder -> names in it."""
    found = {}
    tools = ["tools/" + name for name in ("common", "mprof", "symbolizer", "trace")]
    for root in ["rt", "pass"] + tools:
        for path, _, names in os.walk(os.path.join(top, root)):
            path = os.path.relpath(path, top)
            # rt/ROOM and all below it are one folder, as rt/musl/symbolize is.
            folder = "/".join(path.split("/")[:2])
            for name in names:
                stem = os.path.splitext(name)[0]
                if not FILE.search(name):
                    continue
                if name.endswith(".h") and {stem + ".c", stem + ".cpp"} & set(names):
                    continue
                name = os.path.relpath(os.path.join(path, name), folder)
                found.setdefault(folder, set()).add(name)
    return found


def names(page):
    """Yields line number, section's folder or None, and name for each file."""
    folder = None
    for number, line in enumerate(page.splitlines(), 1):
        heading = HEADING.match(line)
        if heading:
            folder = heading.group(1)
        for code in re.findall(r"`([^`]+)`", line):
            if FILE.search(code):
                yield number, folder, code


def check(page, top, rooms):
    want = folders(top)
    offences = []
    named = {folder: set() for folder in want}
    order = []
    for number, folder, name in names(page):
        if folder and folder not in order:
            order.append(folder)
        if folder and os.path.exists(os.path.join(top, folder, name)):
            named.setdefault(folder, set()).add(name)
        elif not any(os.path.exists(os.path.join(top, d, name)) for d in ("", "rt")):
            offences.append("line %d names %s, which does not exist" % (number, name))
    for folder in sorted(want):
        for name in sorted(want[folder] - named[folder]):
            offences.append("%s/%s is not in the table of %s/" % (folder, name, folder))
    tables = [f for f in order if f.startswith("rt")]
    expected = [os.path.normpath(os.path.join("rt", room)) for room in rooms]
    if [f for f in tables if f in expected] != expected:
        offences.append("the tables of rt/ are not in the order " + " ".join(rooms))
    return offences


def rooms_of(script):
    spec = importlib.util.spec_from_file_location("check_rooms", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROOMS


def main():
    sys.dont_write_bytecode = True
    page, top = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    rooms = rooms_of(os.path.join(here, "../../utils/check-rooms.py"))
    with open(page, encoding="utf-8") as f:
        offences = check(f.read(), top, rooms)
    for offence in offences:
        print("how-it-works.md: " + offence)
    return bool(offences)


if __name__ == "__main__":
    sys.exit(main())
