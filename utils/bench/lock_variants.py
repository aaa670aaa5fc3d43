# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The variants of the lock benchmarks: plain, MProf, Go's profilers, other tools."""

import collections
import contextlib
import os
import subprocess

import lttng
from running import SCRATCH, has_valgrind, is_built, mprof

# A way to run a loop.
#   program: end of the program's file name. prefix: command line of the tool that
#   runs the program. block, mutex: rate of the block profile, fraction of the mutex
#   profile; 0: the profile is off. cost: rough time of a lock and unlock, relative
#   to plain. is_slow: the variant takes part only in the first rounds. recording: a
#   context manager around each run; it yields None, or the reason why the run is
#   impossible.
Variant = collections.namedtuple(
    "Variant", "name program prefix env block mutex cost is_slow recording")

PROFILES = (("off", 0, 0), ("block_rate=1", 1, 0), ("mutex_fraction=1", 0, 1),
            ("both", 1, 1))
PLAIN, OFF, BLOCK, BOTH = (
    "plain", "MProf, off", "MProf, block_rate=1", "MProf, both")


def variant(name, program="plain", prefix=(), env=None, block=0, mutex=0,
            cost=1, is_slow=False, recording=contextlib.nullcontext):
    return Variant(name, program, list(prefix), env or {}, block, mutex, cost,
                   is_slow, recording)


def variants(why_no_session):
    """Returns the variants that can run here, and {name: reason} of the others."""
    here, absent = [variant(PLAIN)], {}

    def offer(why_not, name, **how):
        if why_not:
            absent[name] = why_not
        else:
            here.append(variant(name, **how))

    for name, block, mutex in PROFILES:
        offer(None, "MProf, " + name, program="mprof", block=block, mutex=mutex,
              env=mprof("block_rate=%d:mutex_fraction=%d:profile=0:report=0"
                        % (block, mutex)))
    for name, block, mutex in PROFILES:
        offer(None if is_built("lock-go") else "no go command", "Go, " + name,
              program="go", block=block, mutex=mutex)
    offer(lttng.why_no_library(), "LTTng, no session", env=lttng.preload(),
          cost=20)
    offer(lttng.why_no_library() or why_no_session, "LTTng, session",
          env=lttng.preload(), cost=100, is_slow=True,
          recording=lttng.session)
    for name, argv in (
            ("perf lock record", ["perf", "lock", "record"]),
            ("perf record, futex calls",
             ["perf", "record", "-e", "syscalls:sys_enter_futex", "-g"])):
        argv = [*argv, "-o", os.path.join(SCRATCH, "perf.data")]
        offer(why_not([*argv, "true"]), name, prefix=argv, is_slow=True)
    drd = ["valgrind", "--tool=drd", "--exclusive-threshold=1000"]
    offer(None if has_valgrind() else "valgrind is not installed",
          "valgrind, drd", prefix=drd, cost=100, is_slow=True)
    return here, absent


def why_not(argv):
    """Returns None if the command succeeds, else the last line of its output."""
    try:
        done = subprocess.run(
            argv, cwd=SCRATCH, stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        return str(error)
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return None if done.returncode == 0 else (lines or ["no reason"])[-1].strip()
