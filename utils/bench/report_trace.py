# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The section of the page about the execution trace."""

import chart
from measure_trace import (
    GO_NEW, GO_OLD, MPROF, OFF, PLAIN, SITES, TRACE, loops)
from measure_tracers import LTTNG, UFTRACE, XRAY
from page import (
    Bars, compare, median, number, on_top, quartiles, ratio, ratios, times)

TITLE = "What the execution trace costs"
VARIANTS = """\
*MProf* is a program built with `mprof-clang -O2 -fmprof=trace`. The Go named \
here is *Go, newest*. *Go 1.19* is Debian's."""

TRACERS = (MPROF, GO_NEW, GO_OLD)

EVENT_NOTES = """\
- A figure is the time of an event: the time of a step while a trace is on, less
  its time in the same round without a trace. The rest is divided by the number of
  the step's events.
- A *region* has two events, its begin and its end.
- A *system call* is one event: a `read` of one byte from /dev/zero.
- A *wait* has two events, block and unblock: a wait for a semaphore until a time
  that is over. No other thread and no call of the kernel is in it. The semaphores
  of two threads are a page apart. Waits for two in neighbouring cache lines take
  about twice as long, because the table of waiters has words of both in one line.
- A *turn* has three events. Two threads on one processor hand it to each other:
  one unblocks the other, and blocks; the other starts.
- The kernel's part and the change of threads are thus not in the figures.
- A loop has one stack, which is found again by following it, without a hash. The
  region with 32 stacks, used in turn, shows the cost of finding each by its hash.
- Stacks have 10 frames, as the traces themselves show, in C and in Go. Both ends
  of a region, the call, the block and the unblock have a stack. A start has none.
- Go's events are the same ones. A call that ends soon is one event in Go 1.19, as
  in MProf. Newer versions record its end, too. Such a call is counted as one
  event here, with both. In a turn Go changes goroutines, not threads, in two
  channels. Go's region is an object of the heap, which is part of its cost.
- Go writes the file while the program runs, on the other processor if there is
  one. MProf writes at the end: see below.
- *Bytes* are the bytes of the file, including stacks, divided by the same number
  of events."""

OTHERS_NOTES = """\
None of these records a stack. XRay and uftrace record the begin and the end of
each function. The function is not inlined and does nothing. XRay runs in its
flight data recorder mode, with room for all functions, and leaves out none for
being short. LTTng is its library liblttng-ust-pthread-wrapper, which has three
events for a mutex that is locked and unlocked, with a session that records to
disk. The time of the same program without a tracer is subtracted. For XRay this
is the instrumented program before it is patched."""

OFF_NOTES = """\
No trace is started, and no profile is on. *trace* is built with `-fmprof=trace`,
*profiles* with `-fmprof=block,mutex,threadcreate`, *plain* without MProf. The
calls are of one byte and of descriptors that are ready. Instructions are those
outside the kernel, as valgrind counts them, less those of an empty loop. A trace
uses the sites of the profiles, so *profiles* and *trace* are the same program,
without trace and with it."""

SAME_CODE = {
    True: "Their instructions are the same, one by one. A difference in time "
          "between the two is thus the error of this measurement.",
    False: "Their instructions are not all the same."}

WRITE_NOTES = """\
Two threads, with 256 stacks each, make regions, system calls and waits. *Memory*
is the peak of the process, VmHWM, on top of that of the same work without a
trace. `mprof_trace_stop` writes the first file. The second is written at exit,
with names."""

RECORDER_NOTES = """\
The flight recorder records the same work, as fast as it goes; then a snapshot is
taken. *Memory* is VmHWM, on top of that of the same program without a trace. It
has the recorded events, and the tables of stacks. The bound does not include
these tables, which the block profile needs, too: the column *block profile* is
their size for the same stacks."""


def names_of(event):
    return [loop.name for loop in loops() if loop.name in event]


def events_of(event, loop):
    return event["events"][loop]


def cost(event, loop, tracer):
    """Returns the nanoseconds of an event, for each round."""
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


