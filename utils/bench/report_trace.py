# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the section of docs/benchmarks.md about the execution trace."""

import chart
from measure_trace import (
    GO_NEW, GO_OLD, MPROF, OFF, PLAIN, SITES, TRACE, loops)
from measure_tracers import LTTNG, UFTRACE, XRAY
from page import (
    Bars, compare, median, number, on_top, quartiles, ratio, ratios, times)

TITLE = "What the execution trace costs"
VARIANTS = """\
The tables compare these variants:

- *MProf* is a program built with `mprof-clang -O2 -fmprof=trace`.
- *Go, newest* is a program built with the Go version in the list of the machine's
  software.
- *Go 1.19* is a program built with the Go version that Debian ships."""

TRACERS = (MPROF, GO_NEW, GO_OLD)

EVENT_NOTES = """\
The figures are nanoseconds for each event. Each benchmark repeats a step in a
loop. To get a figure, the time of a step without a trace is subtracted from the
time with a trace, in the same round. The difference is divided by the number of
events in a step. The figures therefore do not include the time of the kernel or
of thread switches. The steps are:

- A *region* is a step with two events, the begin and the end of a user region. A
  user region is a part of the program that the program itself marks.
- A *system call* is a step with one event: a `read` of one byte from /dev/zero.
- A *wait* is a step with two events: the thread blocks, and is unblocked. The
  thread waits for a semaphore with a timeout that has already passed, so the step
  involves no other thread and no system call.
- A *turn* is a step with three events. Two threads run alternately on one
  processor. One thread unblocks the other thread, and then blocks. The other
  thread starts.

*bytes* is the size of the trace file, including stacks, divided by the number of
events.

**Stacks.** The stacks have 10 frames, both in C and in Go. All events have a
stack, except the start of a thread in the step *turn*. In *region, 32 stacks*,
the loop uses 32 different stacks one after another, so the figure includes the
lookup of the stack by a hash. In the other loops, all events have the same stack.
MProf recognizes a repeated stack by comparing its frames, without a hash.

**Waits of two threads.** In *wait, 2 threads*, the semaphores of the two threads
are a page apart. If the semaphores were in neighbouring cache lines, a wait would
take about twice as long. The reason is that the semaphores' entries in MProf's
table of waiters would then share a cache line.

**Comparison with Go.** Go records the same events, with these differences:

- A short system call is one event in Go 1.19, as in MProf. Newer Go versions also
  record the end of the call. The figures of all versions count a system call as
  one event.
- In the step *turn*, two threads of the C program wake each other. The Go program
  instead switches between two goroutines by two channels, and does not switch
  threads.
- A region of Go is an object on the heap. The cost of the region includes the
  allocation of this object.
- Go writes the trace file while the program runs, on another processor if there
  is one. MProf writes the trace file at the end
  ([below](#two-million-events-written-at-the-end))."""

OTHERS_NOTES = """\
None of the tracers in the table (XRay, uftrace and LTTng) records a stack. For
each tracer, the time of the same program without the tracer is subtracted.

- *XRay* and *uftrace* record the begin and the end of each function call. The
  called function is not inlined and does nothing.
- XRay runs in its flight data recorder mode, with buffers that have room for all
  calls. XRay is configured to record short calls, too. From the time with XRay,
  the benchmark subtracts the time of the instrumented program before XRay patches
  its functions.
- *LTTng* is LTTng's library liblttng-ust-pthread-wrapper, with a session that
  records to disk. The library records three events when a mutex is locked and
  unlocked."""

OFF_NOTES = """\
The tables show what the instrumented calls of a program cost while the program
records neither a trace nor a profile.

- *plain* is built without MProf.
- *profiles* is built with `-fmprof=block,mutex,threadcreate`.
- *trace* is built with `-fmprof=trace`.

`read` and `write` transfer one byte, and all descriptors are ready. valgrind
counts the instructions outside the kernel. The instructions of an empty loop are
subtracted.

A trace uses the same instrumented calls as the profiles, so the variants
*profiles* and *trace* should be the same program."""

SAME_CODE = {
    True: "The instructions of both variants are indeed the same. A difference "
          "in time between *profiles* and *trace* is therefore a measurement "
          "error.",
    False: "However, in some loops the instructions of the two variants differ."}

WRITE_NOTES = """\
The table shows the time to write a trace to a file after the program has run. The
trace has the events of two threads. In a loop, each thread begins a region, makes
a system call, waits for a semaphore until a timeout, and ends the region. Each
thread reaches this loop body through 256 different call stacks.

- In column 2, the program calls `mprof_trace_stop`, which writes the file.
- In column 3, MProf writes the file at exit, with function names.
- *memory* is the additional peak memory of the process (VmHWM), compared with the
  same work without a trace."""

