# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs and writes what they said as JSON.

  measure.py TOP DIR OUTPUT [PART...]

TOP is the source tree, DIR the directory with the programs that run.sh has
built. All variants of a measurement take turns: each round runs each of them
once, in an order that rotates, so that ratios within a round compare runs of
the same moment. A result is a list with one value a round. BENCH_QUICK=1 runs
few and short rounds, to see that everything works.
"""

import collections
import concurrent.futures
import datetime
import json
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
TOP, DIR, OUTPUT = (os.path.abspath(a) for a in sys.argv[1:4])
SCRATCH = os.path.join(DIR, "scratch")  # where programs run and write
DRIVER = os.path.join(TOP, "build/bin/mprof-clang")
FRAMES = ["-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"]
DUKTAPE = "/usr/share/duktape"
# What changes the programs' behaviour and is set by their variants alone.
CLEARED = ("MPROF_OPTIONS", "MALLOC_CONF", "TCMALLOC_SAMPLE_PARAMETER",
           "HEAPPROFILE", "MEMPROF_OPTIONS", "GODEBUG", "GOGC", "LD_PRELOAD")

# What a run of a program gave.
Run = collections.namedtuple("Run", "text seconds max_rss_kib ended_ns")
# One way to run a program. argv without the arguments that all ways share.
Variant = collections.namedtuple("Variant", "name argv env")


def log(text):
    print("bench: " + text, flush=True)


def run(argv, env):
    """Runs to the end in SCRATCH; ends the benchmark if the program fails."""
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
    """The numbers of the lines "NAME NUMBER"."""
    return [float(v) for v in
            re.findall(r"^%s:?\s+([-\d.]+)" % re.escape(name), text, re.M)]


def median_of(text, name):
    found = values(text, name)
    if not found:
        sys.exit("bench: no line '%s NUMBER' in: %s" % (name, text))
    return statistics.median(found)


def take_turns(jobs, rounds):
    """jobs: {name: function without arguments}. {name: [result a round]}."""
    results = {name: [] for name in jobs}
    order = list(jobs)
    for i in range(rounds):
        at = i % len(order)
        for name in order[at:] + order[:at]:
            results[name].append(jobs[name]())
        empty_scratch()
    return results


def empty_scratch():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)


def program(name):
    return os.path.join(DIR, name)


def mprof(options=""):
    return {"MPROF_OPTIONS": options}


# --- pair: malloc and free ---------------------------------------------------


def jemalloc_profiles():
    text = run([program("pair-jemalloc"), "lifo", "1", "1", "1"],
               {"MALLOC_CONF": "prof:true"}).text
    return "Invalid conf" not in text


def go_program():
    return program("pair-go") if os.path.exists(program("pair-go")) else None


def pair_variants():
    """Variants with the nanoseconds that a pair takes, about; and which are
    absent, and why."""
    all_of_them, absent = [], {}

    def add(cost, name, argv, env=None):
        all_of_them.append((Variant(name, argv, env or {}), cost))

    plain = program("pair-plain")
    add(15, "plain", [plain])
    add(15, "plain, frame pointers", [program("pair-frames")])
    add(15, "MProf, 512 KiB", [program("pair-mprof")], mprof())
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
    if os.path.exists(program("pair-memprof")):
        add(800, "clang -fmemory-profile", [program("pair-memprof")])
    else:
        absent["clang -fmemory-profile"] = "this clang has no memprof runtime"
    if go_program():
        for rate, name, cost in ((0, "Go, rate 0", 150),
                                 (524288, "Go, 512 KiB", 150),
                                 (1, "Go, every block", 1000)):
            add(cost, name, [go_program(), str(rate)])
    else:
        absent["Go"] = "no go command"
    return all_of_them, absent


def pair():
    variants, absent = pair_variants()
    repeat_ns = 2e6 if QUICK else 20e6
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
    if argv[0] == go_program():  # its rate comes last
        argv[1:1] = arguments
    else:
        argv += arguments
    return lambda: median_of(run(argv, variant.env).text, "ns")


# --- exact: every block counted, stacks of a known depth ---------------------


def exact():
    results = {}
    pairs = "20000" if QUICK else "300000"
    for threads in ("1", "2"):
        base = exact_frames("0", threads)
        for frames in (6, 20):
            depth = str(frames - base)
            got = exact_frames(depth, threads)
            if got != frames:
                sys.exit("bench: exact: %d frames, not %d" % (got, frames))
            arguments = [depth, threads, pairs, "3"]

            def job(name, env, arguments=arguments):
                argv = [program(name), *arguments]
                return lambda: median_of(run(argv, env).text, "ns")

            log("exact: %d frames, %s thread(s)" % (frames, threads))
            results["%d/%s" % (frames, threads)] = take_turns({
                "plain": job("exact-plain", {}),
                "MProf, exact": job("exact-mprof", mprof("heap_rate=1")),
            }, ROUNDS)
    return results


def exact_frames(depth, threads):
    argv = [program("exact-mprof"), depth, threads, "1000", "1"]
    return int(median_of(run(argv, mprof("heap_rate=1")).text, "frames"))


# --- lookup: the table of stacks ---------------------------------------------


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
    """Instructions a lookup of any stack, less those that make it up."""
    lookups = 10000 if QUICK else 200000

    def count(function):
        argv = [program("lookup"), str(stacks), str(lookups), "0", "all"]
        return instructions_in(function, argv)

    return (count("count_all") - count("count_none")) / lookups


# --- valgrind ----------------------------------------------------------------


def has_valgrind():
    return shutil.which("valgrind") is not None


def valgrind(argv, env, flags, pattern):
    text = run(["valgrind", *flags, *argv], env).text
    found = re.search(pattern, text)
    if not found:
        sys.exit("bench: valgrind says: " + text)
    return int(found.group(1).replace(",", ""))


def instructions_in(function, argv):
    """Those of one function and what it calls."""
    flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null",
             "--toggle-collect=" + function]
    return valgrind(argv, {}, flags, r"Collected : (\d+)")


def instructions_of(argv, env):
    """Those of a whole program, its children not included. cachegrind without
    its model of caches counts as callgrind does, in half the time."""
    flags = ["--tool=cachegrind", "--cache-sim=no",
             "--cachegrind-out-file=/dev/null"]
    return valgrind(argv, env, flags, r"I\s+refs:\s+([\d,]+)")


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
    """Of the demonstration programs, of Duktape for each script; two counts at
    a time, since nothing is timed. Symbols are left out: other processes find
    them."""
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
    """The sum of an object's sections with code."""
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