# --- the bars ----------------------------------------------------------------


def event_bars(bars, event):
    for loop in names_of(event):
        of = costs(event, loop)
        bars.at_most("an event, %s" % loop, 80, median(of[MPROF]), "%.1f ns",
                     "quartiles %.1f to %.1f" % quartiles(of[MPROF]))
    for loop in names_of(event):
        of = costs(event, loop)
        if GO_OLD in of:
            bars.at_least("an event of Go 1.19 to one of MProf, %s" % loop, 5,
                          ratio(of, GO_OLD, MPROF), "%.1f",
                          "quartiles %.1f to %.1f"
                          % quartiles(ratios(of, GO_OLD, MPROF)))
    sizes = [median(event[loop]["bytes"][MPROF]) for loop in names_of(event)
             if "threads" not in loop]
    bars.at_most("bytes an event, on average", 8, sum(sizes) / len(sizes),
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
        bars.at_most("no trace, instructions, to the profiles' sites", 1.01, most,
                     remark="the most of all loops: " + loop)


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
            "%.1f MiB", "%.1f MiB of it: tables of stacks"
            % recorder_mib(recorder, "before_kib", "tables"))
        opened = [name for name, ok in recorder["readers"].items() if ok]
        readers = [name for name, ok in recorder["readers"].items()
                   if ok is not None]
        bars.at_least("readers that open the snapshot", len(readers) + 1,
                      len(opened) + 1, "%d",
                      ", ".join(["mprof-trace-check", *opened]))
    return bars


# --- one part each -----------------------------------------------------------


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
    page.table(("", "ns an event", "quartiles", "bytes an event"), rows)
    for name, why in others["notes"].items():
        page.paragraph("%s: %s." % (name, why))
    write_absent(page, others)
    page.paragraph(OTHERS_NOTES)


def write_off(page, results):
    off = results["off"]
    bases = {PLAIN: PLAIN, SITES: PLAIN, TRACE: PLAIN}
    page.heading("Without a trace")
    compare(page, "nanoseconds a step (ratio)", bases, off["ns"])
    if "instructions" in off:
        compare(page, "instructions a step (ratio)", bases, off["instructions"],
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
         ("bytes an event", "%.1f" % (size / write["events"]), ""),
         ("milliseconds", number(stop_ms), number(exit_ms)),
         ("nanoseconds an event", number(stop_ms * 1e6 / write["events"]),
          number(exit_ms * 1e6 / write["events"])),
         *(("memory %s, MiB" % when,
            "%.1f" % extra_mib(write[key]["stop"], write[key]["no trace"]), "")
           for when, key in (("before it is written", "before_kib"),
                             ("in all", "after_kib")))])
    page.paragraph(WRITE_NOTES)


def write_recorder(page, results):
    recorder = results["recorder"]
    page.heading("A flight recorder")
    page.table(
        ("seconds", "bound, MiB", "memory, MiB", "block profile, MiB",
         "after the snapshot, MiB", "events in it", "the file, MiB", "written in, ms", "go tool trace"),
        [(str(recorder["seconds"]), str(recorder["mb"]),
          "%.1f" % recorder_mib(recorder, "before_kib"),
          "%.1f" % recorder_mib(recorder, "before_kib", "tables"),
          "%.1f" % recorder_mib(recorder, "after_kib"),
          "{:,}".format(recorder["events"]),
          "%.1f" % (recorder["bytes"] / 2 ** 20),
          number(recorder["with"]["write_ms"]),
          ", ".join("%s: %s" % (name, {True: "opens it", False: "does not",
                                       None: "absent"}[ok])
                    for name, ok in recorder["readers"].items()))],
        "rrrrrrrrl")
    page.paragraph(RECORDER_NOTES)


# --- the plot ----------------------------------------------------------------


def plots(results):
    """Returns {name of the file: its text}."""
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


# --- all parts ---------------------------------------------------------------

PARTS = (("event", write_event), ("others", write_others), ("off", write_off),
         ("write", write_write), ("recorder", write_recorder))