RECORDER_NOTES = """\
A flight recorder keeps only the newest part of a trace in memory. In this
measurement, the flight recorder records two threads. In a loop without pauses,
each thread begins a region, makes a system call, waits for a semaphore and ends
the region. Then the program takes a snapshot, which writes the recorded events to
a file.

- *bound* is the memory that the recorded events may use (option `trace_last_mb`).
- *memory* is the additional peak memory (VmHWM), compared with the same program
  without a trace. This memory contains the recorded events and the tables of
  stacks. The bound does not include these tables, because the block profile needs
  them, too.
- *block profile* is the size of MProf's tables of stacks, which the block profile
  needs, too."""


def names_of(event):
    return [loop.name for loop in loops() if loop.name in event]


def events_of(event, loop):
    return event["events"][loop]


def cost(event, loop, tracer):
    """Returns, for each round, the nanoseconds that the trace adds for each event."""
    of = event[loop]["ns"]
    return [(on - off) / events_of(event, loop)
            for on, off in zip(of[tracer], of[tracer + OFF])]


def costs(event, loop):
    return {t: cost(event, loop, t) for t in TRACERS if t in event[loop]["ns"]}


def other_cost(others, name):
    return [(on["ns"] - off["ns"]) / others["events"][name] for on, off in
            zip(others["runs"][name], others["runs"][name + OFF])]


def other_names(others):
    return [n for n in (XRAY, *UFTRACE, LTTNG) if n in others["runs"]]


# --- limits ("bars") for the measured values ---------------------------------


def event_bars(bars, event):
    for loop in names_of(event):
        of = costs(event, loop)
        bars.at_most("an event, %s" % loop, 80, median(of[MPROF]), "%.1f ns",
                     "quartiles %.1f to %.1f" % quartiles(of[MPROF]))
    for loop in names_of(event):
        of = costs(event, loop)
        if GO_OLD in of:
            bars.at_least("an event of Go 1.19, to an event of MProf, %s" % loop, 5,
                          ratio(of, GO_OLD, MPROF), "%.1f",
                          "quartiles %.1f to %.1f"
                          % quartiles(ratios(of, GO_OLD, MPROF)))
    sizes = [median(event[loop]["bytes"][MPROF]) for loop in names_of(event)
             if "threads" not in loop]
    bars.at_most("bytes per event, on average", 8, sum(sizes) / len(sizes),
                 "%.1f", "least %.1f, most %.1f" % (min(sizes), max(sizes)))


def off_bars(bars, off):
    for loop, of in off["ns"].items():
        bars.at_most(
            "no trace, %s, to plain" % loop, 1.01, ratio(of, TRACE, PLAIN),
            remark="quartiles %.3f to %.3f; %+.2f ns" % (
                *quartiles(ratios(of, TRACE, PLAIN)), on_top(of, TRACE, PLAIN)))
    if "instructions" in off:
        most, loop = max((ratio(of, TRACE, SITES), loop)
                         for loop, of in off["instructions"].items())
        bars.at_most("no trace, instructions, *trace* to *profiles*", 1.01, most,
                     remark="the largest of all loops: " + loop)


def extra_mib(runs, base):
    return median([(a - b) / 1024 for a, b in zip(runs, base)])


def write_bars(bars, write):
    what = "a trace of {:,} events, ".format(write["events"])
    bars.at_most(what + "written at exit", 5,
                 median(write["exit_ms"]["exit"]) / 1e3, "%.2f s")
    bars.at_most(what + "memory", 64,
                 extra_mib(write["after_kib"]["stop"],
                           write["after_kib"]["no trace"]), "%.1f MiB")


def recorder_mib(recorder, when, run="with"):
    return (recorder[run][when] - recorder["without"][when]) / 1024


def bars(results):
    bars = Bars()
    if results.get("event"):
        event_bars(bars, results["event"])
    if results.get("off"):
        off_bars(bars, results["off"])
    if results.get("write"):
        write_bars(bars, results["write"])
    recorder = results.get("recorder")
    if recorder:
        bars.at_most(
            "flight recorder of %d MiB, memory after %d s" % (
                recorder["mb"], recorder["seconds"]),
            recorder["mb"] * 1.1, recorder_mib(recorder, "before_kib"),
            "%.1f MiB", "tables of stacks: %.1f MiB of this memory"
            % recorder_mib(recorder, "before_kib", "tables"))
        opened = [name for name, ok in recorder["readers"].items() if ok]
        readers = [name for name, ok in recorder["readers"].items()
                   if ok is not None]
        bars.at_least("readers that open the snapshot", len(readers) + 1,
                      len(opened) + 1, "%d",
                      ", ".join(["mprof-trace-check", *opened]))
    return bars


# --- each function writes one part of the section ----------------------------


def write_absent(page, part):
    for name, why in part.get("absent", {}).items():
        page.paragraph("%s: not available here: %s." % (name, why))


