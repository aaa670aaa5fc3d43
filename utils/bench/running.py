# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs that run.sh has built, in turns.

All variants of a measurement take turns: each round runs each variant once. The
first variant of a round changes from round to round. Ratios are computed within a
round, so that they compare runs of nearly the same time. A result is a list with one
value for each round. BENCH_QUICK=1 makes the rounds few and short, to test the
scripts.
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
DIR = os.path.join(TOP, "build/bench")  # directory of the programs
SCRATCH = os.path.join(DIR, "scratch")  # their working directory
# Environment variables that change the programs' behaviour. The programs see only the
# values that their variant sets. Without HOME, MProf keeps no names of functions for the
# next run.
CLEARED = ("MPROF_OPTIONS", "MALLOC_CONF", "TCMALLOC_SAMPLE_PARAMETER",
           "HEAPPROFILE", "MEMPROF_OPTIONS", "GODEBUG", "GOGC", "LD_PRELOAD",
           "HOME", "XDG_CACHE_HOME")

# The result of a run: output, seconds of user and system time, peak memory, and the
# time of the end in nanoseconds of CLOCK_MONOTONIC.
Run = collections.namedtuple("Run", "text seconds max_rss_kib ended_ns")
# A variant: one way to run a program. argv lacks the arguments that all variants of a
# measurement have in common.
Variant = collections.namedtuple("Variant", "name argv env")


def results_path(section):
    """Returns the file with the results of a section, for example of the heap. Quick runs
    have files of their own, so that they keep those of long runs."""
    return os.path.join(DIR, section + ("-quick" if QUICK else "") + ".json")


def log(text):
    print("bench: " + text, flush=True)


# A program that runs: its process, and the file that receives its output.
Started = collections.namedtuple("Started", "process out")


def spawn(argv, env, cpu, stdin, stdout):
    """Starts a program in SCRATCH, whose errors go to its output. cpu: the only processor
    that it may use, or None. Returns the process."""
    everything = {k: v for k, v in os.environ.items() if k not in CLEARED}
    everything.update(env)
    # The child inherits the processor. Code in the child would count as its time.
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        return subprocess.Popen(argv, stdin=stdin, stdout=stdout,
                                stderr=subprocess.STDOUT, cwd=SCRATCH, env=everything)
    finally:
        os.sched_setaffinity(0, before)


def start(argv, env, cpu=None):
    """Starts a program without input, as spawn does."""
    out = tempfile.TemporaryFile()  # closed by wait
    return Started(spawn(argv, env, cpu, subprocess.DEVNULL, out), out)


def wait(started):
    """Waits for the end of a program. Exits with an error if the program fails."""
    process, out = started
    _, status, usage = os.wait4(process.pid, 0)
    ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    process.returncode = os.waitstatus_to_exitcode(status)
    with out:
        out.seek(0)
        text = out.read().decode(errors="replace")
    if process.returncode != 0:
        sys.stderr.write(text)
        sys.exit("bench: %s: exit code %d" % (" ".join(process.args),
                                              process.returncode))
    seconds = usage.ru_utime + usage.ru_stime
    return Run(text, seconds, usage.ru_maxrss, ended_ns)


def run(argv, env):
    """Runs a program in SCRATCH and waits for its end. Exits with an error if the
    program fails."""
    return wait(start(argv, env))


def values(text, name):
    """Returns the numbers of all lines "NAME NUMBER" for this name."""
    return [float(v) for v in
            re.findall(r"^%s:?\s+([-\d.]+)" % re.escape(name), text, re.M)]


def median_of(text, name):
    found = values(text, name)
    if not found:
        sys.exit("bench: no line '%s NUMBER' in: %s" % (name, text))
    return statistics.median(found)


def take_turns(jobs, rounds, fewer=None):
    """Runs each job once in each round. jobs: {name: function without arguments}. fewer:
    {name: number of rounds} for jobs that take part only in the first rounds. Returns
    {name: [result of each round]}."""
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
    """Regroups turns, which is {name: [{line: value} of each round]}, and returns {line:
    {name: [value of each round]}}. A line is the name of a line of the output."""
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
    """Returns how many instructions the program runs in one function and its callees."""
    flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null",
             "--toggle-collect=" + function]
    return valgrind(argv, env or {}, flags, r"Collected : (\d+)")


def instructions_of(argv, env):
    """Returns how many instructions a whole program runs, without its child processes.
    Uses cachegrind without cache simulation, because it counts the same instructions as
    callgrind in half the time."""
    flags = ["--tool=cachegrind", "--cache-sim=no",
             "--cachegrind-out-file=/dev/null"]
    return valgrind(argv, env, flags, r"I\s+refs:\s+([\d,]+)")
