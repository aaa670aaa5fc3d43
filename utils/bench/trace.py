# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the execution trace costs."""

import os
import re
import sys

from bench import (
    QUICK, ROUNDS, SCRATCH, TOP, build_both, build_go, draw, log, median, mprof,
    number, numbers, program, run, turns, write_table)

REPEATS = 3  # of the loop in each process, after one repeat that is not counted
FRAMES = 10  # number of frames of each stack in the trace
LENGTH = 1e6 if QUICK else 25e6  # nanoseconds of a repeat
# Options with which MProf keeps the whole trace in memory, and writes only the trace.
ALONE = "profile=0:report=0:symbolize=0:trace_max_mb=1024"
LOOPS = {
    # title: kind, events of a step, threads, approximate nanoseconds of a step, in Go
    "region": ("region", 2, 1, 150, 200),
    "region, 2 threads": ("region", 2, 2, 150, 200),
    "region, 32 stacks": ("stacks", 2, 1, 250, None),
    "system call": ("read", 1, 1, 230, 300),
    "system call, 2 threads": ("read", 1, 2, 230, 300),
    "wait": ("expire", 2, 1, 150, None),
    "turn": ("turns", 3, 2, 1400, 450),
}
# The type of an event that each step of the loop causes.
SIGNS = {"region": "UserRegionBegin", "stacks": "UserRegionBegin",
         "read": "GoSyscallBegin", "expire": "GoBlock", "turns": "GoBlock"}


def tool(*arguments):
    """Returns the output of a command of mprof, which fails if it rejects the trace."""
    return run([os.path.join(TOP, "build/bin/mprof"), "trace", *arguments]).text


def event():
    """The cost of an event with a stack of ten frames, in time and in bytes."""
    build_both("trace_loop.c")
    tracers = {"MProf": program("trace_loop-mprof"), **build_go("trace")}
    rows, bars = [], {}
    for title, (kind, events, threads, ns, go_ns) in LOOPS.items():
        log("trace: " + title)
        jobs = {}
        for name, path in tracers.items():
            if name != "MProf" and go_ns is None:
                continue
            steps = int(LENGTH / (ns if name == "MProf" else go_ns))
            calls = calls_for(name, path, kind, threads)
            argv = [*before(kind), path, kind, calls, threads, steps, REPEATS]
            # The trace has the events of all repeats.
            count = (REPEATS + 1) * steps * threads * events
            unit = "wall_ns" if kind == "turns" else "ns"
            jobs[name, False] = event_job(argv, None, unit, count)
            jobs[name, True] = event_job(argv, "out.trace", unit, count)
            if name == "MProf":
                check_counts(argv, kind, count / events)
        results = turns(jobs, ROUNDS if QUICK else 11)
        cells = {}
        for name in tracers:
            if (name, True) in results:
                each = [(a[0] - b[0]) / events
                        for a, b in zip(results[name, True], results[name, False])]
                cells[name] = median(each), median([r[1] for r in results[name, True]])
        rows.append((title, *(cells[n][i] if n in cells else "" for i in (0, 1)
                              for n in tracers)))
        bars.update({"%s, %s" % (title, n): max(cells[n][0], 0.1) for n in cells})
    write_table("trace-event", (
        "", *("%s, %s" % (n, unit) for unit in ("ns", "bytes") for n in tracers)), rows)
    draw("benchmarks-trace.svg", "Nanoseconds of a trace event with a stack of 10 frames",
         bars, is_log=True)


def before(kind):
    """Two threads that take turns run on one processor. chrt --batch: a woken thread does
    not preempt the running one, so neither runs before the other one waits."""
    if kind != "turns":
        return []
    return ["chrt", "--batch", "0", "taskset", "-c", max(os.sched_getaffinity(0))]


def event_job(argv, trace, unit, events):
    """Returns a job: the nanoseconds of a step, and the bytes of an event."""
    def once():
        text = run([*argv, *([trace] if trace else [])], mprof(ALONE)).text
        size = 0
        if trace:
            path = os.path.join(SCRATCH, trace)
            size = os.path.getsize(path) / events
            os.unlink(path)
        return number(text, unit), size
    return once


def calls_for(name, path, kind, threads):
    """Returns the number of recursive calls with which stacks in the trace have FRAMES
    frames."""
    calls = 4
    trace, json = (os.path.join(SCRATCH, f) for f in ("few.trace", "few.json"))
    os.makedirs(SCRATCH, exist_ok=True)
    run([*before(kind), path, kind, calls, threads, 100, 1, trace],
        mprof("profile=0:report=0"))
    tool("json", "--frames=100", "--stacks=text", "--output=" + json, trace)
    with open(json, encoding="utf-8") as f:
        stacks = re.findall(r'"stack":"([^"]*)"', f.read())
    loop = ("loop_" if name == "MProf" else r"main\.loop") + kind
    lengths = {s.count(r"\n") + 1 for s in stacks
               if re.search(r"(^|\\n)" + loop, s, re.I)}
    if not lengths:
        sys.exit("bench: %s, %s: no stack in the trace" % (name, kind))
    return calls + FRAMES - max(lengths)


def check_counts(argv, kind, steps):
    """Checks that MProf's trace is correct and has the events of 90 % of the steps."""
    path = os.path.join(SCRATCH, "whole.trace")
    run([*argv, path], mprof(ALONE))
    counts = {name: int(n) for n, name in
              re.findall(r"^ *(\d+) (\w+)$", tool("check", path), re.M)}
    if counts.get(SIGNS[kind], 0) < steps * 0.9:
        sys.exit("bench: %s: %d steps, but in the trace %s" % (kind, steps, counts))
    os.unlink(path)


# --- write: a long trace, written at the end, and a flight recorder ----------


def write():
    """The time and the memory of a trace of two million events, and of a recorder."""
    log("trace: a long trace")
    build_both("trace_load.c")
    amount = ["events", 200000 if QUICK else 2000000]
    seconds = 5 if QUICK else 60
    without = load(amount, "-", "")
    stopped = load(amount, "out.trace", "")
    recorder = load(["seconds", seconds], "window.trace", ":trace_last_mb=16")
    at_exit = load(amount, "-", ":trace=1")
    events = {name: int(re.search(r"(\d+) events", tool(
        "check", os.path.join(SCRATCH, name))).group(1))
        for name in ("out.trace", "window.trace")}

    def mib(run_of, of=without):
        return (run_of["kib"] - of["kib"]) / 1024

    write_table("trace-write", ("", "events", "written in, ms", "memory, MiB"), [
        ("a trace, by mprof_trace_stop", "{:,}".format(events["out.trace"]),
         stopped["write_ms"], mib(stopped)),
        ("a trace, at exit, with names", "", at_exit["exit_ms"], ""),
        ("the flight recorder of 16 MiB, after %d s" % seconds,
         "{:,}".format(events["window.trace"]), recorder["write_ms"], mib(recorder))])


def load(amount, path, options):
    r = run([program("trace_load-mprof"), *amount, path],
            mprof("profile=0:report=0" + options))
    return {"kib": numbers(r.text, "hwm_kib")[-1], "write_ms": number(r.text, "write_ms"),
            "exit_ms": (r.ended_ns - number(r.text, "end")) / 1e6}


PARTS = {"event": event, "write": write}
