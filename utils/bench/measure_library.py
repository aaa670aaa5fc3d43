# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of memory that libraries allocate for the program."""

from running import (
    QUICK, ROUNDS, has_valgrind, instructions_of, log, median_of, mprof,
    program, run, take_turns)

SITES = "MProf, sites alone"


def strings():
    """Measures std::string. Its blocks are allocated by uninstrumented code of the C++
    library, so MProf counts them by its interceptors."""
    log("strings")
    arguments = ["200" if QUICK else "3000", "5"]
    variants = {
        "plain": ("strings-plain", {}),
        "plain, frame pointers": ("strings-frames", {}),
        SITES: ("strings-sites", mprof()),
        "MProf, heap=0": ("strings-mprof", mprof("heap=0")),
        "MProf, 512 KiB": ("strings-mprof", mprof()),
        "MProf, exact": ("strings-mprof", mprof("heap_rate=1")),
    }

    def job(name, env):
        argv = [program(name), *arguments]
        return lambda: median_of(run(argv, env).text, "ns")

    results = {"ns": take_turns(
        {v: job(*of) for v, of in variants.items()}, ROUNDS)}
    if has_valgrind():
        argv = ["100" if QUICK else "1000", "1"]
        results["instructions"] = {
            v: [instructions_of([program(name), *argv],
                                {**env, **mprof("symbolize=0")})]
            for v, (name, env) in variants.items()
            if v in ("plain", "plain, frame pointers", "MProf, 512 KiB")}
    return results


def gc():
    """Measures the demonstration program that uses Boehm's garbage collector."""
    log("gc")
    arguments = ["300" if QUICK else "6000"]

    def job(name, env):
        argv = [program(name), *arguments]

        def once():
            r = run(argv, env)
            return {"seconds": r.seconds, "max_rss_kib": r.max_rss_kib}
        return once

    turns = take_turns({
        "plain": job("symbolic-plain", {}),
        "plain, frame pointers": job("symbolic-frames", {}),
        "MProf, 512 KiB": job("symbolic-mprof", mprof("symbolize=0")),
        "MProf, exact": job("symbolic-mprof", mprof("heap_rate=1:symbolize=0")),
    }, 2 if QUICK else 9)
    return {what: {v: [r[what] for r in turns[v]] for v in turns}
            for what in ("seconds", "max_rss_kib")}
