# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the section of docs/benchmarks.md about real programs."""

import statistics

import interval
from page import Bars, ratio, times

TITLE = "What MProf costs real programs"
PLAIN = "plain"
FRAMES = "plain, frame pointers"
MPROF = "MProf"
VARIANTS = """\
The tables compare these variants, which are compiled with the same options:

- *plain* is built with `clang -O2`.
- *plain, frame pointers* is built with `clang -O2 -fno-omit-frame-pointer
  -momit-leaf-frame-pointer`.
- *MProf* is built with `mprof-clang -O2 -fmprof` and run with the default options
  and `symbolize=0`. So the heap profile is on, at one sample in 512 KiB, and all
  other kinds of events are compiled in.
- *MProf, tables* or *MProf, frames* is built with `-fmprof-unwind=tables` or
  `-fmprof-unwind=frames`, whichever is not the default."""

METHOD = """\
Each measurement compares several variants, for example a program with and without
MProf.
"""
MEANS = """\
A ratio of times is the geometric mean of the ratios of all layouts."""

INSTRUCTIONS_BAR = 1.012
TIME_BAR = 1.01

INSTRUCTIONS_NOTES = """\
The table shows the instructions of the whole process, in millions, and the ratios to
plain. A second count of the same program gives nearly the same number, so one count
is enough. A ratio can be less than 1: an allocation of MProf's site goes past the
linkage table, and `realloc` of a null pointer calls `malloc` at once. The option
`-fdebug-info-for-profiling`, which mprof-clang adds, also changes what clang inlines."""

LAYOUTS_NOTES = """\
The table shows the seconds of user and system time of *plain*, and the ratios of the
other variants to plain. The time includes the start and the end of the process, with
the files that MProf writes. The files are written to `/dev/shm`.

The layout of a program in memory alone changes its time by some per cent. So each round
links plain and each other variant anew, with the program's functions in random order
(`--symbol-ordering-file` of lld), and runs them with environments of random size. MProf's
runtime follows the program's functions, as in every program. There are 30 rounds. The
variants besides *plain* and *MProf* take part in the first 8 rounds.

Other work on the host of a virtual machine slows the programs. So two variants run at
the same time, each on a processor of its own, and then again with the processors
exchanged, for one and a half seconds or more. The ratio of a round is the geometric mean
of the ratios of all these runs. If the two processors share a core, a variant that ends
earlier makes the other one faster, which brings the ratio nearer to 1. *server* uses both
processors, so the two variants take turns instead.

The figures in parentheses are the ends of the interval that contains the ratio with a
probability of 95 %. A target that lies inside the interval is *undecided*: more rounds
or a quieter machine would be needed to tell."""

PROGRAMS_NOTES = """\
The programs:

- *SQLite* is `speedtest1` on a database in memory.
- *Lua* is built from source and runs scripts that mainly use tables, strings, or a
  mix of closures, coroutines and methods.
- *server* is a cache server with the locks of memcached, two worker threads and a
  thread that keeps a journal (`utils/bench/real/server.c`).
- *json* and *strings* are C++ programs with many small objects and strings. *json* is
  the demonstration with fewer rounds.
- *Duktape* runs the script `leak.js` of the demonstrations.
- The last three are short loops: objects created by `realloc(NULL, n)`, a search
  tree with keys copied by `strdup`, and recursion in small functions."""


def variants_of(of):
    return [v for v in next(iter(of.values()))]


def bars(results):
    of_bars = Bars()
    for name, of in results.get("instructions", {}).items():
        of_bars.at_most("%s, instructions to plain" % name, INSTRUCTIONS_BAR,
                        ratio(of, MPROF, PLAIN),
                        remark=remark_of(of, lambda v: times(ratio(of, v, PLAIN))))
    for name, of in results.get("layouts", {}).items():
        of_bars.at_most_in("%s, time to plain" % name, TIME_BAR,
                           interval.of_ratios(of[MPROF]))
    return of_bars


def remark_of(of, show):
    return "; ".join("%s %s" % (v, show(v)) for v in of if v not in (PLAIN, MPROF))


def write_versions(page, results):
    page.heading("The programs")
    page.paragraph(PROGRAMS_NOTES)
    page.paragraph("Debian's source packages: " + ", ".join(
        "%s %s" % each for each in results["versions"].items()) + ".")


def write_instructions(page, results):
    page.heading("Instructions")
    of = results["instructions"]
    variants = variants_of(of)
    page.table(("", PLAIN + ", millions", *variants[1:]),
               [(name, "{:,.1f}".format(counts[PLAIN][0] / 1e6),
                 *(times(ratio(counts, v, PLAIN)) for v in variants[1:]))
                for name, counts in of.items()])
    page.paragraph(INSTRUCTIONS_NOTES)


def write_layouts(page, results):
    page.heading("Time over random layouts")
    of = results["layouts"]
    variants = variants_of(of)[1:]
    page.table(("", PLAIN + ", seconds", *variants),
               [(name, "%.3f" % statistics.median(values[PLAIN]),
                 *(interval.shown(interval.of_ratios(values[v])) for v in variants))
                for name, values in of.items()])
    page.paragraph(LAYOUTS_NOTES)


def plots(results):
    """Returns no plots."""
    del results
    return {}


PARTS = (("versions", write_versions), ("instructions", write_instructions),
         ("layouts", write_layouts))
