# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what the execution trace costs."""

import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys
import typing

from measure_tracers import others
from running import (
    DIR, QUICK, ROUNDS, SCRATCH, TOP, by_line, empty_scratch, has_valgrind,
    instructions_in, is_built, log, median_of, mprof, program, run, take_turns,
    values)

REPEATS = 3  # of the loop in each process, after one repeat that is not counted
FRAMES = 10  # number of frames of each stack in the trace
LOOP_NS = 1e6 if QUICK else 25e6  # length of a repeat
OFF_ROUNDS = ROUNDS if QUICK else 25
OFF_NS = 1e6 if QUICK else 8e6
COUNTED_STEPS = 20000

MPROF, GO_NEW, GO_OLD = "MProf", "Go, newest", "Go 1.19"
OFF = ", off"  # ends the names of runs without a trace
# Options with which MProf keeps the whole trace in memory, and writes only the trace.
ALONE = "profile=0:report=0:symbolize=0:trace_max_mb=1024"


@dataclasses.dataclass
class Loop:
    name: str
    kind: str
    events: int  # number of events that a step causes
    ns: dict  # {tracer: approximate nanoseconds of a step}
    threads: int = 1
    unit: str = "ns"  # name of the output line that has the result
    prefix: tuple = ()
    rounds: int = ROUNDS if QUICK else 11


def loops():
    region = {MPROF: 150, GO_NEW: 200, GO_OLD: 1700}
    read = {MPROF: 230, GO_NEW: 300, GO_OLD: 800}
    one = str(max(os.sched_getaffinity(0)))
    return [
        Loop("region", "region", 2, region),
        Loop("region, 2 threads", "region", 2, region, threads=2),
        Loop("region, 32 stacks", "stacks", 2, {MPROF: 250}),
        Loop("system call", "read", 1, read),
        Loop("system call, 2 threads", "read", 1, read, threads=2),
        Loop("wait", "expire", 2, {MPROF: 150}),
        Loop("wait, 2 threads", "expire", 2, {MPROF: 150}, threads=2),
        # chrt --batch: a woken thread does not preempt the running thread. So neither
        # thread runs before the other one waits.
        Loop("turn", "turns", 3, {MPROF: 1400, GO_NEW: 450, GO_OLD: 2100},
             threads=2, unit="wall_ns",
             prefix=("chrt", "--batch", "0", "taskset", "-c", one),
             rounds=ROUNDS if QUICK else 25),
    ]


# --- event: the cost of an event, in time and in bytes -----------------------


@dataclasses.dataclass
class Tracer:
    name: str
    program: str
    env: typing.Any
    loop: str  # the name of the function with the loop is this text and the kind


def tracers():
    """Returns the tracers that can run here, and {name: reason} of the others."""
    here = [Tracer(MPROF, "trace_loop-trace", mprof(ALONE), "loop_")]
    absent = {}
    for name, built in ((GO_NEW, "trace-go"), (GO_OLD, "trace-go1.19")):
        if is_built(built):
            here.append(Tracer(name, built, {}, r"main\.loop"))
        else:
            absent[name] = "no go command"
    return here, absent


def argv_of(tracer, loop, calls, steps, repeats, *trace):
    return [*loop.prefix, program(tracer.program), loop.kind, str(calls),
            str(loop.threads), str(int(steps)), str(repeats), *trace]


def tool(name, *arguments):
    """Returns the output of one of MProf's trace tools. Ends the benchmark if the tool
    rejects the trace."""
    return run([os.path.join(TOP, "build/bin", name), *arguments], {}).text


def calls_for(tracer, loop):
    """Returns the number of recursive calls (the argument CALLS of the program) with
    which the stacks in the trace have FRAMES frames."""
    trace, json = (os.path.join(SCRATCH, f) for f in ("few.trace", "few.json"))
    calls = 4
    run(argv_of(tracer, loop, calls, 100, 1, trace),
        {**tracer.env, **mprof("profile=0:report=0")})
    tool("mprof-trace2json", "--frames=100", "--stacks=text",
         "--output=" + json, trace)
    with open(json, encoding="utf-8") as f:
        stacks = re.findall(r'"stack":"([^"]*)"', f.read())
    name = re.compile(r"(^|\\n)" + tracer.loop + loop.kind, re.I)
    lengths = {s.count(r"\n") + 1 for s in stacks if name.search(s)}
    if not lengths:
        sys.exit("bench: %s, %s: no stack in the trace" % (tracer.name, loop.name))
    return calls + FRAMES - max(lengths)


