# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what the threads profile (the stacks of all threads) and labels cost."""

import collections
import contextlib
import math
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

from running import (
    CLEARED, QUICK, ROUNDS, SCRATCH, by_line, empty_scratch, is_built, log,
    median_of, mprof, program, run, start, take_turns, values, wait)

SIZES = (10, 1000) if QUICK else (10, 1000, 10000)
PROFILES = 3 if QUICK else 8  # in each process, after one that is not counted
TURNS = 2 if QUICK else 3
TOOL_SECONDS = 10 if QUICK else 60  # time limit of a debugger
NOTED = "profile=0:report=0:threads=1"
# More rounds for labels, because the cost that report_threads.py allows is small.
LABEL_ROUNDS = ROUNDS if QUICK else 30

# A way to take a threads profile. argv, env: command line and environment of the
# program. takes: whether the program takes its own profile. tool: otherwise, the
# debugger's command line, to which the process id is added.
Variant = collections.namedtuple("Variant", "name argv env takes tool")
Variant.__new__.__defaults__ = ({}, True, None)


class Program:
    """A running process of threads.c or threads.go, which answers commands."""

    def __init__(self, variant, arguments):
        everything = {k: v for k, v in os.environ.items() if k not in CLEARED}
        everything.update(variant.env)
        self.argv = [*variant.argv, *map(str, arguments)]
        self.process = subprocess.Popen(
            self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=SCRATCH, env=everything)
        self.answer()

    def answer(self):
        """Returns {NAME: NUMBER} of the lines that the program prints before "ok"."""
        found = {}
        for line in self.process.stdout:
            if line == "ok\n":
                return found
            name, value = line.split()
            found[name] = float(value)
        sys.exit("bench: %s: exit code %d"
                 % (" ".join(self.argv), self.process.wait()))

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        found = self.do("end")
        self.process.stdin.close()
        self.process.wait()
        return found


@contextlib.contextmanager
def running(variant, *arguments):
    it = Program(variant, arguments)
    try:
        yield it
    finally:
        it.process.kill()
        it.process.wait()


# --- the variants ----------------------------------------------------------

MPROF, STOPPED = "MProf", "MProf, threads_stop=1"
GDB, EU_STACK = "gdb, thread apply all bt", "eu-stack -p"


def variants():
    """Returns the variants that can run here, and {name: reason} of the others."""
    here = [Variant(MPROF, [program("threads-mprof")], mprof(NOTED)),
            Variant(STOPPED, [program("threads-mprof")],
                    mprof(NOTED + ":threads_stop=1"))]
    absent = {}
    for name in go_programs():
        here.append(Variant(go_version(name), [program(name)]))
    if not go_programs():
        absent["Go"] = "no go command"
    plain = [program("threads-plain")]
    for name, command in (
            (GDB, ["gdb", "-nx", "-batch", "-ex", "thread apply all bt", "-p"]),
            (EU_STACK, ["eu-stack", "-p"])):
        if shutil.which(command[0]):
            here.append(Variant(name, plain, takes=False, tool=command))
        else:
            absent[name] = command[0] + " is not installed"
    return here, absent


def go_programs():
    return [name for name in ("threads-go1.19", "threads-go")
            if is_built(name)]