# --- rss and exit ------------------------------------------------------------


def rss():
    """KiB of a program that allocates nothing."""
    log("resident memory")
    fields = ("VmHWM", "VmRSS", "Rss")

    def job(name, env):
        def once():
            text = run([program(name)], env).text
            return {f: median_of(text, f) for f in fields}
        return once

    turns = take_turns({
        "plain": job("rss-plain", {}),
        "MProf, 512 KiB": job("rss-mprof", mprof("symbolize=0")),
        "MProf, heap=0": job("rss-mprof", mprof("heap=0")),
    }, ROUNDS)
    return {f: {v: [r[f] for r in turns[v]] for v in turns} for f in fields}


def exittime():
    """Milliseconds from the end of main to the end of the process."""
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


# --- the whole ---------------------------------------------------------------

PARTS = (pair, exact, lookup, rss, exittime, demo, compile, text_bytes,
         instructions)


def first_line(*argv):
    try:
        out = subprocess.run(argv, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd=TOP, check=True)
        return out.stdout.decode().strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return found.group(1) if found else "unknown"


def machine():
    def version_of(package):
        return first_line("dpkg-query", "-W", "-f", "${Version}", package)

    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "command": ("BENCH_QUICK=1 " if QUICK else "")
        + " ".join(["utils/bench/run.sh heap", *sys.argv[4:]]),
        "quick": QUICK,
        "cpu": cpu(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "kernel": os.uname().release,
        "libc": " ".join(os.confstr("CS_GNU_LIBC_VERSION").split()),
        "clang": first_line("clang-19", "--version"),
        "go": first_line(os.environ.get("GO", "go"), "version"),
        "commit": first_line("git", "rev-parse", "--short=12", "HEAD"),
        "jemalloc": version_of("libjemalloc2"),
        "gperftools": version_of("libgoogle-perftools-dev"),
        "heaptrack": version_of("heaptrack"),
        "valgrind": version_of("valgrind"),
        "duktape": version_of("duktape-dev"),
        "nlohmann-json": version_of("nlohmann-json3-dev"),
    }


def main():
    wanted = sys.argv[4:]
    unknown = set(wanted) - {p.__name__ for p in PARTS}
    if unknown:
        sys.exit("bench: no part is called " + ", ".join(sorted(unknown)))
    begin = time.monotonic()
    empty_scratch()
    # A run of some parts replaces these and keeps the others.
    results = {}
    if wanted and os.path.exists(OUTPUT):
        with open(OUTPUT, encoding="utf-8") as f:
            results = json.load(f)
        if results["machine"]["quick"] != QUICK:
            results = {}
    results["machine"] = machine()
    for part in PARTS:
        if not wanted or part.__name__ in wanted:
            results[part.__name__] = part()
    results["machine"]["minutes"] = round((time.monotonic() - begin) / 60, 1)
    with open(OUTPUT, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
        f.write("\n")
    shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    main()
