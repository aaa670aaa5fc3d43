# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The section about programs that were built without MProf."""

from measure_preload import SAMPLED
from page import Bars, median, quartiles, ratio, ratios, times

TITLE = "What profiling without a rebuild costs"
PLAIN = "plain"
BAR = 1.02
PEERS = ("tcmalloc, 512 KiB", "jemalloc, 512 KiB", "heaptrack, every block",
         "gperftools, every block")
VARIANTS = """\
The programs were built without MProf: two demonstration programs by clang, and
sqlite3 and redis-server by Debian. The table compares these variants:

- *plain* is the program as it is. redis-server uses jemalloc, and the others use
  glibc's allocator.
- *MProf* has libmprof_preload.so in `LD_PRELOAD`, with the default options
  (512 KiB), with `heap_rate=1` (exact), or with `heap=0`.
- *tcmalloc* and *jemalloc* have the library of this name in `LD_PRELOAD`, so the
  program has another allocator, which may be faster or slower than its own.
  *512 KiB*: the library also samples one block in 512 KiB.
- *heaptrack* and *gperftools* (`HEAPPROFILE`) count every block. gperftools
  takes minutes for the first two programs, so it is not measured there."""


def bars(results):
    of_bars = Bars()
    for name, of in results.get("time_of_programs", {}).items():
        low, high = quartiles(ratios(of, SAMPLED, PLAIN))
        of_bars.at_most("%s, 512 KiB, to plain" % name, BAR,
                        ratio(of, SAMPLED, PLAIN),
                        remark="quartiles %.3f to %.3f" % (low, high))
        every = [ratio(of, peer, PLAIN) for peer in PEERS[2:] if peer in of]
        of_bars.at_most("%s, exact, to the cheapest that counts every block" % name, 1,
                        ratio(of, "MProf, exact", PLAIN) / min(every))
    for name, of in results.get("instructions", {}).items():
        of_bars.at_most("%s, 512 KiB, instructions to plain" % name, BAR,
                        ratio(of, SAMPLED, PLAIN),
                        remark="heap=0: %s" % times(ratio(of, "MProf, heap=0", PLAIN)))
    return of_bars


def cell(of, variant):
    if variant == PLAIN:
        return "%.2f s" % median(of[PLAIN])
    return "%.3f" % ratio(of, variant, PLAIN) if variant in of else "not measured"


def write_time(page, results):
    page.heading("Time")
    of = results["time_of_programs"]
    names = list(of)
    page.table(
        ("", *names),
        [(v, *(cell(of[n], v) for n in names)) for v in of[names[-1]]])
    page.paragraph("""\
The first row is the user and system time of the process and its children, and the
others are ratios to this time. The time includes writing the profile with the names of
functions at exit. heaptrack's second process, which compresses the events, counts as a
child.""")


def write_instructions(page, results):
    page.heading("Instructions of programs without a rebuild")
    page.table(("million instructions", PLAIN, "MProf, heap=0", SAMPLED),
               [(name, *("{:,.0f}".format(median(of[v]) / 1e6)
                         for v in (PLAIN, "MProf, heap=0", SAMPLED)))
                for name, of in results["instructions"].items()])


def plots(results):
    """Returns no plots."""
    del results
    return {}


PARTS = (("time_of_programs", write_time), ("instructions", write_instructions))
