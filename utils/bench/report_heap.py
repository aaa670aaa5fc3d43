# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the section of docs/benchmarks.md about the heap profile."""

import chart
import report_exact
import report_library
import report_turns
from page import (
    Bars, compare, median, number, on_top, quartiles, ratio, ratios, times)

TITLE = "What the heap profile costs"
VARIANTS = """\
The tables compare these variants of each program:

- *plain* is built with `clang -O2`.
- *frame pointers* is built with
  `clang -O2 -fno-omit-frame-pointer -momit-leaf-frame-pointer`. The
  variant *MProf* has frame pointers, too. This variant therefore shows the cost
  of the frame pointers alone.
- *MProf* is built with `mprof-clang -O2 -fmprof -fmprof-unwind=frames`. The
  other sections use `-fmprof-unwind=frames`, too, unless they say otherwise.
- *MProf, tables* is built with `mprof-clang -O2 -fmprof`, which does not need
  frame pointers."""
PLAIN = "plain"
FRAMES = "plain, frame pointers"
SAMPLED = "MProf, 512 KiB"
TABLES = "MProf, 512 KiB, tables"
EXACT = "MProf, exact"

# {variant: the variant with which it is compared}. Each variant is compared with the
# same allocator without a profiler.
PAIR_BASES = {
    PLAIN: PLAIN,
    FRAMES: PLAIN,
    "MProf, heap=0": PLAIN,
    SAMPLED: PLAIN,
    TABLES: PLAIN,
    EXACT: PLAIN,
    "heaptrack, every block": PLAIN,
    "clang -fmemory-profile": PLAIN,
    "jemalloc": "jemalloc",
    "jemalloc, 512 KiB": "jemalloc",
    "tcmalloc": "tcmalloc",
    "tcmalloc, 512 KiB": "tcmalloc",
    "gperftools, every block": "tcmalloc",
    "Go, rate 0": "Go, rate 0",
    "Go, 512 KiB": "Go, rate 0",
    "Go, every block": "Go, rate 0",
}

PAIR_NOTES = """\
The table shows the nanoseconds of a pair of one `malloc` and one `free`, in two
loops:

- Each step of the loop *ring* frees the oldest of 256 live blocks of 16 to 1024
  bytes, and allocates another block.
- Each step of the loop *lifo* allocates 64 bytes and frees them.

The loops do nothing but allocate and free blocks. A real program also does other
work, so the ratios of a real program are smaller. More about the figures:

- The differences between MProf's variants and *plain* are smaller than what this
  table can show. The next table measures one of them more precisely.
- In each round, a variant has the least time of several runs, because other work
  on the host of a virtual machine slows whole runs.
- Each process measures the time of its own loop, without the start and the exit
  of the process. The table [Exit time](#exit-time) shows the cost at exit.
- In a process with one thread, glibc's malloc takes shorter paths than in a
  process with several threads.
- Variants with *512 KiB* sample about one block for every 512 KiB that are
  allocated. Variants with *every block* or *exact* count all blocks.
- *MProf, heap=0* is the program built with MProf and run with the heap profile
  switched off.
- gperftools writes a profile after each GiB that is allocated.
- heaptrack sends every event to a second process, which runs on another core if
  one is free. The figures do not include the time of the second process.
- `-fmemory-profile` also instruments every load and store.
- Go has no `free`. Instead, Go's garbage collector runs at the same time as the
  loop, in part on other cores. If two threads run the loop, fewer cores are left
  for the collector, so the figures are larger."""

LOOKUP_NOTES = """\
The table shows the nanoseconds to find a stack of ten frames in MProf's hash
table of stacks. The benchmark calls the runtime's internal interface, and
subtracts the time of the loop itself. The column *stacks* shows how many stacks
the hash table contains. The benchmark looks up the stacks in random order, from
one of these sets:

- *hot*: 1,000 stacks that were inserted directly one after another;
- *spread*: 1,000 stacks that were inserted at equal distances among the other
  stacks;
- *all*: all stacks of the hash table.

The target limits how much longer a lookup takes in the hash table with 1,000,000
stacks than in the hash table with 1,000 stacks. MProf must meet the target for
the sets *hot* and *spread*.

If all stacks of a large hash table are looked up (*all*), the lookups are slow.
The reason is cache misses, as in any table of this size. A lookup has one or two
cache misses in the table, and one cache miss for the stack itself. The number of
probes does not grow with the table, as the nearly constant number of
*instructions* shows."""

DEMO_NOTES = """\
The table shows two real programs, a JavaScript interpreter (Duktape) and a
program that uses a JSON library. The seconds are the user and system time of the
process and its children. This time includes writing the profile and the report at
exit.

With *symbolize=0*, MProf does not look up function names. Without this option,
mprof-symbolizer finds the names in a child process. The cost of the names depends
on the size of the program, and not on how long the program runs. The targets
therefore apply to the runs with *symbolize=0*. The table *Targets* of this
section also has a row for a run with function names.

The peak memory of the variant *MProf* is that of the program or of its largest
child, whichever is larger."""

