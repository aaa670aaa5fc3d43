# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the section of docs/benchmarks.md about the block and mutex profiles."""

import chart
from lock_variants import BLOCK, BOTH, OFF, PLAIN
from page import (
    Bars, compare, median, number, on_top, quartiles, ratio, ratios, times)

TITLE = "What the block and mutex profiles cost"
VARIANTS = """\
The tables compare these variants:

- *plain* is built with `clang -O2`.
- All variants of *MProf* are the same program, built with `mprof-clang -O2
  -fmprof`. The variants differ in the options `block_rate` and `mutex_fraction`.
  With the value 1, MProf records every event. With the value 0, MProf records
  none.
- In *MProf, off*, the options `block_rate` and `mutex_fraction` are 0. In *MProf,
  both*, the two options are 1. In the other variants of MProf, only the named
  option is 1.
- The variants of *Go* are a Go program with the same loops as the C program. The
  Go program uses Go's own locks and profiles."""

GO_OFF = "Go, off"
BASES = {
    PLAIN: PLAIN,
    OFF: PLAIN,
    BLOCK: PLAIN,
    "MProf, mutex_fraction=1": PLAIN,
    BOTH: PLAIN,
    "LTTng, no session": PLAIN,
    "LTTng, session": PLAIN,
    "perf lock record": PLAIN,
    "perf record, futex calls": PLAIN,
    "valgrind, drd": PLAIN,
    GO_OFF: GO_OFF,
    "Go, block_rate=1": GO_OFF,
    "Go, mutex_fraction=1": GO_OFF,
    "Go, both": GO_OFF,
}
MUTEX_PAIR, MUTEX_HANDOFF = "mutex", "mutex, 2 threads"
PINNED = "on one processor"

PAIR_NOTES = """\
The table shows the cost of MProf's checks in calls that do not wait. A pair is
one call that takes a lock and one call that releases the lock. No other thread
wants the lock, so the profiles record nothing. The benchmark checks that the
profiles are empty.

- In the column *mutex, one thread*, the process has only one thread. glibc's
  mutexes then need no atomic instruction. In the other columns, a second thread
  exists and sleeps.
- *LTTng* is LTTng's library liblttng-ust-pthread-wrapper, which is preloaded and
  supports only mutexes. *no session* runs without a recording session. *session*
  runs with a session that records to disk.
- `perf lock record` records the kernel's own locks. `perf record` records the
  futex calls of threads that wait or wake others, with stacks. Neither tool
  records a lock without a waiter.
- `valgrind --tool=drd --exclusive-threshold=1000` checks every access to memory.
- The benchmark ran perf, valgrind and LTTng with a session in the first rounds
  only, because these tools are slow."""

INSTRUCTION_NOTES = """\
The table shows the instructions of taking and releasing a lock once, as valgrind
counts them. The instructions of the same loop without a lock are subtracted."""

HANDOFF_NOTES = """\
The tables show several threads that want the same lock. Each thread takes the
lock, works for about 1 us, releases the lock, and works for about 0.2 us. The
thread repeats these steps for a fixed time. The work between taking and releasing
the lock is a critical section.

- The first table shows the number of critical sections of all threads.
- The second table shows how often the lock went to another thread. For a mutex,
  the figure is the number of critical sections in which the previous holder was
  another thread. This number is small, because the thread that releases the
  lock often takes the lock again before the waiting thread is awake.
- For the rwlock, the second table shows the number of critical sections of the
  writer. glibc's rwlock prefers readers, but Go's rwlock lets no thread starve.
  The figures of the two rwlocks are therefore not comparable.
- The third table shows the number of events in each profile. The events of the
  block profile include barriers and joins of the benchmark itself."""

COND_NOTES = """\
Two threads wake each other in turn, by a mutex and two condition variables. An
event is one signal, one wake-up and the switch to the other thread.

- In the columns *on one processor*, both threads run on the same processor. The
  target applies to these columns. Here the two threads never run at the same
  time, so all the time that a profile takes is part of the measured time.
- In the columns *on any*, the kernel chooses the processors. This choice changes
  the time more than a profile does."""


# --- limits ("bars") for the measured values ---------------------------------


def bars(results):
    bars = Bars()
    pair = results.get("pair", {})
    for loop in loops_of(pair):
        of = pair[loop]["ns"]
        for variant, how, bar in ((BOTH, "both on", 1.05), (OFF, "off", 1.03)):
            low, high = quartiles(ratios(of, variant, PLAIN))
            bars.at_most(
                "uncontended pair (%s), %s, to plain" % (loop, how), bar,
                ratio(of, variant, PLAIN),
                remark="quartiles %.3f to %.3f; %+.2f ns"
                % (low, high, on_top(of, variant, PLAIN)))
    handoff = results.get("handoff", {})
    for loop in loops_of(handoff):
        if loop.endswith("mutex, 2 threads"):
            of = handoff[loop]["per_second"]
            low, high = quartiles(ratios(of, BOTH, PLAIN))
            bars.at_least(
                "contended %s, both on, throughput to plain" % loop, 0.95,
                ratio(of, BOTH, PLAIN),
                remark="quartiles %.3f to %.3f" % (low, high))
    cond = results.get("cond")
    if cond:
        of = cond[PINNED]["ns"]
        added = [a - b for a, b in zip(of[BLOCK], of[PLAIN])]
        bars.at_most(
            "condition variable, block_rate=1, an event, more than plain", 200,
            median(added), "%.0f ns",
            "%s; quartiles %.0f to %.0f" % (PINNED, *quartiles(added)))
    return bars


