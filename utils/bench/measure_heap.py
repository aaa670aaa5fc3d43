# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of the heap profile."""

import concurrent.futures
import os
import re
import shutil

from measure_exact import exact, live
from measure_library import gc, strings
from measure_turns import turns
from running import (
    QUICK, ROUNDS, SCRATCH, TOP, Variant, has_valgrind, instructions_in,
    instructions_of, is_built, log, median_of, mprof, program, run, take_turns, values)

DRIVER = os.path.join(TOP, "build/bin/mprof-clang")
FRAMES = ["-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"]
DUKTAPE = "/usr/share/duktape"


# --- pair: the cost of malloc and free ---------------------------------------


def jemalloc_profiles():
    text = run([program("pair-jemalloc"), "lifo", "1", "1", "1"],
               {"MALLOC_CONF": "prof:true"}).text
    return "Invalid conf" not in text


def pair_variants():
    """Returns [(variant, approximate nanoseconds of a malloc and free)] of the variants
    that can run here, and {name: reason} of the others."""
    all_of_them, absent = [], {}

    def add(cost, name, argv, env=None):
        all_of_them.append((Variant(name, argv, env or {}), cost))

    plain = program("pair-plain")
    add(15, "plain", [plain])
    add(15, "plain, frame pointers", [program("pair-frames")])
    add(15, "MProf, 512 KiB", [program("pair-mprof")], mprof())
    add(15, "MProf, 512 KiB, tables", [program("pair-tables")], mprof())
    add(15, "MProf, heap=0", [program("pair-mprof")], mprof("heap=0"))
    add(80, "MProf, exact", [program("pair-mprof")], mprof("heap_rate=1"))
    add(15, "jemalloc", [program("pair-jemalloc")])
    if jemalloc_profiles():
        add(15, "jemalloc, 512 KiB", [program("pair-jemalloc")],
            {"MALLOC_CONF": "prof:true,lg_prof_sample:19"})
    else:
        absent["jemalloc, 512 KiB"] = "this libjemalloc is built without prof"
    add(15, "tcmalloc", [program("pair-tcmalloc")])
    add(15, "tcmalloc, 512 KiB", [program("pair-tcmalloc")],
        {"TCMALLOC_SAMPLE_PARAMETER": "524288"})
    add(5000, "gperftools, every block", [program("pair-tcmalloc")],
        {"HEAPPROFILE": os.path.join(SCRATCH, "gperftools")})
    if shutil.which("heaptrack"):
        add(400, "heaptrack, every block",
            ["heaptrack", "-o", os.path.join(SCRATCH, "heaptrack"), plain])
    else:
        absent["heaptrack, every block"] = "heaptrack is not installed"
    if is_built("pair-memprof"):
        add(800, "clang -fmemory-profile", [program("pair-memprof")])
    else:
        absent["clang -fmemory-profile"] = "this clang has no memprof runtime"
    if is_built("pair-go"):
        for rate, name, cost in ((0, "Go, rate 0", 150),
                                 (524288, "Go, 512 KiB", 150),
                                 (1, "Go, every block", 1000)):
            add(cost, name, [program("pair-go"), str(rate)])
    else:
        absent["Go"] = "no go command"
    return all_of_them, absent


# Other work on the host slows a whole run of a short loop. In each round, a variant has
# the least time of this number of runs.
PAIR_RUNS = 6


def pair():
    variants, absent = pair_variants()
    repeat_ns = 2e6 if QUICK else 5e6
    results = {"absent": absent}
    for kind in ("ring", "lifo"):
        for threads in (1, 2):
            jobs = {}
            for variant, cost in variants:
                arguments = [kind, str(threads), str(int(repeat_ns / cost)), "3"]
                jobs[variant.name] = pair_job(variant, arguments)
            log("pair: %s, %d thread(s)" % (kind, threads))
            results["%s/%d" % (kind, threads)] = take_turns(jobs, ROUNDS)
    return results


def pair_job(variant, arguments):
    argv = list(variant.argv)
    if argv[0] == program("pair-go"):  # argv ends with the profile's rate
        argv[1:1] = arguments
    else:
        argv += arguments
    return lambda: min(ns for _ in range(PAIR_RUNS)
                       for ns in values(run(argv, variant.env).text, "ns"))


# --- lookup: the cost of finding a stack in the table of stacks --------------


def lookup():
    sizes = (1000, 20000 if QUICK else 1000000)
    arguments = ["100000" if QUICK else "1000000", "3"]

    def job(stacks):
        argv = [program("lookup"), str(stacks), *arguments]

        def once():
            text = run(argv, {}).text
            return {n: median_of(text, n) for n in ("hot", "spread", "all")}
        return once

    log("lookup: %d and %d stacks" % sizes)
    results = {"sizes": list(sizes)}
    rounds = take_turns({str(s): job(s) for s in sizes}, ROUNDS)
    results["ns"] = {
        s: {n: [r[n] for r in rounds[s]] for n in rounds[s][0]} for s in rounds}
    if has_valgrind():
        log("lookup: instructions")
        results["instructions"] = {
            str(s): lookup_instructions(s) for s in sizes}
    return results


def lookup_instructions(stacks):
    """Returns the instructions of one lookup in a table of so many stacks. The
    instructions that generate the stack are subtracted."""
    lookups = 10000 if QUICK else 200000

    def count(function):
        argv = [program("lookup"), str(stacks), str(lookups), "0", "all"]
        return instructions_in(function, argv)

    return (count("count_all") - count("count_none")) / lookups


# --- demo: the two demonstration programs ------------------------------------

