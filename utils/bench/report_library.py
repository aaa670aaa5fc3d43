# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables about memory that libraries allocate, for the heap's section."""

from page import median, number, quartiles, ratio, ratios, times

PLAIN = "plain"
FRAMES = "plain, frame pointers"
SAMPLED = "MProf, 512 KiB"

STRINGS_NOTES = """\
The program counts words with C++17's `std::string`. The table shows the
nanoseconds to process one line of text. For each line, the program joins twelve
words, splits the line by `getline` and `substr`, and counts the words in a map.

Most blocks are allocated inside libstdc++.so, which is not compiled with MProf.
MProf's interceptors count these blocks. An interceptor is MProf's own definition
of a function such as `malloc` or operator new. *MProf, sites alone* is linked
with `-fno-mprof-intercept`. This variant counts only blocks that the program
itself allocates."""

GC_NOTES = """\
The table shows a program that uses Boehm's garbage collector. `utils/demo.sh gc`
also runs this program. The seconds are the user and system time of the process.
This time includes writing the profile, without function names."""


def library_bars(bars, results):
    strings = results.get("strings")
    if strings:
        of = strings["ns"]
        low, high = quartiles(ratios(of, SAMPLED, PLAIN))
        remark = "quartiles %.3f to %.3f; to frame pointers %.3f" % (
            low, high, ratio(of, SAMPLED, FRAMES))
        counts = strings.get("instructions")
        if counts:
            remark += "; instructions %.3f" % ratio(counts, SAMPLED, PLAIN)
        bars.at_most("C++ strings, 512 KiB, with interceptors, to plain", 1.03,
                     ratio(of, SAMPLED, PLAIN), remark=remark)


def write_strings(page, results):
    page.heading("Strings of the C++ library")
    of = results["strings"]["ns"]
    page.table(("", "nanoseconds", "to plain", "to frame pointers"),
               [(v, number(median(runs)), times(ratio(of, v, PLAIN)),
                 times(ratio(of, v, FRAMES))) for v, runs in of.items()])
    page.paragraph(STRINGS_NOTES)


def write_gc(page, results):
    page.heading("A program with a garbage collector")
    of, peak = (results["gc"][w] for w in ("seconds", "max_rss_kib"))
    page.table(("", "seconds", "to plain", "to frame pointers",
                "peak memory, KiB"),
               [(v, "%.3f" % median(runs), times(ratio(of, v, PLAIN)),
                 times(ratio(of, v, FRAMES)),
                 "{:,.0f}".format(median(peak[v])))
                for v, runs in of.items()])
    page.paragraph(GC_NOTES)


PARTS = (("strings", write_strings), ("gc", write_gc))
