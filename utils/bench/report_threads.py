# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the section of docs/benchmarks.md about the threads profile and labels."""

import chart
from measure_threads import (
    CROWD_FEATURES, EU_STACK, GDB, MPROF, PLAIN, STOPPED)
from page import Bars, compare, median, number, quartiles, ratio, ratios

TITLE = "What the stacks of all threads cost"
VARIANTS = """\
The tables compare these variants:

- *MProf* is built with `mprof-clang -O2 -fmprof` and run with `threads=1`, so
  that MProf records waits from the start.
- *MProf, threads_stop=1* is the same program. With this option, MProf stops all
  threads until it has read the stack of the last thread.
- *Go* is a program that has goroutines instead of threads, and uses Go's own
  profile.
- The debuggers *gdb* and *eu-stack* run in a process of their own, and read the
  stacks of a program that is built with `clang -O2`."""

PROFILE_NOTES = """\
The table shows the milliseconds to take the stacks of 10, 1,000 and 10,000
waiting threads. A quarter of the threads waits in each of `pthread_cond_wait`,
`poll`, `sem_wait` and `read`, with stacks of ten calls. Goroutines wait for a
channel.

- *records* is the time of `mprof_thread_profile`. For Go, *records* is the time
  of `runtime.GoroutineProfile`.
- *file* is the time of `mprof_write_profile("threads", path, 0)`, which runs
  llvm-symbolizer to find function names. For Go, *file* is the time of
  `pprof.Lookup("goroutine").WriteTo`, including the file.
- For a debugger, the table shows the time of its whole run, with its output in a
  file.
- *disturbed* is the number of waiting threads that ran while the profile was
  taken, even for a moment. The benchmark finds these threads by the kernel's
  count of context switches. The event for which a thread waits never happens
  during the measurement, so only a profiler can make the thread run."""

KEPT_NOTES = """\
The table shows for how many microseconds a profile keeps other threads from
running. The benchmark measures this time in threads that are called watchers. The
watchers run alone on one processor, and all other threads run on another
processor. The column *watcher* shows which watchers are used:

- *computing*: one watcher (a thread whose delay is measured) reads the clock all
  the time. A gap between two readings is the time of a signal handler, or a time
  in which the watcher was stopped.
- *waking*: two watchers (threads whose delay is measured) wake each other by
  condition variables all the time. A gap is the delay of a watcher at the begin
  or the end of a wait, or while the profiler reads the watcher's stack.

A gap is a time for which a watcher, that is, a measured thread, was delayed. Each
cell has two figures. For each profile, the benchmark measures the longest gap
while the profile was taken. The first figure of a cell is the median of these
longest gaps, and the second figure is the largest of them. The columns *at rest*
show the same figures for equally long periods without a profile.

- The watchers are the threads whose delay is measured. If another program ran on
  their processor, a watcher had to wait for the processor. The kernel counts this
  time, and the benchmark subtracts it.
- gdb and `threads_stop=1` stop the watcher, that is, the measured thread,
  together with all other threads. eu-stack stops one thread after another."""

COMPUTING_NOTES = """\
The table shows the time of `mprof_thread_profile`, or of Go's function, while
some threads compute. Threads that compute share the processors with the thread
that takes the profile. Each computing thread takes its own stack in the handler
of MProf's signal, when it runs next. If there are more threads than processors, a
profile therefore lasts until each thread has run on a processor.

Go takes the stacks of computing goroutines faster than MProf takes those of
threads. At most one goroutine runs on each processor. Go can read the stacks of
all other goroutines immediately, because these goroutines do not run."""

CROWD_NOTES = """\
The first table shows the pace of a service with thousands of threads, as a share of
the pace without MProf. Each thread sleeps for 20 to 30 ms, takes a lock that all
threads share, and allocates and frees a block. The second table shows the time from
the creation of a thread to its join, as a multiple of the time without MProf. These
threads allocate a block, meet at a barrier, and take a lock. The figures are medians
over the rounds of the benchmark."""

