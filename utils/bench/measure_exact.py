# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the heap profile's exact mode (heap_rate=1), which counts every block."""

import glob
import os
import re
import sys

from running import (
    QUICK, ROUNDS, SCRATCH, log, median_of, mprof, program, run, take_turns)

EXACT = mprof("heap_rate=1:report=0:profile=0")

# (number of frames, whether the threads have one shared stack or a stack of their
# own, numbers of threads)
STACKS = ((6, "shared", (1, 2, 4, 16)), (6, "own", (1, 2, 4, 16)),
          (20, "shared", (1, 2)))


# --- exact: the cost of malloc and free in exact mode ------------------------


def exact():
    results = {}
    pairs = 600000 if QUICK else 16000000  # of malloc and free, in all threads
    for frames, whose, threads in STACKS:
        log("exact: %d frames, %s stacks" % (frames, whose))
        jobs = {}
        for n in threads:
            # The depth depends on the number of threads, because a single thread runs
            # in main, which has more callers than the start function of a thread.
            depth = frames - exact_frames(0, n, whose)
            got = exact_frames(depth, n, whose)
            if got != frames:
                sys.exit("bench: exact: %d frames, not %d" % (got, frames))
            arguments = [str(depth), str(n), str(pairs // n), "3", whose]
            for variant, name, env in (("plain", "exact-plain", {}),
                                       ("MProf, exact", "exact-mprof", EXACT)):
                jobs["%s/%d" % (variant, n)] = exact_job(name, arguments, env)
        turns = take_turns(jobs, ROUNDS)
        results["%d/%s" % (frames, whose)] = {
            what: {job: [r[what] for r in turns[job]] for job in turns}
            for what in ("ns", "wall_ns")}
    return results


def exact_job(name, arguments, env):
    argv = [program(name), *arguments]

    def once():
        text = run(argv, env).text
        return {what: median_of(text, what) for what in ("ns", "wall_ns")}
    return once


def exact_frames(depth, threads, whose):
    argv = [program("exact-mprof"), str(depth), str(threads), "1000", "1",
            whose]
    return int(median_of(run(argv, EXACT).text, "frames"))


# --- live: the cost of many live blocks --------------------------------------

LIVE_SIZES = (("16 to 128 bytes", "16", "128"), ("16 bytes", "16", "16"),
              ("16 to 1024 bytes", "16", "1024"))


def live():
    blocks = 100000 if QUICK else 10000000
    rounds = 2 if QUICK else 3
    results = {"blocks": blocks}
    for title, low, high in LIVE_SIZES:
        for order in ("inorder", "anyorder"):
            log("live: %d blocks of %s, %s" % (blocks, title, order))
            arguments = [str(blocks), low, high, order]
            turns = take_turns({
                "plain": live_job("live-plain", arguments, {}),
                "MProf, exact": live_job(
                    "live-mprof", arguments,
                    mprof("heap_rate=1:profile=0:symbolize=0:log_path=live."
                          "%p:max_memory_mb=8192")),
            }, rounds)
            results["%s/%s" % (title, order)] = {
                what: {v: [r[what] for r in turns[v] if what in r]
                       for v in turns}
                for what in ("rss_kib", "alloc_ns", "free_ns", "tables")}
    return results


def live_job(name, arguments, env):
    argv = [program(name), *arguments]

    def once():
        text = run(argv, env).text
        result = {what: median_of(text, what)
                  for what in ("rss_kib", "alloc_ns", "free_ns")}
        if env:
            result["tables"] = tables_bytes()
        return result
    return once


def tables_bytes():
    """Returns the bytes of the profiler's tables, as the report of the run says."""
    path, = glob.glob(os.path.join(SCRATCH, "live.*.txt"))
    with open(path, encoding="utf-8") as f:
        found = re.search(r"profiler's tables.*\(([\d,]+) bytes\)", f.read())
    os.unlink(path)
    if not found:
        sys.exit("bench: live: the report says nothing of the tables")
    return int(found.group(1).replace(",", ""))