INSTRUCTION_NOTES = """\
The table shows the instructions of the whole process, from start to exit, with
`symbolize=0`. valgrind counts the instructions. The counts of two runs differ by
less than a millionth. The row *Duktape* is the sum of the four Duktape scripts
below it.

MProf's share of the instructions is larger in programs that allocate more bytes
per instruction, because more allocated bytes cause more samples."""

COMPILE_NOTES = """\
The seconds are the user and system time of a compilation with `-O2 -c`, including
the time of the compiler driver. The column *ratio of the best* divides the
shortest time with MProf by the shortest time without MProf."""

TEXT_NOTES = """\
The table shows the bytes of all `.text*` sections of the object file, including
cold code."""

RSS_NOTES = """\
The table shows the resident memory of a program that allocates nothing, read from
`/proc` at the end of `main`. Most of the additional memory is code of the runtime
and of libc, because the kernel maps 64 KiB around each page of a file that a
program touches. Several processes share this code."""

EXIT_NOTES = """\
The table shows the time from the end of `main` until the parent process learns
that the process has ended. In the column *0 stacks*, MProf has sampled no block.
In the column *1000 stacks*, MProf has counted blocks of 1,000 different stacks
(`heap_rate=1`). The last row shows the default: MProf writes the profile and the
report, with function names."""


# --- limits ("bars") for the measured values ---------------------------------


def bars(results):
    bars = Bars()
    at_most = bars.at_most
    report_turns.turn_bars(bars, results)
    demo = results.get("demo")
    if demo:
        of = demo["duk"]["seconds"]
        low, high = quartiles(ratios(of, "MProf, symbolize=0", FRAMES))
        at_most("Duktape, time, to plain with frame pointers", 1.01,
                ratio(of, "MProf, symbolize=0", FRAMES),
                remark="symbolize=0; quartiles %.3f to %.3f"
                % (low, high))
        at_most("Duktape, time, with function names, to plain with frame pointers",
                1.01,
                ratio(of, "MProf", FRAMES),
                remark="%+.0f ms in all" % (1e3 * on_top(of, "MProf", FRAMES)))
    counts = results.get("instructions")
    if counts:
        of = counts["duk"]
        for what, base, bar in ((" with frame pointers", FRAMES, 1.01),
                                ("", PLAIN, 1.025)):
            by_script = ", ".join(
                "%s %.3f" % each for each in
                zip(counts["scripts"], ratios(of, "MProf, symbolize=0", base)))
            at_most("Duktape, instructions, to plain" + what, bar,
                    sum(of["MProf, symbolize=0"]) / sum(of[base]),
                    remark=by_script)
    report_exact.exact_bars(bars, results)
    report_library.library_bars(bars, results)
    lookup = results.get("lookup")
    if lookup:
        small, large = (lookup["ns"][str(s)] for s in lookup["sizes"])
        worst = max(("hot", "spread"),
                    key=lambda s: median(large[s]) / median(small[s]))
        at_most("lookup among {1:,} stacks, to lookup among {0:,}".format(
                    *lookup["sizes"]),
                1.5, median(large[worst]) / median(small[worst]),
                remark="the set '%s'" % worst)
    for part, what, limits in (("compile", "compile time", (1.05, 1.05)),
                               ("text_bytes", "text size", (1.02, 1.10))):
        if part in results:
            for name, title, bar in zip(("duk", "json"),
                                        ("duktape.c", "JSON demo"), limits):
                at_most("%s, %s, to plain" % (title, what), bar,
                        ratio(results[part][name], "MProf", PLAIN))
    rss = results.get("rss")
    if rss:
        for linker, of in rss.items():
            for kinds in ("-fmprof=heap", "-fmprof"):
                at_most("resident memory more than plain, program that allocates "
                        "nothing, %s, %s" % (kinds, linker),
                        384, on_top(of, kinds, PLAIN), "%.0f KiB")
    return bars


# --- each function writes one part of the section ----------------------------


def write_pair(page, results):
    pair = results["pair"]
    page.heading("One malloc and one free")
    page.paragraph("![Nanoseconds a pair, by variant](benchmarks-heap.svg)")
    compare(page, "nanoseconds per pair (ratio)", PAIR_BASES, {
        "%s, %d thread%s" % (kind, threads, "s" if threads > 1 else ""):
            pair["%s/%d" % (kind, threads)]
        for kind in ("ring", "lifo") for threads in (1, 2)})
    for name, why in pair["absent"].items():
        page.paragraph("%s: not measured, %s." % (name, why))
    page.paragraph(PAIR_NOTES)


def write_lookup(page, results):
    lookup = results["lookup"]
    page.heading("Finding a stack among many")
    rows = []
    for stacks in lookup["sizes"]:
        ns = lookup["ns"][str(stacks)]
        counts = lookup.get("instructions")
        rows.append(
            ["{:,}".format(stacks)]
            + [number(median(ns[s])) for s in ("hot", "spread", "all")]
            + ["%.1f" % counts[str(stacks)] if counts else "not measured"])
    page.table(("stacks", "hot, ns", "spread, ns", "all, ns",
                "instructions (all)"), rows)
    page.paragraph(LOOKUP_NOTES)