DEMO_VARIANTS = (
    ("plain", "plain", {}),
    ("plain, frame pointers", "frames", {}),
    ("MProf, symbolize=0", "mprof", mprof("symbolize=0")),
    ("MProf", "mprof", mprof()),
)


SCRIPTS = ("leak",) if QUICK else ("json", "strings", "objects", "leak")


def demo_arguments(name):
    return [script(s) for s in SCRIPTS] if name == "duk" else []


def script(name):
    return os.path.join(TOP, "utils/demo", name + ".js")


def demo():
    results = {}
    rounds = 2 if QUICK else 7
    for name in ("duk", "json"):
        def job(suffix, env, name=name):
            argv = [program(name + "-" + suffix), *demo_arguments(name)]

            def once():
                r = run(argv, env)
                return {"seconds": r.seconds, "max_rss_kib": r.max_rss_kib}
            return once

        log("demo: %s" % name)
        turns = take_turns(
            {v: job(suffix, env) for v, suffix, env in DEMO_VARIANTS}, rounds)
        results[name] = {
            unit: {v: [r[unit] for r in turns[v]] for v in turns}
            for unit in ("seconds", "max_rss_kib")}
    return results


def instructions():
    """Counts the instructions of the demonstration programs. Counts Duktape once for
    each script. Runs two counts at the same time, because nothing is timed. MProf
    does not symbolize in these runs, because other processes do this work."""
    if not has_valgrind():
        return {}
    log("instructions of the demonstration programs")
    runs = [("duk", [script(s)]) for s in SCRIPTS]
    if not QUICK:
        runs.append(("json", []))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = [
            (name, variant, pool.submit(
                instructions_of, [program(name + "-" + suffix), *arguments], env))
            for name, arguments in runs
            for variant, suffix, env in DEMO_VARIANTS if variant != "MProf"]
    results = {}
    for name, variant, count in counts:
        of = results.setdefault(name, {})
        of.setdefault(variant, []).append(count.result())
    return {"scripts": list(SCRIPTS), **results}


# --- compile: time of the compiler, size of its code -------------------------

COMPILED = {
    "duk": ("", ["-I" + DUKTAPE, DUKTAPE + "/duktape.c"]),
    "json": ("++", ["-std=c++17",
                    os.path.join(TOP, "utils/demo/json_demo.cpp")]),
}


def compiler(name, variant):
    plus, source = COMPILED[name]
    if variant == "MProf":
        first = [DRIVER + plus, "-fmprof"]
    else:
        first = ["clang" + plus + "-19"]
        first += FRAMES if variant == "plain, frame pointers" else []
    return [*first, "-O2", "-c", *source]


def compile():
    results = {}
    for name in COMPILED:
        log("compile: %s" % name)

        def job(variant, name=name):
            argv = [*compiler(name, variant), "-o", "/dev/null"]
            return lambda: run(argv, {}).seconds

        results[name] = take_turns(
            {v: job(v) for v in ("plain", "MProf")}, 1 if QUICK else 7)
    return results


def text_bytes():
    """Returns the total size of the .text* sections of each object file."""
    results = {}
    for name in COMPILED:
        results[name] = {}
        for variant in ("plain", "plain, frame pointers", "MProf"):
            path = os.path.join(SCRATCH, "text.o")
            run([*compiler(name, variant), "-o", path], {})
            text = run(["size", "-A", path], {}).text
            sizes = re.findall(r"^\.text\S*\s+(\d+)", text, re.M)
            results[name][variant] = [sum(int(s) for s in sizes)]
    return results


# --- rss and exit: memory and exit time of small programs --------------------


def rss():
    """Measures the resident memory, in KiB, of a program that allocates nothing.

    The kernel maps 64 KiB around each page of a file that the program touches, and
    the position of the files in memory is random. So one run says little.
    """
    log("resident memory")

    def job(name):
        return lambda: median_of(run([program(name)], {}).text, "Rss")

    return {linker: take_turns({
        "plain": job("rss-plain" + suffix),
        "-fmprof=heap": job("rss-heap" + suffix),
        "-fmprof": job("rss-mprof" + suffix),
    }, 6 * ROUNDS) for linker, suffix in (("GNU ld", ""), ("lld", "-lld"))}


def exittime():
    """Measures the milliseconds from the end of main until the process has ended."""
    log("exit time")
    results = {}
    for stacks in ("0", "1000"):
        def job(name, options, stacks=stacks):
            def once():
                argv = [program(name), stacks]
                r = run(argv, mprof("heap_rate=1:" + options))
                return (r.ended_ns - median_of(r.text, "end")) / 1e6
            return once

        results[stacks] = take_turns({
            "plain": job("exittime-plain", ""),
            "MProf, no profile, no report":
                job("exittime-mprof", "profile=0:report=0"),
            "MProf, profile without names":
                job("exittime-mprof", "report=0:symbolize=0"),
            "MProf, profile and report without names":
                job("exittime-mprof", "symbolize=0"),
            "MProf, profile": job("exittime-mprof", "report=0"),
            "MProf, profile and report": job("exittime-mprof", ""),
        }, ROUNDS)
    return results


# --- the list of all parts ---------------------------------------------------

# {name on the benchmark page: Debian package}. The page shows the package's version.
PACKAGES = {
    "jemalloc": "libjemalloc2",
    "gperftools": "libgoogle-perftools-dev",
    "heaptrack": "heaptrack",
    "valgrind": "valgrind",
    "duktape": "duktape-dev",
    "nlohmann-json": "nlohmann-json3-dev",
}
PARTS = (pair, turns, exact, live, strings, gc, lookup, rss, exittime, demo, compile,
         text_bytes, instructions)