# --- each function writes one part of the section ----------------------------


def loops_of(part):
    return [loop for loop in part if loop != "absent"]


def write_absent(page, results):
    absent = {name: why for part in ("pair", "handoff", "cond")
              for name, why in results.get(part, {}).get("absent", {}).items()}
    for name, why in absent.items():
        page.paragraph("%s: not available here: %s." % (name, why))


def write_pair(page, results):
    pair = results["pair"]
    page.heading("One lock and one unlock without a waiter")
    page.paragraph("![Nanoseconds, by variant](benchmarks-locks.svg)")
    compare(page, "nanoseconds per pair (ratio)", BASES,
            {loop: pair[loop]["ns"] for loop in loops_of(pair)})
    write_absent(page, results)
    page.paragraph(PAIR_NOTES)


def write_instructions(page, results):
    counts = results["instructions"]
    page.heading("A lock and an unlock in instructions")
    compare(page, "instructions per pair (ratio)", BASES, counts,
            lambda value: "%.1f" % value)
    page.paragraph(INSTRUCTION_NOTES)


def write_handoff(page, results):
    handoff = results["handoff"]
    loops = loops_of(handoff)
    page.heading("A contended lock")
    compare(page, "thousand critical sections per second (ratio)", BASES,
            {loop: handoff[loop]["per_second"] for loop in loops},
            lambda value: number(value / 1000))
    for what, cell in (
            ("per 1,000 critical sections: lock went to another thread", handed_over),
            ("events per 1,000 critical sections: in the block profile, "
             "in the mutex profile", recorded)):
        rows = [[name, *(cell(handoff[loop], name) for loop in loops)]
                for name in BASES]
        page.table([what, *loops], [row for row in rows if any(row[1:])])
    page.paragraph(HANDOFF_NOTES)


def of_thousand(of, line, name):
    """Returns how many events the output line counts for each thousand critical
    sections."""
    return number(median([1000 * a / b for a, b in
                          zip(of[line][name], of["sections"][name])]))


def handed_over(of, name):
    if name not in of["sections"]:
        return ""
    return of_thousand(of, "handoffs" if "handoffs" in of else "writes", name)


def recorded(of, name):
    if name in of["block"] and name not in (OFF, GO_OFF):
        return "%s, %s" % (of_thousand(of, "block", name),
                           of_thousand(of, "mutex", name))
    if name in of.get("samples", {}):
        return of_thousand(of, "samples", name) + " samples"
    return ""


def write_cond(page, results):
    cond = results["cond"]
    loops = loops_of(cond)
    page.heading("Two threads that wait for each other")
    rows = []
    for name, base in BASES.items():
        row = [name]
        for loop in loops:
            of = cond[loop]["ns"]
            if name not in of:
                row += ["", "", ""]
                continue
            is_base = base == name
            row += [number(median(of[name])),
                    "" if is_base else times(ratio(of, name, base)),
                    "" if is_base else "%+.0f" % on_top(of, name, base)]
        if any(row[1:]):
            rows.append(row)
    head = ["nanoseconds per event"]
    for loop in loops:
        head += [loop, "ratio", "more than plain"]
    page.table(head, rows)
    page.paragraph(COND_NOTES)


# --- the plot ----------------------------------------------------------------


def colour(name):
    if name.startswith("MProf"):
        return chart.MPROF
    return chart.NONE if BASES[name] == name else chart.OTHER


def plots(results):
    """Returns {name of the SVG file: text of the file}."""
    if "pair" not in results or "handoff" not in results:
        return {}
    pairs = results["pair"][MUTEX_PAIR]["ns"]
    sections = results["handoff"][MUTEX_HANDOFF]["per_second"]
    rows = [(name, colour(name),
             [median(pairs[name]), 1e9 / median(sections[name])])
            for name in BASES if name in pairs]
    return {"benchmarks-locks.svg": chart.svg(
        "Nanoseconds a lock and unlock, by variant",
        "Nanoseconds a lock and unlock of a mutex, logarithmic",
        "upper bar: nobody waits; lower bar: a section of 1 us that two threads "
        "want; orange: MProf, blue: others, grey: none",
        rows)}


# --- the list of all parts ---------------------------------------------------

PARTS = (("pair", write_pair), ("instructions", write_instructions),
         ("handoff", write_handoff), ("cond", write_cond))
