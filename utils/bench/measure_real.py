# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of real programs, in instructions and in time over many layouts.

The layout of a program in memory, such as the order of its functions, changes its time
by some per cent. A single build of each variant would compare layouts, not variants.
So each round links each variant anew, with the program's functions in random order,
and runs it with environments of random size, which moves the stack. In a round, each
variant is compared with plain as side_by_side.py does.
"""

import concurrent.futures
import os
import random
import shutil
import tempfile

import layout
import real_programs
import side_by_side
from running import (
    QUICK, SCRATCH, Variant, empty_scratch, has_valgrind, instructions_of, log, mprof)

PACKAGES = {"Duktape": "duktape-dev", "nlohmann JSON": "nlohmann-json3-dev",
            "lld": "lld-19"}
LAYOUTS = 2 if QUICK else 20
# The variants beside plain and MProf take part in the first layouts only.
FEWER = 8
# Seconds for which a layout is compared with one of plain.
SECONDS = 0 if QUICK else 1.5
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
    """Returns {program: {plain: [seconds of each layout], another variant: [ratio of its
    time to plain's in each layout]}}."""
    results = {}
    for program in real_programs.present():
        with output_in_memory() as directory:
            results[program.name] = layouts_of(program, directory)
    return results


def output_in_memory():
    """Makes a directory for the files that MProf writes, in memory where possible. A
    disk's file system takes longer the more files were removed lately."""
    empty_scratch()
    shm = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else SCRATCH)


def layouts_of(program, directory):
    fresh_binaries()
    variants = real_programs.variants()
    numbers = {v.name: random.Random(v.key) for v in variants}
    results = {v.name: [] for v in variants}
    for number in range(LAYOUTS):
        here = variants if number < FEWER else [
            v for v in variants if v.name in ("plain", "MProf")]
        for name, value in round_of(program, here, numbers, directory).items():
            results[name].append(value)
    shutil.rmtree(BINARIES)
    log("%d layouts: %s" % (LAYOUTS, program.name))
    return results


def round_of(program, variants, numbers, directory):
    """Links the next layout of each variant and compares these layouts with plain's.
    numbers: {variant: its random numbers}. Returns {plain: seconds, another variant:
    ratio}."""
    plain, *others = (timed(program, v, numbers[v.name], directory) for v in variants)
    results = {}
    for variant, other in zip(variants[1:], others):
        ratio, seconds = side_by_side.compare(plain, other, SECONDS, program.alone)
        results[variant.name] = ratio
        results.setdefault("plain", seconds)
    return results


def timed(program, variant, numbers, directory):
    """Links a new layout of the variant. Returns the arguments and the environment to
    run it."""
    here = build(program, variant, layout.new_seed(numbers))
    env = layout.environment(numbers)
    if variant.is_mprof:
        env.update(mprof("%s:log_path=%s/%%e.%%p" % (OPTIONS, directory)))
    return [*here.argv, *(program.counted if QUICK else program.timed)], env


def versions():
    """Returns {package: version} of the programs whose sources were fetched."""
    return {p.package: real_programs.version(p.package)
            for p in real_programs.present() if p.package}


PARTS = (versions, instructions, layouts)
