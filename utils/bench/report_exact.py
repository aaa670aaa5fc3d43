# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables about the exact mode (heap_rate=1) of the heap profile's section."""

from page import median, number, on_top, times

PLAIN = "plain"
EXACT = "MProf, exact"

EXACT_NOTES = """\
The table shows the cost of exact mode (`heap_rate=1`), which counts every block.
The loop calls `malloc(64)` and `free` at the end of a chain of recursive calls.

- *frames* is the number of frames that the profile has recorded.
- With *shared* stacks, all threads have the same stack, and use the same
  counters.
- With *own* stacks, each thread has a different stack.
- The nanoseconds are measured in each thread's own loop.
- *throughput relative to 1 thread* divides the throughput of all threads together
  by the throughput of one thread. The time is measured from the start of the
  first thread to the end of the last thread.

In each thread, the same stack and the same block size repeat. MProf finds the
counters of this stack and size in a cache of the thread's latest stacks, by
comparing all frames, and computes no hash.

In the table of [malloc/free pairs](#one-malloc-and-one-free), the loop *ring*
takes longer in exact mode than the loop *lifo*. The blocks of *ring* have a
thousand different sizes, and each size has its own counters. MProf's cache of a
thread's latest stacks is too small for so many counters."""

LIVE_NOTES = """\
The table shows the memory and time that MProf needs if many counted blocks are
live. The program first allocates all blocks. Then the program frees the blocks,
either in the order of their allocation (*in order*) or in another order (*any
order*).

- *tables* is the memory that MProf reports for its own tables, divided by the
  number of live blocks.
- *resident* is the additional resident memory of the process, compared with
  *plain*, divided by the number of live blocks.

MProf's map of live blocks takes 8 bytes for every 256 bytes of the heap, and 64
bytes more if these contain several blocks."""


def of_threads(of, threads):
    """Returns {variant: [ns of each round]} for this number of threads."""
    return {v: of["ns"]["%s/%d" % (v, threads)] for v in (PLAIN, EXACT)}


def speedup(of, variant, threads):
    """Returns the throughput of this number of threads, divided by the throughput of one
    thread. The result is the median of the ratios of all rounds."""
    wall = of["wall_ns"]
    return median([one / many for one, many in
                   zip(wall[variant + "/1"], wall["%s/%d" % (variant, threads)])])


def exact_bars(bars, results):
    exact = results.get("exact")
    if exact:
        for frames, bar in ((6, 50), (20, 120)):
            of = of_threads(exact["%d/shared" % frames], 1)
            bars.at_most(
                "exact, %d frames, 1 thread, more than plain" % frames, bar,
                on_top(of, EXACT, PLAIN), "%.1f ns")
        for whose in ("shared", "own"):
            of = exact["6/" + whose]
            bars.at_least(
                "exact, 6 frames, %s stacks, throughput of 2 threads to 1"
                % whose, 1.8, speedup(of, EXACT, 2),
                remark="plain %s" % times(speedup(of, PLAIN, 2)))
    live = results.get("live")
    if live:
        of = live["16 to 128 bytes/inorder"]
        bars.at_most(
            "exact, {:,} live blocks of 16 to 128 bytes, memory per block".format(
                live["blocks"]), 24, tables_of(live, of), "%.1f bytes",
            "resident: %.1f bytes" % resident_of(live, of))
        of = live["16 to 1024 bytes/inorder"]
        bars.at_most(
            "exact, {:,} live blocks of 16 to 1024 bytes, memory per block"
            .format(live["blocks"]), 32, tables_of(live, of), "%.1f bytes",
            "resident: %.1f bytes" % resident_of(live, of))


def tables_of(live, of):
    return median(of["tables"][EXACT]) / live["blocks"]


def resident_of(live, of):
    return 1024 * on_top(of["rss_kib"], EXACT, PLAIN) / live["blocks"]


def write_exact(page, results):
    page.heading("Every block counted, by depth of the stack and threads")
    rows = []
    for key, runs in results["exact"].items():
        frames, whose = key.split("/")
        for name in runs["ns"]:
            variant, threads = name.split("/")
            if variant != PLAIN:
                continue
            of = of_threads(runs, int(threads))
            rows.append((frames, whose, threads, number(median(of[PLAIN])),
                         number(median(of[EXACT])),
                         number(on_top(of, EXACT, PLAIN)),
                         times(speedup(runs, PLAIN, int(threads))),
                         times(speedup(runs, EXACT, int(threads)))))
    page.table(("frames", "stacks", "threads", "plain, ns", "exact, ns",
                "more than plain, ns", "plain, throughput relative to 1 thread",
                "exact, throughput relative to 1 thread"), rows, "rlrrrrrr")
    page.paragraph(EXACT_NOTES)


def write_live(page, results):
    live = results["live"]
    page.heading("{:,} live blocks, every one counted".format(live["blocks"]))
    rows = []
    for key, of in live.items():
        if key == "blocks":
            continue
        title, order = key.split("/")
        rows.append((title, "in order" if order == "inorder" else "any order",
                     "%.1f" % tables_of(live, of),
                     "%.1f" % resident_of(live, of),
                     *(number(median(of[what][v]))
                       for what in ("alloc_ns", "free_ns")
                       for v in (PLAIN, EXACT))))
    page.table(("blocks", "freed", "tables, bytes per block",
                "resident, bytes per block", "malloc, plain, ns",
                "malloc, exact, ns", "free, plain, ns", "free, exact, ns"),
               rows, "llrrrrrr")
    page.paragraph(LIVE_NOTES)


PARTS = (("exact", write_exact), ("live", write_live))
