# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures tracers that record no stacks, for comparison with the execution trace.

XRay and uftrace record the begin and the end of function calls. LTTng's library
records the use of mutexes.
"""

import os
import re
import shutil
import sys

import lttng
from running import (
    QUICK, SCRATCH, is_built, log, median_of, program, run, take_turns)

REPEATS = 3  # of the loop in each process, after one repeat that is not counted
TRACER_ROUNDS = 2 if QUICK else 7
CALLS = 20000 if QUICK else 300000  # function calls in a repeat
PAIRS = 10000 if QUICK else 100000

CALL_EVENTS = 2  # the begin of a function and its end
PAIR_EVENTS = 3  # a thread requests a mutex, acquires the mutex, and releases it
OFF = ", off"
XRAY, LTTNG = "XRay, flight data recorder", "LTTng, mutexes"
UFTRACE = {"uftrace, -pg": "pg", "uftrace, -finstrument-functions": "hooks"}
# The buffers have room for all events. The threshold 0 makes XRay record functions
# that take less than 5 us, which XRay omits by default.
XRAY_OPTIONS = "func_duration_threshold_us=0:buffer_size=4194304:" \
    "buffer_max=32:grace_period_ms=1"


def call_argv(build):
    return [program("trace_calls-" + build), str(CALLS), str(REPEATS)]


def ns_of(text):
    return median_of(text, "ns")


def size_of(directory):
    return sum(os.path.getsize(os.path.join(at, name))
               for at, _, names in os.walk(directory) for name in names)


def per_event(size, steps, events):
    return size / (steps * (REPEATS + 1) * events)


def calls(build):
    return lambda: {"ns": ns_of(run(call_argv(build), {}).text)}


def xray(notes):
    def once():
        before = set(os.listdir(SCRATCH))
        text = run([*call_argv("xray"), XRAY_OPTIONS], {}).text
        logs = set(os.listdir(SCRATCH)) - before
        if len(logs) != 1:
            sys.exit("bench: XRay has written %s: %s" % (logs, text))
        path = os.path.join(SCRATCH, logs.pop())
        size = os.path.getsize(path)
        os.unlink(path)
        if "Unable to determine CPU frequency" in text:
            notes[XRAY] = "XRay does not find the frequency of the processor " \
                "on this machine, and reads the time from the kernel's clock instead"
        return {"ns": ns_of(text), "bytes": per_event(size, CALLS, CALL_EVENTS)}
    return once


def uftrace(name, build, notes):
    def once():
        directory = os.path.join(SCRATCH, "uftrace." + build)
        text = run(["uftrace", "record", "--no-libcall", "--no-event",
                    "--data=" + directory, *call_argv(build)], {}).text
        size = size_of(directory)
        shutil.rmtree(directory)
        lost = sum(int(n) for n in re.findall(r"LOST (\d+) records", text))
        if lost:
            notes[name] = "it has lost %d records of a run" % lost
        return {"ns": ns_of(text), "bytes": per_event(size, CALLS, CALL_EVENTS)}
    return once


def pair_argv():
    return [program("lock_pair-plain"), "mutex", "1", str(PAIRS), str(REPEATS)]


def with_lttng(notes):
    def once():
        with lttng.session() as why:
            if why:
                sys.exit("bench: %s: %s" % (LTTNG, why))
            text = run(pair_argv(), lttng.preload()).text
            lost = lttng.discarded()
        if lost:
            notes[LTTNG] = "it has discarded %d events of a run" % lost
        return {"ns": ns_of(text)}
    return once


def others():
    """Returns {"runs": ..., "events": ..., "absent": ..., "notes": ...}.

    runs: {variant: [{"ns": of a step, "bytes": of an event}]}. events: {variant: number
    of events of a step}. absent: {variant: why it could not run}. notes: {variant: what
    the reader of its figures must know}."""
    log("trace: other tracers")
    jobs, events, absent, notes = {}, {}, {}, {}

    def offer(why_not, name, of_a_step, without, traced):
        if why_not:
            absent[name] = why_not
            return
        jobs[name + OFF] = without
        jobs[name] = traced
        events[name] = of_a_step

    offer(None if is_built("trace_calls-xray")
          else "libclang_rt.xray-fdr-x86_64.a is not installed",
          XRAY, CALL_EVENTS, calls("xray"), xray(notes))
    no_uftrace = None if shutil.which("uftrace") else "uftrace is not installed"
    for name, build in UFTRACE.items():
        offer(no_uftrace, name, CALL_EVENTS, calls("plain"),
              uftrace(name, build, notes))
    with lttng.daemon() as why_not:
        offer(why_not, LTTNG, PAIR_EVENTS,
              lambda: {"ns": ns_of(run(pair_argv(), {}).text)},
              with_lttng(notes))
        runs = take_turns(jobs, TRACER_ROUNDS)
    return {"runs": runs, "events": events, "absent": absent, "notes": notes}
