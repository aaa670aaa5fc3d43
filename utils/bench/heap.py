# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the heap profile costs, and what every program built with MProf costs."""

import glob
import os
import re
import shutil

from bench import (
    DEMO, DRIVER, DUKTAPE, FRAMES, QUICK, SCRATCH, build, build_both, build_go, by_variant,
    compared, draw, empty_scratch, job, log, median, mprof, number, program, run, turns,
    write_table)

EXACT = mprof("heap_rate=1:report=0:profile=0")


# --- pair: one malloc and one free -------------------------------------------


def pair_variants():
    """Returns {variant: (approximate nanoseconds, words before the program's arguments,
    words after them, environment, the variant that it is compared with)}."""
    build_both("pair.c")
    build("pair.c", "pair-frames", *FRAMES)
    build("pair.c", "pair-jemalloc", "-Wl,--no-as-needed", "-ljemalloc")
    build("pair.c", "pair-tcmalloc", "-Wl,--no-as-needed", "-ltcmalloc")
    build("pair.c", "pair-memprof", "-fmemory-profile")
    plain, with_mprof = [program("pair-plain")], [program("pair-mprof")]
    jemalloc, tcmalloc = [program("pair-jemalloc")], [program("pair-tcmalloc")]
    found = {
        "plain": (15, plain, [], {}, None),
        "plain, frame pointers": (15, [program("pair-frames")], [], {}, "plain"),
        "MProf, heap=0": (15, with_mprof, [], mprof("heap=0"), "plain"),
        "MProf, 512 KiB": (15, with_mprof, [], mprof(), "plain"),
        "MProf, every block": (80, with_mprof, [], mprof("heap_rate=1"), "plain"),
        "heaptrack, every block": (
            400, ["heaptrack", "-o", os.path.join(SCRATCH, "heaptrack"), *plain], [], {},
            "plain"),
        "clang -fmemory-profile": (800, [program("pair-memprof")], [], {}, "plain"),
        "jemalloc": (15, jemalloc, [], {}, None),
        "tcmalloc": (15, tcmalloc, [], {}, None),
        "tcmalloc, 512 KiB": (15, tcmalloc, [], {"TCMALLOC_SAMPLE_PARAMETER": "524288"},
                              "tcmalloc"),
        "gperftools, every block": (
            5000, tcmalloc, [], {"HEAPPROFILE": os.path.join(SCRATCH, "gperftools")},
            "tcmalloc"),
    }
    profiling = {"MALLOC_CONF": "prof:true,lg_prof_sample:19"}
    empty_scratch()
    if "Invalid conf" not in run([*jemalloc, "lifo", "1", "1", "1"], profiling).text:
        found["jemalloc, 512 KiB"] = (15, jemalloc, [], profiling, "jemalloc")
    if not shutil.which("heaptrack"):
        del found["heaptrack, every block"]
    for go, path in build_go("pair").items():
        off = go + ", rate 0"
        found[off] = (150, [path], ["0"], {}, None)
        found[go + ", 512 KiB"] = (150, [path], ["524288"], {}, off)
        found[go + ", every block"] = (1000, [path], ["1"], {}, off)
    return found


def pair():
    """The nanoseconds of a pair of malloc and free in two loops."""
    variants = pair_variants()
    repeat_ns = 2e6 if QUICK else 5e6
    loops = {}
    for kind in ("ring", "lifo"):
        for threads in (1, 2):
            log("pair: %s, %d thread(s)" % (kind, threads))
            loops["%s, %d thread%s" % (kind, threads, "s" * (threads - 1))] = turns({
                name: job([*before, kind, threads, int(repeat_ns / ns), 3, *after], env,
                          least_of=6)
                for name, (ns, before, after, env, _) in variants.items()})
    write_table("pair", ("nanoseconds per pair (ratio)", *loops),
                by_variant(loops, lambda v: variants[v][4]))
    draw("benchmarks-heap.svg", "Nanoseconds of a malloc and a free (ring, 1 thread)",
         {v: median(values) for v, values in loops["ring, 1 thread"].items()}, is_log=True)


# --- exact: every block counted ----------------------------------------------

# (number of frames, whether the threads share one stack, numbers of threads)
STACKS = ((6, "shared", (1, 2, 4, 16)), (6, "own", (1, 2, 4, 16)),
          (20, "shared", (1, 2)))


