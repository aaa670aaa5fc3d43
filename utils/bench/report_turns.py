# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the table of malloc and free measured in turns, for the heap's section."""

import interval
import measure_turns
from page import median, number, times

BAR = 1.03
NOTES = """\
The table compares the default variant (*MProf, tables*) with *plain* in the loops *ring*
and *lifo*, more precisely than the table above. The targets use these ratios.

A process of each variant lives for many turns of about 10 ms, in the order plain, MProf,
MProf, plain. Such a block of four turns has one ratio, in which a steady change of the
machine's speed cancels out. The ratio of two processes is the median of {blocks} blocks,
and the ratio of a layout is the median of {processes} pairs of processes. There are
{layouts} layouts, which are drawn anew in each run. For each, lld links all variants
anew, with the program's functions in random order, and with gaps of random size between
them and in front of MProf's runtime. The ratio in the table is the geometric mean of the
layouts, thus that of a typical process. The figures in parentheses are the ends of the
interval that contains this ratio with a probability of 95 %. *all processes* is the geometric mean of all pairs of processes. It is larger if some
processes are slow, because the addresses that a process happens to get change its speed.

Three more columns show what the ratio consists of. *heap=0* is MProf without samples.
*countdown alone* is plain with one subtraction from a thread-local word, and a branch,
before each `malloc`. This is the least that a profiler costs which samples by bytes and
decides at each allocation. *least sampler* also takes samples as MProf does, recognizes
their frees, and counts both by size, but knows no stacks (utils/bench/least_sampler.h). It
shows how much of the ratio comes from any samples whose frees are recognized.

The first {warm_up} blocks of each pair of processes do not count. In these blocks, most
samples of *ring* have a size that is new, so MProf makes a bucket for them.

The time is processor time, so that other programs that take the processor do not count.
A thread that waits, for example for a lock of the kernel, uses no processor time. So the
last columns show how often the threads waited in all turns. *slowest process* is the
largest ratio of two processes."""


def rows_of(results):
    """Returns [(loop, number of threads as text, figures)]."""
    rows = []
    for load, of in results.get("turns", {}).items():
        kind, threads = load.split("/")
        rows.append((kind, "%s thread%s" % (threads, "s" * (threads != "1")), of))
    return rows


def turn_bars(bars, results):
    for kind, threads, of in rows_of(results):
        bars.at_most_in("malloc/free pair (%s), 512 KiB, default options, %s, to plain"
                        % (kind, threads), BAR, interval.of_ratios(of["ratio"]))


def write_turns(page, results):
    page.heading("One malloc and one free, in turns")
    page.table(
        ("loop", "plain, nanoseconds per pair", "MProf to plain", "heap=0",
         "countdown alone", "least sampler", "all processes", "slowest process",
         "waits, plain", "waits, MProf"),
        [("%s, %s" % (kind, threads), number(median(of["plain"])),
          *(interval.shown(interval.of_ratios(of[n]))
            for n in ("ratio", "off", "countdown", "sampler")),
          times(interval.of_ratios(of["processes"]).middle),
          times(max(of["processes"])), *("{:,}".format(n) for n in of["waits"]))
         for kind, threads, of in rows_of(results)])
    of = rows_of(results)[0][2]
    layouts = len(of["ratio"])
    page.paragraph(NOTES.format(
        blocks=measure_turns.BLOCKS, warm_up=measure_turns.WARM_UP, layouts=layouts,
        processes=len(of["processes"]) // layouts))


PARTS = (("turns", write_turns),)