NOTES_NOTES = """\
With `threads=1`, each call that may wait records where the thread waits, and
clears this record when the call ends. Other threads can then read the stack of
the waiting thread. The table shows the cost of this record.

- Column 3 shows a `poll` that returns at once, because a descriptor is ready. No
  waiting time hides the cost of the record.
- Column 4 shows two threads that wake each other. Most of the time in this column
  is spent on switching threads."""

LABEL_NOTES = """\
A [label](labels.md) is a key and a value that a program attaches to a thread. The
table shows the time of one `malloc` and one `free` in a thread that has no label,
or one label. The loops *ring* and *lifo* are those of the table [One malloc and
one free](#one-malloc-and-one-free), with one thread and the default `heap_rate`
of 512 KiB."""


# --- limits ("bars") for the measured values ---------------------------------


def all_of(results, size, watcher, variant, name):
    """Returns the values called name of all turns of a variant."""
    runs = results["profile"].get(str(size), {}).get(watcher, {})
    return [run[name] for run in runs.get(variant, []) if name in run]


def sizes_of(results):
    return sorted(int(size) for size in results["profile"] if size.isdigit())


def bars(results):
    bars = Bars()
    if results.get("profile"):
        size = sizes_of(results)[-1]
        took = [ms for watcher in ("run", "wake") for ms in
                all_of(results, size, watcher, MPROF, "profile_ms")]
        longest = [ms for watcher in ("run", "wake") for ms in
                   all_of(results, size, watcher, MPROF, "longest_ms")]
        bars.at_most("a profile of {:,} waiting threads".format(size), 100,
                     median(took), "%.1f ms",
                     "longest: %.1f ms" % max(longest))
        for watcher, how in (("run", "a computing"), ("wake", "a waking")):
            kept = all_of(results, size, watcher, MPROF, "longest_gap_us")
            rest = all_of(results, size, watcher, MPROF, "longest_rest_gap_us")
            bars.at_most(
                "delay of %s thread during a profile, longest" % how, 1,
                max(kept) / 1e3, "%.3f ms",
                "longest delay without a profile: %.3f ms; median over the "
                "profiles: %.3f ms" % (max(rest) / 1e3, median(all_of(
                    results, size, watcher, MPROF, "gap_us")) / 1e3))
        bars.at_most(
            "waiting threads that were disturbed, plus waits that have ended", 0,
            sum(sum(all_of(results, size, watcher, MPROF, name))
                for size in sizes_of(results) for watcher in ("run", "wake")
                for name in ("disturbed", "ended")), "%d")
    crowd = results.get("crowd") or {}
    for what, bar, check in (("rounds", 0.9, bars.at_least),
                             ("us", 1.2, bars.at_most)):
        for size, of in crowd.get(what, {}).items():
            for name in CROWD_FEATURES:
                if name in of:
                    low, high = quartiles(ratios(of, name, PLAIN))
                    check("%s of %s threads, %s, to plain" % (
                        "pace" if what == "rounds" else "creation", size, name),
                        bar, ratio(of, name, PLAIN),
                        remark="quartiles %.3f to %.3f" % (low, high))
    for kind, of in (results.get("labels") or {}).items():
        low, high = quartiles(ratios(of, "MProf, a label", "plain"))
        bars.at_most(
            "malloc/free pair (%s), 512 KiB, with a label, to plain" % kind,
            1.03, ratio(of, "MProf, a label", "plain"),
            remark="quartiles %.3f to %.3f; without a label %.3f" % (
                low, high, ratio(of, "MProf, no label", "plain")))
    return bars


# --- each function writes one part of the section ----------------------------


def names_of(results):
    """Returns the names of all variants, in the order in which they were measured."""
    names = []
    for size in sizes_of(results):
        names += [name for name in results["profile"][str(size)]["run"]
                  if name not in names]
    return names


def cell(runs, show=number):
    return show(median(runs)) if runs else ""


def write_profile(page, results):
    sizes = sizes_of(results)
    page.heading("A profile of threads that wait")
    page.paragraph("![Microseconds, by variant](benchmarks-threads.svg)")
    rows = []
    for name in names_of(results):
        row = [name]
        for size in sizes:
            for line in ("profile_ms", "write_ms"):
                row.append(cell(all_of(results, size, "run", name, line)))
        disturbed = all_of(results, sizes[-1], "run", name, "disturbed")
        rows.append(row + [cell(disturbed, "{:,.0f}".format)])
    head = ["milliseconds"]
    for size in sizes:
        head += ["{:,}: records".format(size), "file"]
    page.table(head + ["disturbed of {:,}".format(sizes[-1])], rows)
    write_missing(page, results["profile"])
    page.paragraph(PROFILE_NOTES)
    write_kept(page, results)