def exact():
    """The cost of exact mode by the depth of the stack and the number of threads."""
    build_both("exact.c")
    pairs = 600000 if QUICK else 16000000  # of malloc and free, in all threads
    rows = []
    for frames, whose, all_threads in STACKS:
        log("exact: %d frames, %s stacks" % (frames, whose))
        jobs = {}
        for threads in all_threads:
            # A single thread runs in main, which has more callers than the start
            # function of a thread.
            of_program = number(run([program("exact-mprof"), 0, threads, 1000, 1, whose],
                                    EXACT).text, "frames")
            arguments = [int(frames - of_program), threads, pairs // threads, 3, whose]
            for variant, env in (("plain", {}), ("mprof", EXACT)):
                jobs[variant, threads] = exact_job(
                    [program("exact-" + variant), *arguments], env)
        results = turns(jobs)

        def of(variant, threads, which):
            return [r[which] for r in results[variant, threads]]

        for threads in all_threads:
            plain, counted = of("plain", threads, 0), of("mprof", threads, 0)
            more = median([b - a for a, b in zip(plain, counted)])
            throughput = [median(of(v, 1, 1)) / median(of(v, threads, 1))
                          for v in ("plain", "mprof")]
            rows.append((str(frames), whose, str(threads), median(plain), median(counted),
                         more, *throughput))
    write_table("exact", (
        "frames", "stacks", "threads", "plain, ns", "exact, ns", "more than plain, ns",
        "plain, throughput to 1 thread", "exact, throughput to 1 thread"), rows)


def exact_job(argv, env):
    def once():
        text = run(argv, env).text
        return number(text, "ns"), number(text, "wall_ns")
    return once


# --- live: many live blocks --------------------------------------------------


def live():
    """The memory and the time of exact mode with millions of live blocks."""
    build_both("live.c")
    blocks = 100000 if QUICK else 10000000
    env = mprof("heap_rate=1:profile=0:symbolize=0:log_path=live.%p:max_memory_mb=8192")
    rows = []
    for title, low, high in (("16 to 128 bytes", 16, 128), ("16 bytes", 16, 16),
                             ("16 to 1024 bytes", 16, 1024)):
        log("live: %d blocks of %s" % (blocks, title))
        results = turns({variant: live_job(
            [program("live-" + variant), blocks, low, high], of)
            for variant, of in (("plain", {}), ("mprof", env))}, 2 if QUICK else 3)

        def of(variant, which):
            return median([r[which] for r in results[variant]])

        resident = (of("mprof", "rss_kib") - of("plain", "rss_kib")) * 1024 / blocks
        rows.append((title, of("mprof", "tables") / blocks, resident,
                     *(of(v, what) for what in ("alloc_ns", "free_ns")
                       for v in ("plain", "mprof"))))
    write_table("live", (
        "blocks", "tables, bytes per block", "resident, bytes per block",
        "malloc, plain, ns", "malloc, exact, ns", "free, plain, ns", "free, exact, ns"),
        rows)


def live_job(argv, env):
    def once():
        text = run(argv, env).text
        result = {what: number(text, what) for what in ("rss_kib", "alloc_ns", "free_ns")}
        for path in glob.glob(os.path.join(SCRATCH, "live.*.txt")):
            with open(path, encoding="utf-8") as f:
                found = re.search(r"profiler's tables.*\(([\d,]+) bytes\)", f.read())
            result["tables"] = int(found.group(1).replace(",", ""))
            os.unlink(path)
        return result
    return once


# --- build and process: what every program costs -----------------------------

COMPILED = {
    "Duktape, compile": ("", ["-c", "-I" + DUKTAPE, DUKTAPE + "/duktape.c"]),
    "JSON, compile": ("++", ["-c", "-std=c++17", DEMO + "/json_demo.cpp"]),
    "an empty program, compile": ("", ["-c", "empty.c"]),
    "an empty program, compile and link": ("", ["empty.c"]),
}


def build_cost():
    """The time of the compiler and the linker, and the size of the code."""
    rows = []
    for name, (plus, arguments) in COMPILED.items():
        log("build: " + name)
        commands = {
            "plain": ["clang%s-19" % plus, "-O2", *arguments, "-o", "out"],
            "MProf": [DRIVER + plus, "-fmprof", "-O2", *arguments, "-o", "out"],
        }
        of = {v: [values[0] for values in results] for v, results in turns(
            {v: build_job(argv) for v, argv in commands.items()},
            2 if QUICK else 9).items()}
        texts = [build_job(argv)()[1] for argv in commands.values()]
        rows.append((name, median(of["plain"]), compared(of, "MProf", "plain"),
                     *map("{:,}".format, texts)))
    write_table("build", ("", "plain, ms", "MProf, ms (ratio)", "text, plain, bytes",
                          "text, MProf, bytes"), rows)


def build_job(argv):
    """Returns a job: the milliseconds of user and system time of a command that writes
    the file "out", and the bytes of the sections .text* in it."""
    def once():
        with open(os.path.join(SCRATCH, "empty.c"), "w", encoding="utf-8") as f:
            f.write("int main(void) { return 0; }\n")
        seconds = run(argv).seconds
        sizes = run(["size", "-A", "out"]).text
        return seconds * 1000, sum(map(int, re.findall(r"^\.text\S*\s+(\d+)", sizes, re.M)))
    return once


def process():
    """The memory of a program that allocates nothing, and the time of its end."""
    build_both("rss.c", "exittime.c")
    log("resident memory")
    # The kernel maps 64 KiB around each page of a file that the program touches, and the
    # position of the files in memory is random. So one run says little.
    memory = turns({v: job([program("rss-" + v)], line="Rss") for v in ("plain", "mprof")},
                   4 if QUICK else 90)
    log("exit time")
    variants = {
        "plain": ("plain", {}),
        "MProf, no files": ("mprof", mprof("heap_rate=1:profile=0:report=0")),
        "MProf, files without names": ("mprof", mprof("heap_rate=1:symbolize=0")),
        "MProf, names for the first time": ("mprof", mprof("heap_rate=1:symbolizer_cache=0")),
        "MProf, names known": ("mprof", {**mprof("heap_rate=1"), "HOME": program("home")}),
    }
    os.makedirs(program("home"), exist_ok=True)
    columns = []
    for stacks in (0, 10, 1000):
        columns.append(turns({v: end_job(stacks, *of) for v, of in variants.items()}))
    rows = [(v, *(median(of[v]) for of in columns),
             median(memory[program_of]) if v in ("plain", "MProf, no files") else "")
            for v, (program_of, _) in variants.items()]
    write_table("process", ("", "end, no stack, ms", "end, 10 stacks, ms",
                            "end, 1,000 stacks, ms", "resident memory, KiB"), rows)


def end_job(stacks, variant, env):
    """Returns a job: the milliseconds from the end of main to the end of the process."""
    def once():
        r = run([program("exittime-" + variant), stacks], env)
        return (r.ended_ns - number(r.text, "end")) / 1e6
    return once


PARTS = {"pair": pair, "exact": exact, "live": live, "build": build_cost,
         "process": process}
