# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the block and mutex profiles cost."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

from bench import (
    DIR, QUICK, ROUNDS, SCRATCH, build_both, build_go, by_variant, draw,
    empty_scratch, environment, log, median, mprof, number, program, run, turns, write_table)

REPEATS = 3  # of the loop in each process, after one repeat that is not counted
FEW = min(ROUNDS, 3)  # rounds of slow tools
MOST = ROUNDS if QUICK else 30  # rounds of contended loops, whose results vary most
RATES = {"off": (0, 0), "block_rate=1": (1, 0), "mutex_fraction=1": (0, 1), "both": (1, 1)}
LTTNG_HOME = os.path.join(DIR, "lttng")  # the daemon's files, and the traces
LTTNG = {"LD_PRELOAD": "liblttng-ust-pthread-wrapper.so.1", "LTTNG_HOME": LTTNG_HOME}


@contextlib.contextmanager
def lttng():
    """Records the mutexes of programs with the environment LTTNG inside the with block.
    Yields False if LTTng is not installed."""
    if not shutil.which("lttng-sessiond"):
        log("lttng-tools is not installed")
        yield False
        return
    shutil.rmtree(LTTNG_HOME, ignore_errors=True)
    os.makedirs(LTTNG_HOME)
    how = {"env": environment({"LTTNG_HOME": LTTNG_HOME}), "stdin": subprocess.DEVNULL,
           "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": DIR}
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], **how)
    try:
        while subprocess.run(["lttng", "list"], **how).returncode != 0:
            if daemon.poll() is not None:
                sys.exit("bench: lttng-sessiond has ended")
            time.sleep(0.1)
        for command in (
                ["create", "bench", "--output=" + LTTNG_HOME + "/traces"],
                ["enable-channel", "-u", "-s", "bench", "--tracefile-size=32M",
                 "--tracefile-count=2", "mutexes"],
                ["enable-event", "-u", "-s", "bench", "-c", "mutexes",
                 "lttng_ust_pthread:*"],
                ["start", "bench"]):
            subprocess.run(["lttng", *command], check=True, **how)
        yield True
        subprocess.run(["lttng", "destroy", "bench"], **how)
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(LTTNG_HOME, ignore_errors=True)


def slow_tools():
    """Returns {name: (words before the program, cost of a pair relative to plain)}."""
    data = os.path.join(SCRATCH, "perf.data")
    tools = {
        "perf lock record": (["perf", "lock", "record", "-o", data], 1),
        "perf record, futex calls": (
            ["perf", "record", "-e", "syscalls:sys_enter_futex", "-g", "-o", data], 1),
        "valgrind, drd": (["valgrind", "--tool=drd", "--exclusive-threshold=1000"], 100),
    }
    empty_scratch()
    for name, (words, _) in list(tools.items()):
        try:
            done = subprocess.run([*words, "true"], cwd=SCRATCH, check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            works = done.returncode == 0
        except OSError:
            works = False
        if not works:
            log(name + " does not work here")
            del tools[name]
    return tools


def measure(arguments, size, unit, go=None, tools=(), with_lttng=False,
            before=(), rounds=ROUNDS, has_waits=False):
    """Measures a loop. arguments, size: of the program lock; size is divided by the cost
    of the variant. unit: the line of the output that has the result. go: the Go program
    and its arguments. Returns {variant: values}."""
    jobs, fewer = {}, {}

    def add(variant, argv, env=None, cost=1, checks=None):
        arguments_of = [*argv, max(1, int(size / cost)), REPEATS]

        def once(arguments_of=arguments_of):
            text = run([*before, *arguments_of, *(checks or ())], env).text
            if variant.startswith("MProf"):
                check_profiles(variant, text, has_waits)
            return number(text, unit)
        jobs[variant] = once

    add("plain", [program("lock-plain"), *arguments])
    for rates, (block, mutex) in RATES.items():
        add("MProf, " + rates, [program("lock-mprof"), *arguments],
            mprof("block_rate=%d:mutex_fraction=%d:profile=0:report=0" % (block, mutex)))
    for tool, (words, cost) in dict(tools).items():
        add(tool, [*words, program("lock-plain"), *arguments], cost=cost)
        fewer[tool] = FEW
    if go:
        for rates, of in RATES.items():
            add("Go, " + rates, go, checks=of)
    with lttng() if with_lttng else contextlib.nullcontext(False) as records:
        if records:
            add("LTTng, session", [program("lock-plain"), *arguments], LTTNG, cost=100)
            fewer["LTTng, session"] = FEW
        return turns(jobs, rounds, fewer)


def check_profiles(variant, text, has_waits):
    """Ends the benchmark if a profile has events without a wait, or no events with one."""
    for profile, on in (("block", ("block_rate=1", "both")),
                        ("mutex", ("mutex_fraction=1", "both"))):
        expects = has_waits and variant.endswith(on)
        events = number(text, profile)
        if events if not expects else profile == "block" and events == 0:
            sys.exit("bench: %s: %d events in the %s profile" % (variant, events, profile))


def base_of(variant):
    if variant.startswith("Go"):
        return "Go, off"
    return "plain"


def pair():
    """An uncontended lock and unlock."""
    build_both("lock.cpp")
    go = list(build_go("lock").values())
    tools = slow_tools()
    length = 2e6 if QUICK else 15e6
    loops = {}
    for title, kind, sleepers, ns in (
            ("mutex, one thread", "mutex", 0, 4),
            ("mutex", "mutex", 1, 15),
            ("rwlock, read", "rdlock", 1, 17),
            ("rwlock, write", "wrlock", 1, 22),
            ("std::mutex", "std", 1, 15)):
        log("locks: " + title)
        is_first = title == "mutex"
        loops[title] = measure(
            ["pair", kind, sleepers], length / ns, "ns",
            go=[*go, "pair", kind] if go and sleepers and kind != "std" else None,
            tools=tools if is_first else (), with_lttng=is_first)
    write_table("lock-pair", ("nanoseconds per pair (ratio)", *loops),
                by_variant(loops, base_of))
    draw("benchmarks-locks.svg", "Nanoseconds of a lock and an unlock of a mutex",
         {v: median(values) for v, values in loops["mutex"].items()}, is_log=True)


def contended():
    """A lock that several threads want."""
    build_both("lock.cpp")
    go = list(build_go("lock").values())
    tools = slow_tools()
    length = 10 if QUICK else 40  # milliseconds
    loops = {}
    for title, kind, threads in (
            ("mutex, 2 threads", "mutex", 2),
            ("mutex, 4 threads", "mutex", 4),
            ("std::mutex, 2 threads", "std", 2),
            ("rwlock, 2 readers, 1 writer", "rdlock", 3)):
        log("locks: " + title)
        is_first = title == "mutex, 2 threads"
        loops[title] = {v: [n / 1000 for n in values] for v, values in measure(
            ["handoff", kind, threads], length, "per_second",
            go=[*go, "handoff", kind, threads] if go and kind != "std" else None,
            tools={t: (words, 1) for t, (words, _) in tools.items()} if is_first else (),
            rounds=MOST, has_waits=True).items()}
    write_table("lock-contended", (
        "thousand critical sections per second (ratio)", *loops),
        by_variant(loops, base_of))


PARTS = {"pair": pair, "contended": contended}