def go_version(name):
    text = subprocess.run(
        [os.environ.get("GO", "go"), "version", program(name)],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return "Go " + re.search(r": go(\d+\.\d+)", text).group(1)


# --- profile: how long a profile takes, and how long it stops a thread -------


def own_profiles(it):
    """Measures profiles that the program itself takes. The first profile is not
    counted. Also measures the watchers for the same time without a profile."""
    it.do("profile"), it.do("write")
    taken = [it.do("profile") for _ in range(PROFILES)]
    written = [it.do("write") for _ in range(PROFILES)]
    rests = [it.do("rest %d" % math.ceil(p["ms"])) for p in taken]
    return {
        "profile_ms": statistics.median(p["ms"] for p in taken),
        "longest_ms": max(p["ms"] for p in taken),
        "write_ms": statistics.median(p["ms"] for p in written),
        "gap_us": statistics.median(p["gap_us"] for p in taken),
        "longest_gap_us": max(p["gap_us"] for p in taken),
        "rest_gap_us": statistics.median(p["gap_us"] for p in rests),
        "longest_rest_gap_us": max(p["gap_us"] for p in rests),
        "threads": min(p["threads"] for p in taken),
    }


def tool_profile(variant, it):
    """Measures one profile by a debugger. Returns None if the debugger takes longer than
    TOOL_SECONDS."""
    it.do("open")
    path = os.path.join(SCRATCH, "stacks")
    begin = time.monotonic()
    with open(path, "wb") as out:
        tool = subprocess.Popen(
            [*variant.tool, str(it.process.pid)], stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, cwd=SCRATCH)
        try:
            tool.wait(TOOL_SECONDS)
        except subprocess.TimeoutExpired:
            tool.kill()
            tool.wait()
            return None
    seconds = time.monotonic() - begin
    gap_us = it.do("close")["gap_us"]
    with open(path, encoding="utf-8", errors="replace") as f:
        heads = re.findall(r"^(?:Thread \d+ \(|TID \d+:)", f.read(), re.M)
    return {"profile_ms": seconds * 1e3, "longest_ms": seconds * 1e3,
            "gap_us": gap_us, "longest_gap_us": gap_us, "threads": len(heads)}


def one_turn(variant, size, watcher):
    with running(variant, size, 0, watcher) as it:
        if variant.takes:
            found = own_profiles(it)
        else:
            found = tool_profile(variant, it)
        if found is None:
            return None
        found.update(it.end())
    if found["threads"] < size:
        sys.exit("bench: %s: %d stacks of %d threads" % (
            variant.name, found["threads"], size))
    return found


def profile():
    """Returns {threads: {watcher: {variant: [result of each turn]}}}. threads is the number
    of waiting threads."""
    here, absent = variants()
    results = {"absent": absent, "late": {}, "seconds": TOOL_SECONDS}
    for size in SIZES:
        results[str(size)] = {}
        for watcher in ("run", "wake"):
            log("threads: %d that wait, watched by one that %ss"
                % (size, watcher))
            results[str(size)][watcher] = turns_of(
                here, size, watcher, results["late"])
    return results


def turns_of(here, size, watcher, late):
    """Returns {variant: [result of each turn]}. A debugger gets only one turn and one
    kind of watcher, because it stops watchers of all kinds in the same way. If the
    debugger takes too long, late gets the number of threads instead."""
    found = collections.defaultdict(list)
    for turn in range(TURNS):
        for variant in here:
            if not variant.takes and (turn > 0 or watcher == "wake"):
                continue
            result = one_turn(variant, size, watcher)
            if result is None:
                late.setdefault(variant.name, size)
            else:
                found[variant.name].append(result)
        empty_scratch()
    return found


# --- computing: the same while some threads compute --------------------------

COMPUTING = ((0, 4), (1000, 4), (1000, 100))


def computing():
    here = [v for v in variants()[0] if v.takes]
    results = {}
    for waiting, busy in COMPUTING[:2] if QUICK else COMPUTING:
        log("threads: %d that wait, %d that compute" % (waiting, busy))
        jobs = {v.name: computing_job(v, waiting, busy) for v in here}
        results["%d waiting, %d computing" % (waiting, busy)] = take_turns(
            jobs, TURNS)
    return results


def computing_job(variant, waiting, busy):
    def once():
        with running(variant, waiting, busy, "run") as it:
            it.do("profile")
            taken = [it.do("profile")["ms"] for _ in range(3)]
            it.end()
        return statistics.median(taken)
    return once


# --- notes: the cost of recording where a thread waits -----------------------

NOTES = (("plain", "plain", {}),
         ("MProf, threads=0", "mprof", mprof("profile=0:report=0")),
         ("MProf, threads=1", "mprof", mprof(NOTED)))


def notes():
    log("threads: notes of waits")
    steps = 20000 if QUICK else 300000
    cpu = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    loops = {
        "poll of a ready descriptor": ([], "wait_call", [steps, 3]),
        "condition variable, two threads on one processor":
            (cpu, "lock_cond", [steps // 30, 3]),
    }

    def job(prefix, name, arguments, build, env):
        argv = [*prefix, program("%s-%s" % (name, build)),
                *map(str, arguments)]
        return lambda: {"ns": median_of(run(argv, env).text, "ns")}

    return {loop: by_line(take_turns(
        {variant: job(*how, build, env) for variant, build, env in NOTES},
        ROUNDS))["ns"] for loop, how in loops.items()}


# --- labels: what labels cost in the heap profile ----------------------------


def labels():
    if not is_built("pair-label"):
        log("threads: mprof/mprof.h has no labels, so there is nothing to "
            "measure")
        return {}
    log("threads: malloc and free with a label")
    repeat_ns = 2e6 if QUICK else 20e6
    steps = str(int(repeat_ns / 15))
    builds = (("plain", "pair-plain"), ("MProf, no label", "pair-mprof"),
              ("MProf, a label", "pair-label"))

    def job(kind, name):
        argv = [program(name), kind, "1", steps, "3"]
        return lambda: median_of(run(argv, {}).text, "ns")

    return {kind: take_turns({variant: job(kind, name)
                              for variant, name in builds}, LABEL_ROUNDS)
            for kind in ("ring", "lifo")}


# --- crowd: the pace of thousands of threads, and their creation -------------

CROWDS = (300, 1500) if QUICK else (300, 1500, 3000, 10000)
CROWD_TURNS = 1 if QUICK else 3
CROWD_SECONDS = 2 if QUICK else 3
# With a client. A trace of one second takes up to 7 s when 10,000 threads compute.
CROWD_CLIENT_SECONDS = 6 if QUICK else 12
PLAIN = "plain"
# {name: (options, path that a client requests each second)}
CROWD_FEATURES = {
    "MProf, default": ("", None),
    "heap_rate=1": ("heap_rate=1", None),
    "block_rate=1": ("block_rate=1", None),
    "mutex_fraction=1": ("mutex_fraction=1", None),
    "trace=1": ("trace=1", None),
    "a trace of one second, on request": ("", "trace?seconds=1"),
    "stacks of all threads each second": ("", "threads"),
}


def crowd():
    """Returns {what: {threads: {feature: [figure of each turn]}}}. what: "rounds", made
    by all threads in a second, or "us", the microseconds of one thread, from its
    creation to its join."""
    found = {"rounds": {}, "us": {}}
    for size in CROWDS:
        log("threads: a crowd of %d" % size)
        jobs = {PLAIN: crowd_job(size, [program("crowd-plain")], {}, None)}
        for name, (options, path) in CROWD_FEATURES.items():
            jobs[name] = crowd_job(size, [program("crowd-mprof")], options, path)
        figures = by_line(take_turns(jobs, CROWD_TURNS))
        for what, of in figures.items():
            found[what][str(size)] = of
    return found


def crowd_job(size, argv, options, path):
    """Measures the pace, and the creation if nobody requests anything."""
    def once():
        where = os.path.join(SCRATCH, "socket")
        listens = ":listen=unix:" + where if path else ""
        env = mprof("log_path=/dev/null:quiet=1:%s%s" % (options, listens)) \
            if options is not None else {}
        seconds = CROWD_CLIENT_SECONDS if path else CROWD_SECONDS
        pace = start([*argv, "pace", str(size), str(seconds)], env)
        client = threading.Thread(target=ask, args=(pace, where, path))
        if path:
            client.start()
        text = wait(pace).text
        if path:
            client.join()
            if not client.replies:
                sys.exit("bench: no reply to %s with %d threads" % (path, size))
        figures = {"rounds": statistics.mean(values(text, "rounds"))}
        if not path:
            times = max(3, 6000 // size)
            text = run([*argv, "create", str(size), str(times)], env).text
            figures["us"] = median_of(text, "us")
        return figures
    return once


def ask(pace, where, path):
    """Requests path once a second, until the program has ended."""
    threading.current_thread().replies = 0
    while True:
        time.sleep(1)
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(where)
                s.sendall(b"GET /debug/pprof/%s HTTP/1.0\r\n"
                          b"Host: localhost\r\n\r\n" % path.encode())
                reply = b"".join(iter(lambda: s.recv(1 << 16), b""))
        except OSError:
            return
        threading.current_thread().replies += reply.startswith(b"HTTP/1.1 200")


# --- the list of all parts ---------------------------------------------------

# {name on the benchmark page: Debian package}. The page shows the package's version.
PACKAGES = {
    "gdb": "gdb",
    "elfutils": "elfutils",
    "Go 1.19": "golang-1.19-go",
}
PARTS = (profile, computing, crowd, notes, labels)