def write_event(page, results):
    event = results["event"]
    page.heading("An event with a stack of 10 frames")
    page.paragraph("![Nanoseconds, by event](benchmarks-trace.svg)")
    rows = []
    for loop in names_of(event):
        of = costs(event, loop)
        sizes = event[loop]["bytes"]
        row = [loop]
        for t in TRACERS:
            row.append(number(median(of[t])) if t in of else "")
        for t in (GO_NEW, GO_OLD):
            row.append(times(ratio(of, t, MPROF)) if t in of else "")
        for t in TRACERS:
            row.append("%.1f" % median(sizes[t]) if t in sizes else "")
        rows.append(row)
    page.table(["", *(t + ", ns" for t in TRACERS),
                *(t + " to MProf" for t in (GO_NEW, GO_OLD)),
                *(t + ", bytes" for t in TRACERS)], rows)
    write_absent(page, event)
    page.paragraph(EVENT_NOTES)


def write_others(page, results):
    others = results["others"]
    page.heading("Other tracers, without stacks")
    rows = []
    for name in other_names(others):
        runs = others["runs"][name]
        cost = other_cost(others, name)
        rows.append((name, number(median(cost)), "%.1f to %.1f" % quartiles(cost),
                     "%.1f" % median([r["bytes"] for r in runs])
                     if "bytes" in runs[0] else ""))
    page.table(("", "ns per event", "quartiles", "bytes per event"), rows)
    for name, why in others["notes"].items():
        page.paragraph("%s: %s." % (name, why))
    write_absent(page, others)
    page.paragraph(OTHERS_NOTES)


def write_off(page, results):
    off = results["off"]
    bases = {PLAIN: PLAIN, SITES: PLAIN, TRACE: PLAIN}
    page.heading("Without a trace")
    compare(page, "nanoseconds per step (ratio)", bases, off["ns"])
    if "instructions" in off:
        compare(page, "instructions per step (ratio)", bases, off["instructions"],
                lambda value: "%.1f" % value)
    page.paragraph(OFF_NOTES + " " + SAME_CODE[off["is_same_code"]])


def write_write(page, results):
    write = results["write"]
    page.heading("Two million events, written at the end")
    stop_ms = median(write["write_ms"]["stop"])
    exit_ms = median(write["exit_ms"]["exit"])
    size = median(write["bytes"])
    page.table(
        ("", "by mprof_trace_stop", "at exit"),
        [("events", "{:,}".format(write["events"]), ""),
         ("the file, MiB", "%.1f" % (size / 2 ** 20), ""),
         ("bytes per event", "%.1f" % (size / write["events"]), ""),
         ("milliseconds", number(stop_ms), number(exit_ms)),
         ("nanoseconds per event", number(stop_ms * 1e6 / write["events"]),
          number(exit_ms * 1e6 / write["events"])),
         *(("memory %s, MiB" % when,
            "%.1f" % extra_mib(write[key]["stop"], write[key]["no trace"]), "")
           for when, key in (("before the file is written", "before_kib"),
                             ("after the file is written", "after_kib")))])
    page.paragraph(WRITE_NOTES)


def write_recorder(page, results):
    recorder = results["recorder"]
    page.heading("A flight recorder")
    page.table(
        ("seconds", "bound, MiB", "memory, MiB", "block profile, MiB",
         "memory after the snapshot, MiB", "events in the snapshot",
         "the file, MiB", "writing the file, ms", "go tool trace"),
        [(str(recorder["seconds"]), str(recorder["mb"]),
          "%.1f" % recorder_mib(recorder, "before_kib"),
          "%.1f" % recorder_mib(recorder, "before_kib", "tables"),
          "%.1f" % recorder_mib(recorder, "after_kib"),
          "{:,}".format(recorder["events"]),
          "%.1f" % (recorder["bytes"] / 2 ** 20),
          number(recorder["with"]["write_ms"]),
          ", ".join("%s: %s" % (name, {True: "opens the file", False: "fails",
                                       None: "absent"}[ok])
                    for name, ok in recorder["readers"].items()))],
        "rrrrrrrrl")
    page.paragraph(RECORDER_NOTES)


# --- the plot ----------------------------------------------------------------


def plots(results):
    """Returns {name of the SVG file: text of the file}."""
    event, others = results.get("event"), results.get("others")
    if not event or not others:
        return {}
    rows = []
    for loop in names_of(event):
        if loop.endswith("threads"):
            continue
        both = loop + ", 2 threads"
        for t, of in costs(event, loop).items():
            shown = [median(of)]
            if both in event:
                shown.append(median(cost(event, both, t)))
            colour = chart.MPROF if t == MPROF else chart.OTHER
            rows.append(("%s, %s" % (t, loop), colour, shown))
    rows += [(name.replace("flight data recorder", "functions").replace(
        "finstrument-functions", "finstrument"), chart.OTHER,
        [median(other_cost(others, name))]) for name in other_names(others)]
    return {"benchmarks-trace.svg": chart.svg(
        "Nanoseconds an event, by tracer",
        "Nanoseconds an event, logarithmic",
        "upper bar: one thread, lower bar: two; a turn has two; orange: MProf, "
        "blue: others; the last four record no stack", rows)}


# --- the list of all parts ---------------------------------------------------

PARTS = (("event", write_event), ("others", write_others), ("off", write_off),
         ("write", write_write), ("recorder", write_recorder))
