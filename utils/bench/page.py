# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a section of docs/benchmarks.md: headings, tables, limits and numbers."""

import statistics
import textwrap

import interval


class Page:
    def __init__(self):
        self.lines = []

    def heading(self, text, level=2):
        self.lines += ["#" * level + " " + text, ""]

    def paragraph(self, text):
        """Writes the paragraphs of the text, which empty lines separate. Wraps each
        paragraph, unless it is a list or a picture."""
        for part in text.split("\n\n"):
            if not part.startswith(("- ", "![")):
                part = textwrap.fill(part, 100, break_long_words=False,
                                     break_on_hyphens=False)
            self.lines += [part, ""]

    def table(self, head, rows, align=None):
        """Adds a table. align: a letter for each column, l (left) or r (right). By
        default, column 1 is left and the other columns are right."""
        ends = {"l": "---|", "r": "---:|"}
        align = align or "l" + "r" * (len(head) - 1)
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("|" + "".join(ends[a] for a in align))
        self.lines += ["| " + " | ".join(row) + " |" for row in rows]
        self.lines.append("")

    def text(self):
        return "\n".join(self.lines).rstrip() + "\n"


def median(runs):
    return statistics.median(runs)


def ratios(of, name, base):
    """Returns, for each round, the value of name divided by the value of base."""
    return [a / b for a, b in zip(of[name], of[base])]


def ratio(of, name, base):
    return median(ratios(of, name, base))


def on_top(of, name, base):
    return median([a - b for a, b in zip(of[name], of[base])])


def quartiles(runs):
    if len(runs) < 2:
        return runs[0], runs[0]
    low, _, high = statistics.quantiles(runs, n=4, method="inclusive")
    return low, high


def number(value):
    """Formats the value with three significant digits. From 100 on, prints all digits
    before the decimal point and none after it."""
    if value >= 100:
        return "{:,.0f}".format(value)
    return "%.1f" % value if value >= 10 else "%.2f" % value


def times(value):
    return "%.3f" % value if value < 10 else number(value)


def compare(page, what, bases, columns, show=number):
    """Adds a table of medians and ratios. bases: {variant: the variant with which it is
    compared}; a variant with itself as base has no ratio. columns: {title: {variant:
    [value of each round]}}."""
    rows = []
    for name, base in bases.items():
        if not any(name in of for of in columns.values()):
            continue
        row = [name, base if base != name else ""]
        for of in columns.values():
            cell = show(median(of[name])) if name in of else ""
            if cell and base != name:
                cell += " (%s)" % times(ratio(of, name, base))
            row.append(cell)
        rows.append(row)
    page.table([what, "compared with", *columns], rows, "ll" + "r" * len(columns))


def as_printed(form, value):
    """Returns the value as the page shows it, rounded by form. So the verdict (pass or
    short) agrees with the figures on the page."""
    return float((form % value).split()[0])


BARS_NOTES = """\
Each row compares a measured figure with MProf's target for this figure:

- *to plain* means that the figure is a ratio. The figure of the program with
  MProf was divided by the figure of *plain*, the program without MProf.
- *more than plain* means that the figure is a difference. The figure of *plain*,
  the program without MProf, was subtracted from the figure with MProf.
- *quartiles* are the first and the third quartile of the figures of all rounds.
- *undecided* means that the target lies inside the confidence interval of the
  figure, which is in the remark."""


class Bars:
    """A table of limits ("bars") and of the measured values that must keep to them.

    A row is (what is measured, "at most" or "at least", the limit, the measured value,
    the result, remark). The result is interval.MET, MISSED or UNDECIDED."""

    def __init__(self):
        self.rows = []

    def at_most(self, what, bar, measured, form="%.3f", remark=""):
        met = as_printed(form, measured) <= bar
        self.add(what, "at most", form, bar, measured, met, remark)

    def at_most_in(self, what, bar, measured, form="%.3f", remark=""):
        """measured: an interval.Interval, whose middle the table shows."""
        ends = "95 %% interval %s to %s" % (form % measured.low, form % measured.high)
        self.rows.append((what, "at most", form % bar, form % measured.middle,
                          interval.verdict(measured, bar),
                          ends + (remark and "; " + remark)))

    def at_least(self, what, bar, measured, form="%.3f", remark=""):
        met = as_printed(form, measured) >= bar
        self.add(what, "at least", form, bar, measured, met, remark)

    def add(self, what, way, form, bar, measured, met, remark):
        self.rows.append((what, way, form % bar, form % measured,
                          interval.MET if met else interval.MISSED, remark))

    def write(self, page):
        """Adds the table to the page. If all limits are "at most", or all are "at
        least", these words are in the table's head instead of its rows."""
        ways = {row[1] for row in self.rows}
        head = ways.pop() if len(ways) == 1 else "target"
        page.heading("Targets")
        page.paragraph(BARS_NOTES)
        page.table(
            ("figure", head, "measured", "result", "remark"),
            [(what, bar if head == way else way + " " + bar, measured,
              "**%s**" % result if result == interval.MISSED else result, remark)
             for what, way, bar, measured, result, remark in self.rows],
            "lrrll")

    def print(self):
        for what, way, bar, measured, result, remark in self.rows:
            print("%-9s  %s: %s, %s %s%s" % (
                "MISSED" if result == interval.MISSED else result, what, measured,
                way, bar,
                remark and " (" + remark + ")"))
