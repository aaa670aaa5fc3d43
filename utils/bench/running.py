# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs that run.sh has built, in turns.

All variants of a measurement take turns: each round runs each of them once, in
an order that rotates, so that ratios within a round compare runs of the same
moment. A result is a list with one value a round. BENCH_QUICK=1 runs few and
short rounds, to see that everything works.
"""

import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
ROUNDS = 2 if QUICK else 15
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
DIR = os.path.join(TOP, "build/bench")  # the programs
SCRATCH = os.path.join(DIR, "scratch")  # their working directory
# Variables that change the programs' behaviour. Only the variants set them.
CLEARED = ("MPROF_OPTIONS", "MALLOC_CONF", "TCMALLOC_SAMPLE_PARAMETER",
           "HEAPPROFILE", "MEMPROF_OPTIONS", "GODEBUG", "GOGC", "LD_PRELOAD")

# The result of a run of a program.
Run = collections.namedtuple("Run", "text seconds max_rss_kib ended_ns")
# One way to run a program. argv lacks the arguments that all ways share.
Variant = collections.namedtuple("Variant", "name argv env")


def log(text):
    print("bench: " + text, flush=True)


def run(argv, env):
    """Runs a program to its end in SCRATCH. Ends the benchmark if the program fails."""
    everything = {k: v for k, v in os.environ.items() if k not in CLEARED}
    everything.update(env)
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            cwd=SCRATCH, env=everything)
        _, status, usage = os.wait4(process.pid, 0)
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    if process.returncode != 0:
        sys.stderr.write(text)
        sys.exit("bench: %s: exit code %d" % (" ".join(argv), process.returncode))
    seconds = usage.ru_utime + usage.ru_stime
    return Run(text, seconds, usage.ru_maxrss, ended_ns)


def values(text, name):
    """Returns the numbers of the lines "NAME NUMBER"."""
    return [float(v) for v in
            re.findall(r"^%s:?\s+([-\d.]+)" % re.escape(name), text, re.M)]


def median_of(text, name):
    found = values(text, name)
    if not found:
        sys.exit("bench: no line '%s NUMBER' in: %s" % (name, text))
    return statistics.median(found)


def take_turns(jobs, rounds, fewer=None):
    """Runs the jobs in turns. jobs: {name: function without arguments}. fewer: {name:
    number of rounds} for jobs that take part only in the first rounds. Returns
    {name: [result a round]}."""
    results = {name: [] for name in jobs}
    order = list(jobs)
    for i in range(rounds):
        at = i % len(order)
        for name in order[at:] + order[:at]:
            if i < (fewer or {}).get(name, rounds):
                results[name].append(jobs[name]())
        empty_scratch()
    return results


def by_line(turns):
    """Turns take_turns' results, each {line: value}, into {line of the output:
    {name: [value a round]}}."""
    lines = sorted({line for runs in turns.values() for line in runs[0]})
    return {line: {name: [r[line] for r in runs]
                   for name, runs in turns.items() if line in runs[0]}
            for line in lines}


def empty_scratch():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)


def program(name):
    return os.path.join(DIR, name)


def is_built(name):
    return os.path.exists(program(name))


def mprof(options=""):
    return {"MPROF_OPTIONS": options}


# --- valgrind ----------------------------------------------------------------


def has_valgrind():
    return shutil.which("valgrind") is not None


def valgrind(argv, env, flags, pattern):
    text = run(["valgrind", *flags, *argv], env).text
    found = re.search(pattern, text)
    if not found:
        sys.exit("bench: valgrind says: " + text)
    return int(found.group(1).replace(",", ""))


def instructions_in(function, argv, env=None):
    """Returns the instructions of one function and its callees."""
    flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null",
             "--toggle-collect=" + function]
    return valgrind(argv, env or {}, flags, r"Collected : (\d+)")


def instructions_of(argv, env):
    """Returns the instructions of a whole program, without its children. cachegrind
    without its model of caches counts as callgrind does, in half the time."""
    flags = ["--tool=cachegrind", "--cache-sim=no",
             "--cachegrind-out-file=/dev/null"]
    return valgrind(argv, env, flags, r"I\s+refs:\s+([\d,]+)")