def write_demo(page, results):
    page.heading("Two real programs")
    rows = []
    for name, title in (("duk", "Duktape"), ("json", "JSON")):
        of = results["demo"][name]
        for variant, runs in of["seconds"].items():
            peak = of["max_rss_kib"]
            rows.append((
                "%s, %s" % (title, variant), "%.3f" % median(runs),
                times(ratio(of["seconds"], variant, PLAIN)),
                times(ratio(of["seconds"], variant, FRAMES)),
                "{:,.0f}".format(median(peak[variant])),
                times(ratio(peak, variant, PLAIN))))
    page.table(("", "seconds", "to plain", "to frame pointers",
                "peak memory, KiB", "to plain"), rows)
    page.paragraph(DEMO_NOTES)


def write_instructions(page, results):
    counts = results["instructions"]
    runs = [("Duktape", counts["duk"])]
    for i, script in enumerate(counts["scripts"]):
        runs.append(("Duktape, %s.js" % script,
                     {v: [n[i]] for v, n in counts["duk"].items()}))
    if "json" in counts:
        runs.append(("JSON", counts["json"]))
    rows = []
    for title, of in runs:
        plain, frames, mprof = (
            sum(of[v]) / 1e6 for v in (PLAIN, FRAMES, "MProf, symbolize=0"))
        rows.append([title]
                    + ["{:,.0f}".format(n) for n in (plain, frames, mprof)]
                    + ["%.4f" % (frames / plain), "%.4f" % (mprof / frames),
                       "%.4f" % (mprof / plain)])
    page.table(("million instructions", "plain", "frame pointers", "MProf",
                "frame pointers to plain", "MProf to frame pointers",
                "MProf to plain"), rows)
    page.paragraph(INSTRUCTION_NOTES)


def write_compile(page, results):
    page.heading("Compile time")
    rows = []
    for name, of in results["compile"].items():
        rows.append((name, "%.2f" % median(of[PLAIN]),
                     "%.2f" % median(of["MProf"]),
                     times(ratio(of, "MProf", PLAIN)),
                     times(min(of["MProf"]) / min(of[PLAIN]))))
    page.table(("", "plain, s", "MProf, s", "ratio", "ratio of the best"), rows)
    page.paragraph(COMPILE_NOTES)


def write_text_bytes(page, results):
    page.heading("Text size")
    rows = []
    for name, of in results["text_bytes"].items():
        rows.append([name] + ["{:,}".format(of[v][0])
                              for v in (PLAIN, FRAMES, "MProf")]
                    + [times(ratio(of, "MProf", PLAIN)),
                       times(ratio(of, "MProf", FRAMES))])
    page.table(("", "plain", "frame pointers", "MProf", "to plain",
                "to frame pointers"), rows)
    page.paragraph(TEXT_NOTES)


def write_rss(page, results):
    page.heading("Resident memory")
    rss = results["rss"]
    rows = []
    for linker, of in rss.items():
        rows.append([linker]
                    + ["{:,.0f}".format(median(of[v])) for v in of]
                    + ["%.0f" % on_top(of, v, PLAIN)
                       for v in ("-fmprof=heap", "-fmprof")])
    page.table(["KiB", *rss["lld"], "heap, more than plain",
                "all, more than plain"], rows)
    page.paragraph(RSS_NOTES)


def write_exittime(page, results):
    page.heading("Exit time")
    of = results["exittime"]
    rows = [(variant, *("%.2f" % median(of[stacks][variant]) for stacks in of))
            for variant in of["0"]]
    page.table(("milliseconds", *("%s stacks" % s for s in of)), rows)
    page.paragraph(EXIT_NOTES)


# --- the plot ----------------------------------------------------------------


def colour(name):
    if name.startswith("MProf"):
        return chart.MPROF
    is_profiler = name != FRAMES and PAIR_BASES[name] != name
    return chart.OTHER if is_profiler else chart.NONE


def plots(results):
    """Returns {name of the SVG file: text of the file}."""
    if "pair" not in results:
        return {}
    pair = results["pair"]
    rows = [(name, colour(name),
             [median(pair["ring/%d" % threads][name]) for threads in (1, 2)])
            for name in PAIR_BASES if name in pair["ring/1"]]
    return {"benchmarks-heap.svg": chart.svg(
        "Nanoseconds a malloc/free pair, by variant",
        "Nanoseconds a malloc/free pair (ring), logarithmic",
        "upper bar: 1 thread, lower bar: 2 threads; orange: MProf, blue: other "
        "profilers, grey: none",
        rows)}


# --- the list of all parts ---------------------------------------------------

PARTS = (("pair", write_pair), *report_turns.PARTS, *report_exact.PARTS,
         *report_library.PARTS, ("lookup", write_lookup),
         ("demo", write_demo), ("instructions", write_instructions),
         ("compile", write_compile), ("text_bytes", write_text_bytes),
         ("rss", write_rss), ("exittime", write_exittime))
