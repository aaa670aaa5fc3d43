# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the stacks of all threads cost, and MProf in programs with many threads."""

import contextlib
import math
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

from bench import (
    QUICK, SCRATCH, build_both, build_go, compared, draw, environment, log,
    median, mprof, number, numbers, program, run, start, turns, wait, write_table)

SIZES = (10, 1000) if QUICK else (10, 1000, 10000)
PROFILES = 3 if QUICK else 8  # in each process, after one that is not counted
TURNS = 2 if QUICK else 3


class Program:
    """A running process of threads.c or threads.go, which answers commands."""

    def __init__(self, argv, env, *arguments):
        self.argv = [*argv, *map(str, arguments)]
        self.process = subprocess.Popen(
            self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=SCRATCH, env=environment(env))
        self.answer()

    def answer(self):
        """Returns {NAME: NUMBER} of the lines that the program prints before "ok"."""
        found = {}
        for line in self.process.stdout:
            if line == "ok\n":
                return found
            name, value = line.split()
            found[name] = float(value)
        sys.exit("bench: %s: exit code %d" % (" ".join(self.argv), self.process.wait()))

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()


@contextlib.contextmanager
def running(argv, env, *arguments):
    it = Program(argv, env, *arguments)
    try:
        yield it
    finally:
        it.process.kill()
        it.process.wait()


def own_profiles(argv, env, size):
    """Returns a job: profiles that a program with so many waiting threads takes itself."""
    def once():
        with running(argv, env, size) as it:
            it.do("profile"), it.do("write")
            taken = [it.do("profile") for _ in range(PROFILES)]
            written = [it.do("write") for _ in range(PROFILES)]
            rests = [it.do("rest %d" % math.ceil(p["ms"])) for p in taken]
            return {"records": median([p["ms"] for p in taken]),
                    "file": median([p["ms"] for p in written]),
                    "gap": max(p["gap_us"] for p in taken),
                    "rest": max(p["gap_us"] for p in rests), **it.do("end")}
    return once


def debugger(words, size):
    """Returns a job: the stacks of all threads, taken by a debugger."""
    def once():
        with running([program("threads-plain")], {}, size) as it:
            it.do("open")
            begin = time.monotonic()
            try:
                subprocess.run([*words, str(it.process.pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               timeout=60, check=False)
            except subprocess.TimeoutExpired:
                return {}
            seconds = time.monotonic() - begin
            return {"records": seconds * 1e3, "gap": it.do("close")["gap_us"],
                    **it.do("end")}
    return once


def profile():
    """The time of a profile of waiting threads, and how long it stops another thread."""
    build_both("threads.c")
    options = "profile=0:report=0:threads=1"
    ours = [program("threads-mprof")]
    results = {}
    for size in SIZES:
        log("threads: %d that wait" % size)
        jobs = {"MProf": own_profiles(ours, mprof(options), size),
                "MProf, threads_stop=1": own_profiles(
                    ours, mprof(options + ":threads_stop=1"), size)}
        for go, path in build_go("threads").items():
            jobs[go] = own_profiles([path], {}, size)
        fewer = {}
        for name, words in (
                ("gdb, thread apply all bt",
                 ["gdb", "-nx", "-batch", "-ex", "thread apply all bt", "-p"]),
                ("eu-stack -p", ["eu-stack", "-p"])):
            if shutil.which(words[0]):
                jobs[name] = debugger(words, size)
                fewer[name] = 1
        results[size] = turns(jobs, TURNS, fewer)

    def cell(variant, size, what, of):
        found = [r[what] for r in results[size][variant] if what in r]
        return of(found) if found else ""

    variants = list(results[SIZES[0]])
    rows = [(v, *(cell(v, size, what, median) for size in SIZES
                  for what in ("records", "file")),
             *(cell(v, size, what, max) for size in SIZES[-1:]
               for what in ("gap", "rest", "disturbed"))) for v in variants]
    write_table("threads-profile", (
        "milliseconds", *("%d: %s" % (size, what) for size in SIZES
                          for what in ("records", "file")),
        "longest delay, us", "without a profile, us", "disturbed"), rows)
    draw("benchmarks-threads.svg", "Milliseconds for the stacks of 1,000 waiting threads",
         {v: cell(v, 1000, "records", median) for v in variants}, is_log=True)


# --- crowd: the pace of thousands of threads, and their creation -------------

CROWDS = (300, 1500) if QUICK else (300, 1500, 3000, 10000)
SECONDS = 2 if QUICK else 3
# With a client. A trace of one second takes up to 7 s when 10,000 threads compute.
CLIENT_SECONDS = 6 if QUICK else 12
# {name: (options, path that a client requests each second)}
FEATURES = {
    "plain": (None, None),
    "MProf, default": ("", None),
    "heap_rate=1": ("heap_rate=1", None),
    "block_rate=1": ("block_rate=1", None),
    "mutex_fraction=1": ("mutex_fraction=1", None),
    "trace=1": ("trace=1", None),
    "a trace of one second, on request": ("", "trace?seconds=1"),
    "stacks of all threads each second": ("", "threads"),
}


def crowd():
    """The work that thousands of threads do in a second, and the time to create one."""
    build_both("crowd.c")
    rounds, creation = {}, {}
    for size in CROWDS:
        log("threads: a crowd of %d" % size)
        results = turns({name: crowd_job(size, *of) for name, of in FEATURES.items()},
                        1 if QUICK else 3)
        for name, of in results.items():
            rounds.setdefault(size, {})[name] = [r[0] for r in of]
            creation.setdefault(size, {})[name] = [r[1] for r in of if r[1]]
    write_table("threads-crowd", (
        "", *("rounds a second, %s threads" % "{:,}".format(s) for s in CROWDS),
        *("us to create one of %s" % "{:,}".format(s) for s in CROWDS)),
        [(v, *(compared(rounds[s], v, "plain") for s in CROWDS),
          *(compared(creation[s], v, "plain") if creation[s][v] else "" for s in CROWDS))
         for v in FEATURES])


def crowd_job(size, options, path):
    """Returns a job: the rounds of a second, and the microseconds of a creation."""
    argv = [program("crowd-plain" if options is None else "crowd-mprof")]

    def once():
        where = os.path.join(SCRATCH, "socket")
        env = {} if options is None else mprof("log_path=/dev/null:quiet=1:%s%s" % (
            options, ":listen=unix:" + where if path else ""))
        pace = start([*argv, "pace", size, CLIENT_SECONDS if path else SECONDS], env)
        replies = []
        client = threading.Thread(target=ask, args=(where, path, replies))
        if path:
            client.start()
        values = numbers(wait(pace).text, "rounds")
        us = None
        if path:
            client.join()
            if not replies:
                sys.exit("bench: no reply to %s with %d threads" % (path, size))
        else:
            times = max(3, 6000 // size)
            us = number(run([*argv, "create", size, times], env).text, "us")
        return sum(values) / len(values), us
    return once


def ask(where, path, replies):
    """Requests path once a second, until the program has ended."""
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
        if reply.startswith(b"HTTP/1.1 200"):
            replies.append(reply)


PARTS = {"profile": profile, "crowd": crowd}
