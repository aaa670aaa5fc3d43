# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of real programs, in instructions and in time over many layouts.

The layout of a program in memory, such as the order of its functions, changes its time
by some per cent. A single build of each variant would compare layouts, not variants.
So each round links each variant anew, with the program's functions in random order,
and runs it with an environment of random size, which moves the stack. Within a round,
the variants run in turns several times, and the least time of each variant counts:
other work on the machine, or on the host of a virtual machine, only adds time.
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
LAYOUTS = 2 if QUICK else 12
# The number of runs in a round: of programs that run for less than a second, and of
# others.
RUNS, LONG_RUNS = (1, 1) if QUICK else (6, 2)
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
    """Returns {program: {variant: [least seconds of each layout]}}."""
    results = {}
    for program in real_programs.present():
        log("%d layouts: %s" % (LAYOUTS, program.name))
        fresh_binaries()
        numbers = {v.name: random.Random(v.key) for v in real_programs.variants()}
        rounds = [round_of(program, numbers) for _ in range(LAYOUTS)]
        results[program.name] = {
            name: [least[name] for least in rounds] for name in numbers}
    shutil.rmtree(BINARIES)
    return results


def round_of(program, numbers):
    """Links the next layout of each variant and runs these layouts in turns. numbers:
    {variant: its random numbers}. Returns {variant: least seconds}."""
    jobs = {v.name: timed(program, v, numbers[v.name])
            for v in real_programs.variants()}
    first = take_turns(jobs, 1)
    runs = RUNS if max(first["plain"]) < 1 else LONG_RUNS
    later = take_turns(jobs, runs - 1)
    return {name: min(first[name] + later[name]) for name in jobs}


def timed(program, variant, numbers):
    """Links a new layout of the variant. Returns a function that runs it and returns
    its seconds of user and system time."""
    here = build(program, variant, numbers.randrange(1, 1 << 31))
    arguments = program.counted if QUICK else program.timed
    filler = {"MPROF_BENCH_FILLER": "x" * numbers.randrange(4096)}
    return lambda: run([*here.argv, *arguments], {**here.env, **filler}).seconds


def versions():
    """Returns {package: version} of the programs whose sources were fetched."""
    return {p.package: real_programs.version(p.package)
            for p in real_programs.present() if p.package}


PARTS = (versions, instructions, layouts)