def write_missing(page, profile):
    for name, why in profile["absent"].items():
        page.paragraph("%s: not available here: %s." % (name, why))
    for name, size in profile["late"].items():
        page.paragraph("%s: stopped after %d s with %s threads." % (
            name, profile["seconds"], "{:,}".format(size)))


def write_kept(page, results):
    page.heading("How long a profile delays one thread")
    rows = []
    for name in names_of(results):
        for watcher, how in (("run", "computing"), ("wake", "waking")):
            row = [name, how]
            for size in sizes_of(results):
                for line, longest in (("gap_us", "longest_gap_us"),
                                      ("rest_gap_us", "longest_rest_gap_us")):
                    of = all_of(results, size, watcher, name, line)
                    row.append("%s, %s" % (number(median(of)), number(max(
                        all_of(results, size, watcher, name, longest))))
                        if of else "")
            if any(row[2:]):
                rows.append(row)
    head = ["microseconds", "watcher"]
    for size in sizes_of(results):
        head += ["{:,}".format(size), "at rest"]
    page.table(head, rows, "ll" + "r" * (len(head) - 2))
    page.paragraph(KEPT_NOTES)


def write_computing(page, results):
    computing = results["computing"]
    page.heading("A profile of threads that compute")
    names = list(next(iter(computing.values())))
    page.table(
        ["milliseconds, records", *computing],
        [[name, *(cell(of.get(name)) for of in computing.values())]
         for name in names])
    page.paragraph(COMPUTING_NOTES)


def write_crowd(page, results):
    page.heading("Thousands of threads")
    for what, title in (("rounds", "pace, to plain"),
                        ("us", "creation of a thread, to plain")):
        sizes = results["crowd"][what]
        page.table(
            [title, *("{:,}".format(int(size)) for size in sizes)],
            [[name, *("%.2f" % ratio(of, name, PLAIN) for of in sizes.values())]
             for name in CROWD_FEATURES
             if all(name in of for of in sizes.values())])
    page.paragraph(CROWD_NOTES)


def write_notes(page, results):
    page.heading("What recording waits costs")
    compare(page, "nanoseconds per call or event (ratio)",
            {"plain": "plain", "MProf, threads=0": "plain",
             "MProf, threads=1": "plain"}, results["notes"])
    page.paragraph(NOTES_NOTES)


def write_labels(page, results):
    page.heading("What a label costs the heap profile")
    compare(page, "nanoseconds per pair (ratio)",
            {"plain": "plain", "MProf, no label": "plain",
             "MProf, a label": "plain"}, results["labels"])
    page.paragraph(LABEL_NOTES)


# --- the plot ----------------------------------------------------------------


def colour(name):
    return chart.MPROF if name in (MPROF, STOPPED) else \
        chart.NONE if name in (GDB, EU_STACK) else chart.OTHER


def plots(results):
    """Returns {name of the SVG file: text of the file}."""
    if not results.get("profile"):
        return {}
    sizes = sizes_of(results)[-2:]
    rows = []
    for name in names_of(results):
        took = [all_of(results, size, "run", name, "profile_ms")
                for size in sizes]
        rows.append((name, colour(name),
                     [median(ms) * 1e3 for ms in took if ms]))
    return {"benchmarks-threads.svg": chart.svg(
        "Microseconds a profile of all threads, by variant",
        "Microseconds a profile of all threads, logarithmic",
        "upper bar: {:,} that wait; lower bar: {:,}; orange: MProf, blue: Go, "
        "grey: debuggers".format(*sizes), rows)}


# --- the list of all parts ---------------------------------------------------

PARTS = (("profile", write_profile), ("computing", write_computing),
         ("crowd", write_crowd),
         ("notes", write_notes), ("labels", write_labels))
