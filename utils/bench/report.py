# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the results of measure.py into a section of benchmarks.md, and into plots.

  report.py heap|locks|trace|threads|real|preload DIR

Writes the section into DIR/benchmarks.md, and the plots into DIR. The other sections
of benchmarks.md stay as they are. A part that was not measured is left out.
"""

import importlib
import json
import os
import re
import sys

from page import Page
from running import results_path


SECTIONS = ("heap", "locks", "trace", "threads", "real", "preload")  # in the order of the page


METHOD = """\
Each measurement compares several variants, for example a program with and without
MProf. The benchmark script measures in rounds, and each round runs every variant once.
"""
MEDIANS = """\
The figures are medians over the rounds. To get a ratio, the script divides the figures
of two variants in each round, and takes the median of these quotients."""


def write_head(page, section, machine):
    page.heading(section.TITLE, 1)
    page.paragraph("`%s` wrote this section on %s, in %s minutes, at commit %s." % (
        machine["command"], machine["date"], machine["minutes"],
        machine["commit"]))
    page.paragraph(getattr(section, "METHOD", METHOD) +
                   getattr(section, "MEANS", MEDIANS))
    if machine["quick"]:
        page.paragraph("**A quick run, to see that everything works. Its "
                       "figures mean nothing.**")
    page.paragraph("The machine and its software: %s, %d processors; Linux %s, "
                   "%s; %s; %s." % (
        machine["cpu"], machine["cpus"], machine["kernel"], machine["libc"],
        machine["clang"], machine["go"]))
    page.paragraph("The benchmarks use these Debian packages: " + ", ".join(
        "%s %s" % each for each in machine["packages"].items()) + ".")
    page.paragraph(section.VARIANTS)
    page.paragraph("The load average before the run was %.2f." % machine["load"])


def sections_of(text):
    """Returns {heading: section}. A section begins with a line "# HEADING"."""
    return {part.splitlines()[0]: part
            for part in re.split(r"^(?=# )", text, flags=re.M) if part.strip()}


def put_section(path, title, text):
    """Rewrites one section of the file and leaves the other sections as they are."""
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            old = f.read()
    parts = {**sections_of(old), "# " + title: text}
    order = ["# " + importlib.import_module("report_" + s).TITLE
             for s in SECTIONS]
    order = [h for h in order if h in parts] + [h for h in parts if h not in order]
    write_file(path, "\n\n".join(parts[h].strip() for h in order) + "\n")


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    what, to = sys.argv[1:3]
    section = importlib.import_module("report_" + what)
    with open(results_path(what), encoding="utf-8") as f:
        results = json.load(f)
    page = Page()
    bars = section.bars(results)
    write_head(page, section, results["machine"])
    bars.write(page)
    for part, write in section.PARTS:
        if results.get(part):
            write(page, results)
    put_section(os.path.join(to, "benchmarks.md"), section.TITLE, page.text())
    for name, text in section.plots(results).items():
        write_file(os.path.join(to, name), text)
    bars.print()


if __name__ == "__main__":
    main()
