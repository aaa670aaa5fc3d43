# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of real programs, in instructions and in time over many layouts.

The layout of a program in memory, such as the order of its functions, changes its time
by some per cent. A single build of each variant would compare layouts, not variants.
So each round links each variant anew, with the program's functions in random order,
and runs it with an environment of random size, which moves the stack.
"""

import concurrent.futures
import os
import random
import shutil

import real_programs
from running import (
    QUICK, Variant, has_valgrind, instructions_of, log, mprof, run, take_turns)

PACKAGES = {"Duktape": "duktape-dev", "nlohmann JSON": "nlohmann-json3-dev",
            "lld": "lld-19"}
LAYOUTS = 2 if QUICK else 20
# MProf's default options. Names at exit are left out, because another process looks them
# up, and because the measured programs run for less than a second.
OPTIONS = "symbolize=0"
BINARIES = os.path.join(real_programs.REAL, "bin")


def build(program, variant, seed):
    """Links a program and returns it as a Variant that can run."""
    name = ("%s-%s-%d" % (program.name, variant.key, seed)).replace(" ", "_")
    to = os.path.join(BINARIES, name)
    real_programs.link(program, variant, seed, to)
    return Variant(variant.name, [to], mprof(OPTIONS) if variant.is_mprof else {})


def fresh_binaries():
    shutil.rmtree(BINARIES, ignore_errors=True)
    os.makedirs(BINARIES)


def instructions():
    """Returns {program: {variant: [instructions of the whole process]}}."""
    if not has_valgrind():
        return {}
    fresh_binaries()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def count(program, variant):
            here = build(program, variant, 0)
            return instructions_of([*here.argv, *program.counted], here.env)

        jobs = {p.name: {v.name: pool.submit(count, p, v)
                         for v in real_programs.variants()}
                for p in real_programs.present() if not QUICK or p.counted}
        results = {}
        for name, of in jobs.items():
            log("instructions: " + name)
            results[name] = {v: [job.result()] for v, job in of.items()}
    return results


def layouts():
    """Returns {program: {variant: [seconds of each layout]}}."""
    results = {}
    for program in real_programs.present():
        log("%d layouts: %s" % (LAYOUTS, program.name))
        fresh_binaries()
        jobs = {v.name: timed(program, v) for v in real_programs.variants()}
        results[program.name] = take_turns(jobs, LAYOUTS)
    shutil.rmtree(BINARIES)
    return results


def timed(program, variant):
    """Returns a function that runs the variant's next layout and returns its seconds of
    user and system time."""
    numbers = random.Random(variant.key)
    seeds = [numbers.randrange(1, 1 << 31) for _ in range(LAYOUTS)]
    ready = iter([build(program, variant, seed) for seed in seeds])
    arguments = program.counted if QUICK else program.timed

    def once():
        here = next(ready)
        filler = {"MPROF_BENCH_FILLER": "x" * numbers.randrange(4096)}
        return run([*here.argv, *arguments], {**here.env, **filler}).seconds
    return once


def versions():
    """Returns {package: version} of the programs whose sources were fetched."""
    return {p.package: real_programs.version(p.package)
            for p in real_programs.present() if p.package}


PARTS = (versions, instructions, layouts)
