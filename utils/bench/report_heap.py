# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The section of the page about the heap profile."""

import chart
import report_exact
import report_library
from page import (
    Bars, compare, median, number, on_top, quartiles, ratio, ratios, times)

TITLE = "What the heap profile costs"
VARIANTS = """\
*plain* is `clang -O2`. *frame pointers* adds `-fno-omit-frame-pointer \
-momit-leaf-frame-pointer`, which MProf adds to a program beside its own code. \
*MProf* is `mprof-clang -O2 -fmprof`."""
PLAIN = "plain"
FRAMES = "plain, frame pointers"
SAMPLED = "MProf, 512 KiB"
EXACT = "MProf, exact"

# The variant that each variant of the pair is compared with: the same allocator
# without a profiler.
PAIR_BASES = {
    PLAIN: PLAIN,
    FRAMES: PLAIN,
    "MProf, heap=0": PLAIN,
    SAMPLED: PLAIN,
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
- A step of *ring* frees the oldest of 256 live blocks of 16 to 1024 bytes and
  allocates another. A step of *lifo* allocates 64 bytes and frees them. The
  loop does nothing else, so a ratio here is the worst that a program can see.
- Each process times its own loop. Its start and exit are not in the figures.
  Exit has a table of its own. With one thread, glibc's malloc takes shorter
  paths than in a process with several threads.
- The sampled MProf, jemalloc, tcmalloc and Go count about one block in 512 KiB.
  *every block* and *exact* count all.
- *MProf, heap=0* is the rewritten program with the profiler switched off.
- gperftools writes a profile for each GiB that is allocated.
- heaptrack sends every event to a second process, on another core if one is
  free. The time of that process does not count here.
- `-fmemory-profile` also instruments every load and store.
- Go has no free: its garbage collector works beside the loop, in part on other
  cores. Its figures for two threads show this."""

LOOKUP_NOTES = """\
Nanoseconds to find the bucket of a stack of ten frames, by the runtime's
internal interface, less the time of the loop itself. The same number of lookups
goes to 1,000 stacks in each table, in random order. These stacks were inserted
one after the other (*hot*) or at equal distances (*spread*). Then the lookups go
to any stack of the table (*all*). The bar is judged on the worse of hot and
spread. Lookups of all stacks of a large table in random order are bound by cache
misses, as in any table of that size: one or two in the table, and the stack
itself. The instructions show that the number of probes stays the same."""

DEMO_NOTES = """\
User and system time of the whole process and its children. The time includes the
writing of the profile and the report at exit. *symbolize=0* leaves out the names
of functions, which llvm-symbolizer finds in a child process. The cost of names
depends on the size of the program and not on how long it runs. The bars are
therefore judged without names, and the row with names stands beside them. Peak
memory of *MProf* is that of the largest of program and children."""

INSTRUCTION_NOTES = """\
Instructions of the whole process as valgrind counts them, from start to exit,
with `symbolize=0`. They repeat to within a millionth. For Duktape they are summed
over its scripts. MProf's share grows with the bytes that the program allocates
for an instruction, because these bytes bring samples."""

COMPILE_NOTES = """\
User and system time of `-O2 -c`, including the time of the driver. Text is the
sum of the object's `.text*` sections, including cold code."""

RSS_NOTES = """\
Memory of a program that allocates nothing, read at the end of main. Part of it is
the runtime's own code, which processes share."""

EXIT_NOTES = """\
Time from the end of main to the moment when the parent process learns that the
process has ended. It is given for no sampled stack, and for 1,000 (`heap_rate=1`).
By default profile and report are written, with names."""


# --- the bars ----------------------------------------------------------------


def bars(results):
    bars = Bars()
    at_most = bars.at_most
    pair = results.get("pair")
    if pair:
        for kind in ("ring", "lifo"):
            of = pair[kind + "/1"]
            low, high = quartiles(ratios(of, SAMPLED, PLAIN))
            at_most("malloc/free pair (%s), 512 KiB, 1 thread, to plain" % kind,
                    1.03, ratio(of, SAMPLED, PLAIN),
                    remark="quartiles %.3f to %.3f; %+.2f ns"
                    % (low, high, on_top(of, SAMPLED, PLAIN)))
    demo = results.get("demo")
    if demo:
        of = demo["duk"]["seconds"]
        low, high = quartiles(ratios(of, "MProf, symbolize=0", FRAMES))
        at_most("Duktape, time, to plain with frame pointers", 1.01,
                ratio(of, "MProf, symbolize=0", FRAMES),
                remark="symbolize=0; quartiles %.3f to %.3f"
                % (low, high))
        at_most("the same with names found at exit", 1.01,
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
        at_most("lookup among {1:,} stacks, to {0:,}".format(*lookup["sizes"]),
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
        added = {f: on_top(rss[f], SAMPLED, PLAIN) for f in rss}
        worst = max(added, key=added.get)
        at_most("resident memory on top of plain, nothing allocated", 512,
                added[worst], "%.0f KiB", worst)
    return bars


# --- one part each -----------------------------------------------------------


def write_pair(page, results):
    pair = results["pair"]
    page.heading("One malloc and one free")
    page.paragraph("![Nanoseconds a pair, by variant](benchmarks-heap.svg)")
    compare(page, "nanoseconds a pair (ratio)", PAIR_BASES, {
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


def write_rss(page, results):
    page.heading("Resident memory")
    rss = results["rss"]
    rows = []
    for field, of in rss.items():
        rows.append([field + ", KiB"]
                    + ["{:,.0f}".format(median(of[v])) for v in of]
                    + ["%.0f" % on_top(of, SAMPLED, PLAIN)])
    page.table(["", *rss["VmHWM"], "512 KiB on top of plain"], rows)
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
    """Returns {name of the file: its text}."""
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


# --- all parts ---------------------------------------------------------------

PARTS = (("pair", write_pair), *report_exact.PARTS,
         *report_library.PARTS, ("lookup", write_lookup),
         ("demo", write_demo), ("instructions", write_instructions),
         ("compile", write_compile), ("text_bytes", write_text_bytes),
         ("rss", write_rss), ("exittime", write_exittime))