def event_job(tracer, loop, calls, is_on):
    steps = LOOP_NS / loop.ns[tracer.name]
    # The trace has the events of all repeats, including the one that is not counted.
    events = (REPEATS + 1) * int(steps) * loop.threads * loop.events

    def once():
        path = os.path.join(SCRATCH, "out.trace")
        text = run(argv_of(tracer, loop, calls, steps, REPEATS,
                           *([path] if is_on else [])), tracer.env).text
        result = {"ns": median_of(text, loop.unit)}
        if is_on:
            result["bytes"] = os.path.getsize(path) / events
            os.unlink(path)
        return result

    if is_on and tracer.name == MPROF:
        check_counts(tracer, loop, calls, steps)
    return once


# {kind of the loop: type of an event that each step of the loop causes}.
SIGNS = {"region": "UserRegion", "stacks": "UserRegion", "read": "GoSysCall", "expire": "GoBlockSync",
         "turns": "GoBlockSync"}


def check_counts(tracer, loop, calls, steps):
    """Checks that mprof-trace-check accepts MProf's trace, and that the trace has at
    least 90 % of the expected events. Go's own traces are not checked, because
    mprof-trace-check is too strict for some of them."""
    path = os.path.join(SCRATCH, "whole.trace")
    run(argv_of(tracer, loop, calls, steps, REPEATS, path), tracer.env)
    counts = {name: int(n) for n, name in re.findall(
        r"^ *(\d+) (\w+)$", tool("mprof-trace-check", path), re.M)}
    done = (REPEATS + 1) * int(steps) * loop.threads
    if counts.get(SIGNS[loop.kind], 0) < done * 0.9:
        sys.exit("bench: %s, %s: %d steps, but in the trace %s" % (
            tracer.name, loop.name, done, counts))
    os.unlink(path)


def event():
    """Returns {loop: {unit: {variant: [value of each round]}}}. The units are the
    nanoseconds of a step and "bytes", the bytes of an event."""
    here, absent = tracers()
    results = {"absent": absent, "events": {}}
    for loop in loops():
        log("trace: " + loop.name)
        jobs = {}
        for tracer in here:
            if tracer.name in loop.ns:
                calls = calls_for(tracer, loop)
                jobs[tracer.name + OFF] = event_job(tracer, loop, calls, False)
                jobs[tracer.name] = event_job(tracer, loop, calls, True)
        results["events"][loop.name] = loop.events
        results[loop.name] = by_line(take_turns(jobs, loop.rounds))
    return results


# --- off: the cost of the instrumentation while no trace is active -----------

PLAIN, SITES, TRACE = "plain", "profiles", "trace"
BUILDS = {PLAIN: "plain", SITES: "sites", TRACE: "trace"}
# {name of the loop: (program, arguments, approximate nanoseconds of a step)}
OFF_LOOPS = {
    "mutex, one thread": ("lock_pair", ["mutex", "0"], 4),
    "mutex": ("lock_pair", ["mutex", "1"], 15),
    "rwlock, read": ("lock_pair", ["rdlock", "1"], 17),
    "rwlock, write": ("lock_pair", ["wrlock", "1"], 22),
    "read": ("trace_loop", ["read", "0", "1"], 130),
    "write": ("trace_loop", ["write", "0", "1"], 130),
    "poll": ("trace_loop", ["poll", "0", "1"], 300),
}


def off():
    """Measures the nanoseconds and the instructions of a step while no trace is active.
    The instructions of an empty loop are subtracted."""
    log("trace: off")
    env = mprof("heap=0:profile=0:report=0")

    def job(name, arguments, ns, build):
        argv = [program("%s-%s" % (name, BUILDS[build])), *arguments,
                str(int(OFF_NS / ns)), str(REPEATS)]
        return lambda: median_of(run(argv, env).text, "ns")

    results = {"ns": {
        title: take_turns({b: job(*of, b) for b in BUILDS}, OFF_ROUNDS)
        for title, of in OFF_LOOPS.items()}}
    results["is_same_code"] = is_same_code()
    if not has_valgrind():
        return results

    def count(name, arguments, build, kind):
        argv = [program("%s-%s" % (name, BUILDS[build])), kind, *arguments[1:],
                str(COUNTED_STEPS), "1"]
        function = "count_" if name == "lock_pair" else "loop_"
        return instructions_in(function + kind, argv, env)

    def of_a_step(name, arguments, build):
        return (count(name, arguments, build, arguments[0])
                - count(name, arguments, build, "none")) / (2 * COUNTED_STEPS)

    # Nothing is timed here, so run two programs at the same time.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = {title: {b: pool.submit(of_a_step, name, arguments, b)
                          for b in BUILDS}
                  for title, (name, arguments, _) in OFF_LOOPS.items()}
    results["instructions"] = {
        title: {b: [count.result()] for b, count in of.items()}
        for title, of in counts.items()}
    return results


def is_same_code():
    """Returns whether a program has the same instructions if it is built with
    -fmprof=block,mutex,threadcreate and with -fmprof=trace."""
    def code(build):
        return [subprocess.run(
            ["llvm-objdump-19", "--disassemble", "--no-show-raw-insn",
             "--no-print-imm-hex", program("%s-%s" % (name, build))],
            stdout=subprocess.PIPE, check=True).stdout.split(b"\n", 2)[2]
            for name in ("lock_pair", "trace_loop")]
    return code("sites") == code("trace")


# --- write: two million events, written at the end ---------------------------


WRITTEN_EVENTS = 200000 if QUICK else 2000000
WRITE_ROUNDS = 2 if QUICK else 5


def load(build, amount, path, options):
    """Runs trace_load. Returns the peak memory before and after the trace is written,
    and the milliseconds of writing and of exit."""
    r = run([program("trace_load-" + build), *amount, path],
            mprof("profile=0:report=0" + options))
    return {"before_kib": values(r.text, "hwm_kib")[0],
            "after_kib": values(r.text, "hwm_kib")[1],
            "write_ms": median_of(r.text, "write_ms"),
            "exit_ms": (r.ended_ns - median_of(r.text, "end")) / 1e6}


def write():
    """Measures how long it takes to write a trace: by mprof_trace_stop, and at exit.
    Only after mprof_trace_stop can the program still print its peak memory."""
    log("trace: write")
    amount = ["events", str(WRITTEN_EVENTS)]
    path = os.path.join(SCRATCH, "out.trace")
    sizes = []

    def stop():
        result = load("trace", amount, path, "")
        sizes.append(os.path.getsize(path))
        return result

    results = by_line(take_turns({
        "no trace": lambda: load("trace", amount, "-", ""),
        "stop": stop,
        "exit": lambda: load("trace", amount, "-", ":trace=1"),
    }, WRITE_ROUNDS))
    stop()
    results["bytes"] = sizes
    results["events"] = events_in(path)
    empty_scratch()
    return results


def events_in(path):
    found = re.search(r"(\d+) events", tool("mprof-trace-check", path))
    return int(found.group(1))


# --- recorder: a flight recorder that runs for a minute ----------------------

RECORDER_SECONDS = 10 if QUICK else 60
RECORDER_MB = 16


def recorder():
    log("trace: flight recorder")
    path = os.path.join(SCRATCH, "snapshot.trace")
    result = {
        "seconds": RECORDER_SECONDS, "mb": RECORDER_MB,
        "without": load("trace", ["seconds", "2"], "-", ""),
        "tables": load("trace", ["seconds", "2"], "-",
                       ":block_rate=1:block_kinds=all"),
        "with": load("trace", ["seconds", str(RECORDER_SECONDS)], path,
                     ":trace_last_mb=%d" % RECORDER_MB),
        "bytes": os.path.getsize(path),
        "events": events_in(path),
    }
    readers = {GO_NEW: (os.environ.get("GO", "go"), "-d=parsed"),
               GO_OLD: (os.environ.get("GO_1_19", ""), "-d")}
    result["readers"] = {name: opens(*how, path)
                         for name, how in readers.items()}
    empty_scratch()
    return result


def opens(go, flag, path):
    """Returns whether go tool trace can read the trace, or None if this go does not
    exist."""
    try:
        done = subprocess.run([go, "tool", "trace", flag, path], cwd=DIR,
                              stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.returncode == 0


# --- the list of all parts ---------------------------------------------------

# {name on the benchmark page: Debian package}. The page shows the package's version.
PACKAGES = {
    "go": "golang-1.19-go",
    "compiler-rt": "libclang-rt-19-dev",
    "lttng-ust": "liblttng-ust1",
    "lttng-tools": "lttng-tools",
    "uftrace": "uftrace",
    "valgrind": "valgrind",
}
PARTS = (event, others, off, write, recorder)
