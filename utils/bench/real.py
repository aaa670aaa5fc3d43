# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What MProf costs real programs, in instructions and in time over many layouts.

The layout of a program in memory, such as the order of its functions, changes its time
by some per cent. A single build of each variant would compare layouts, not variants.
So each round links each variant anew, with the program's functions in random order,
and runs it with an environment of random size, which moves the stack.
"""

import collections
import concurrent.futures
import glob
import math
import os
import random
import re
import shutil
import subprocess
import tempfile
import time

from bench import (
    DEMO, DIR, DRIVER, DUKTAPE, FRAMES, QUICK, SCRATCH, SOURCE, TOP, draw, empty_scratch,
    instructions as count, log, median, mprof, ratio, shown_ratio, start, wait, write_table)

REAL = os.path.join(DIR, "real")  # directory of sources, objects and programs
FETCHED = os.path.join(REAL, "src")
SQLITE = os.path.join(FETCHED, "sqlite3")
LUA = os.path.join(FETCHED, "lua5.4", "src")
LAYOUTS = 2 if QUICK else 30
FEWER = 8  # layouts of the variants beside plain and MProf
SECONDS = 0 if QUICK else 1.5  # for which a layout is compared with one of plain
# MProf's default options. Names at exit are left out, because another process finds
# them, and because the measured programs run for less than a second.
OPTIONS = "symbolize=0"
# {name: (whether MProf's driver compiles and links it, flags)}
VARIANTS = {
    "plain": (False, []),
    "plain, frame pointers": (False, FRAMES),
    "MProf": (True, []),
    "MProf, frames": (True, ["-fmprof-unwind=frames"]),
}

# package: the Debian source package from which the program comes, or None. sources: a
# function that returns the files. counted, timed: arguments for a count of instructions
# and for a measurement of time. is_alone: the program uses several processors.
Program = collections.namedtuple(
    "Program", "name package sources flags counted timed is_alone", defaults=(False,))


def lua(name, counted, timed):
    script = os.path.join(SOURCE, "real", name + ".lua")
    # Without a fixed seed, Lua hashes its strings differently in each run.
    return Program(
        "Lua, " + name, "lua5.4",
        lambda: sorted(set(glob.glob(LUA + "/*.c")) - {LUA + "/luac.c"}),
        ["-DLUA_USE_POSIX", "-Dluai_makeseed(L)=42u"], [script, counted], [script, timed])


def load(name, title, counted, timed):
    return Program(title, None, lambda: [SOURCE + "/gate.c"], ["-I" + TOP + "/include"],
                   [name, counted], [name, timed])


def short_json():
    """Makes a copy of the JSON demonstration that runs for less than a second: on a noisy
    machine, many short runs tell more than a few long ones."""
    to = os.path.join(REAL, "json_demo.cpp")
    with open(DEMO + "/json_demo.cpp", encoding="utf-8") as f, \
            open(to, "w", encoding="utf-8") as out:
        out.write(f.read().replace("round < 70", "round < 7"))
    return [to]


PROGRAMS = (
    Program("SQLite", "sqlite3",
            lambda: [SQLITE + "/sqlite3.c", SQLITE + "/test/speedtest1.c"],
            ["-I" + SQLITE, "-DSQLITE_OMIT_LOAD_EXTENSION"],
            ["--memdb", "--size", 5], ["--memdb", "--size", 15]),
    lua("tables", 40, 200),
    lua("strings", 100, 400),
    lua("mixed", 200, 1500),
    Program("server", None, lambda: [SOURCE + "/real/server.c"], [], [2, 2000], [2, 6000],
            is_alone=True),
    Program("json", None, short_json, ["-std=c++17"], [], []),
    Program("strings", None, lambda: [SOURCE + "/strings.cpp"], ["-std=c++17"], [5000, 1],
            [60000, 1]),
    Program("Duktape", None, lambda: [DEMO + "/duk_host.c", DUKTAPE + "/duktape.c"],
            ["-I" + DUKTAPE], [DEMO + "/leak.js"], [DEMO + "/leak.js"]),
    load("objects", "objects by realloc(NULL)", 400000, 5000000),
    load("tree", "tree with strdup", 300000, 1500000),
    load("recurse", "recursion", 300000, 3000000),
)


# --- the sources -------------------------------------------------------------

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SQLITE_MAKEFILE = "TOP = %s\nBCC = clang-19\nTCC = clang-19\nNAWK = awk\nEXE =\n" \
    "include $(TOP)/main.mk\n"


def source_list():
    """Returns a list of sources for apt: the repositories from which the machine gets its
    packages."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
         "Created-By: Packages"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return "".join("deb-src [signed-by=%s] %s\n" % (KEYRING, line)
                   for line in sorted(set(targets.splitlines())))


def fetch(package):
    """Downloads and unpacks a Debian source package into FETCHED."""
    to = os.path.join(FETCHED, package)
    if os.path.exists(to + ".done"):
        return
    log("fetching the sources of " + package)
    shutil.rmtree(to, ignore_errors=True)
    lists = os.path.join(REAL, "apt")
    for directory in (to, lists + "/partial"):
        os.makedirs(directory, exist_ok=True)
    with open(lists + ".list", "w", encoding="utf-8") as f:
        f.write(source_list())
    apt = ["apt-get", "-q", "-o", "Dir::Etc::SourceList=" + lists + ".list", "-o",
           "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + lists,
           "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Sandbox::User=root"]
    subprocess.run([*apt, "update"], cwd=FETCHED, check=True)
    subprocess.run([*apt, "source", "--download-only", package], cwd=FETCHED, check=True)
    archive, = (a for a in glob.glob("%s/%s_*.orig.tar.*" % (FETCHED, package))
                if not a.endswith(".asc"))
    subprocess.run(["tar", "xf", archive, "-C", to, "--strip-components=1"], check=True)
    if package == "sqlite3":  # joins its sources into one file
        with open(to + "/Makefile", "w", encoding="utf-8") as f:
            f.write(SQLITE_MAKEFILE % to)
        subprocess.run(["make", "sqlite3.c"], cwd=to, check=True)
    with open(to + ".done", "w", encoding="utf-8") as f:
        f.write(os.path.basename(archive) + "\n")


def programs():
    """Fetches the sources. Returns the programs whose sources are there."""
    os.makedirs(FETCHED, exist_ok=True)
    absent = set()
    for package in sorted({p.package for p in PROGRAMS if p.package}):
        try:
            fetch(package)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            log("no sources of %s (is there a network?): %s" % (package, error))
            absent.add(package)
    return [p for p in PROGRAMS if p.package not in absent]


# --- compile and link --------------------------------------------------------


def compiler(variant, sources):
    is_mprof, flags = VARIANTS[variant]
    plus = "++" if sources[0].endswith(".cpp") else ""
    return [DRIVER + plus, "-fmprof", *flags] if is_mprof else [
        "clang%s-19" % plus, *flags]


def file_name(*words):
    return re.sub(r"\W+", "_", "-".join(map(str, words)))


def compile_all(all_programs):
    """Compiles the programs. Returns {(program, variant): (compiler, objects)}."""
    directory = os.path.join(REAL, "obj")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    found, commands = {}, []
    for p in all_programs:
        sources = p.sources()
        for v in VARIANTS:
            objects = [os.path.join(directory, file_name(p.name, v, os.path.basename(s)) + ".o")
                       for s in sources]
            found[p.name, v] = compiler(v, sources), objects
            commands += [[*compiler(v, sources), "-O2", "-ffunction-sections", *p.flags,
                          "-c", s, "-o", o] for s, o in zip(sources, objects)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda argv: subprocess.run(argv, check=True), commands):
            pass
    return found


def link(built, name, variant, seed):
    """Links a program. The linker orders the program's functions by the seed; seed 0
    leaves them in their order. The functions of MProf's runtime follow them, as in every
    program. Returns the path."""
    command, objects = built[name, variant]
    to = os.path.join(REAL, file_name(name, variant))
    flags = []
    if seed:
        text = subprocess.run(["nm", "--defined-only", *objects], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        names = sorted(set(re.findall(r"^\S+ [TtWw] (\S+)$", text, re.M)))
        random.Random(seed).shuffle(names)
        with open(to + ".order", "w", encoding="utf-8") as f:
            f.write("\n".join(names) + "\n")
        flags = ["-Xlinker", "--symbol-ordering-file=" + to + ".order",
                 "-Wl,--no-warn-symbol-ordering"]
    subprocess.run([*command, "-fuse-ld=lld", *flags, *objects, "-lm", "-ldl", "-lpthread",
                    "-o", to], check=True)
    return to


# --- instructions ------------------------------------------------------------


def instructions():
    """The instructions of whole processes."""
    all_programs = [p for p in programs() if not QUICK or p.counted]
    built = compile_all(all_programs)
    rows = []
    for p in all_programs:
        log("instructions: " + p.name)
        counts = [count([link(built, p.name, v, 0), *p.counted],
                        mprof(OPTIONS) if VARIANTS[v][0] else {}) for v in VARIANTS]
        rows.append((p.name, "%.1f" % (counts[0] / 1e6),
                     *("%.3f" % (c / counts[0]) for c in counts[1:])))
    write_table("real-instructions", ("", "plain, millions", *list(VARIANTS)[1:]), rows)


# --- layouts: time -----------------------------------------------------------


def layouts():
    """The time of programs, over random layouts of each."""
    all_programs = programs()
    built = compile_all(all_programs)
    rows, bars = [], {}
    for p in all_programs:
        seconds, logs = [], {v: [] for v in list(VARIANTS)[1:]}
        with output_in_memory() as directory:
            for number in range(LAYOUTS):
                random.seed("%s %d" % (p.name, number))
                plain = new_layout(built, p, "plain", directory)
                for v in logs:
                    if v == "MProf" or number < FEWER:
                        other = new_layout(built, p, v, directory)
                        log_ratio, of_plain = compare(plain, other, p.is_alone)
                        logs[v].append(log_ratio)
                        seconds.append(of_plain)
        log("%d layouts: %s" % (LAYOUTS, p.name))
        ratios = {v: ratio(None, None, of) for v, of in logs.items()}
        rows.append((p.name, "%.3f" % median(seconds), *map(shown_ratio, ratios.values())))
        bars[p.name] = ratios["MProf"]
    write_table("real-layouts", ("", "plain, seconds", *logs), rows)
    draw("benchmarks-real.svg", "Time with MProf, to plain -O2, with 95 % intervals", bars)


def output_in_memory():
    """Makes a directory for the files that MProf writes, in memory where possible. A
    disk's file system takes longer the more files were removed lately."""
    empty_scratch()
    shm = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else SCRATCH)


def new_layout(built, p, variant, directory):
    """Links a new layout of the variant. Returns the arguments and the environment."""
    path = link(built, p.name, variant, random.randrange(1, 1 << 31))
    env = {"MPROF_BENCH_FILLER": "x" * random.randrange(4096)}
    if VARIANTS[variant][0]:
        env.update(mprof("%s:log_path=%s/%%e.%%p" % (OPTIONS, directory)))
    return [path, *(p.counted if QUICK else p.timed)], env


def compare(one, other, is_alone):
    """Compares two variants for some seconds. Returns the logarithm of the ratio of the
    times of `other` to those of `one`, and the median of the seconds of `one`.

    Other work on the host of a virtual machine slows all of its processors at the same
    time. So the two variants run at the same time, each on a processor of its own, and
    then both again with the processors exchanged."""
    cpus = sorted(os.sched_getaffinity(0))
    cpus = [cpus[0], cpus[-1]]
    logs, of_one = [], []
    end = time.monotonic() + SECONDS
    while not logs or time.monotonic() < end:
        seconds = []
        for at in (cpus, cpus[::-1]):
            if is_alone or cpus[0] == cpus[1]:
                seconds.append([wait(start(*v)).seconds for v in (one, other)])
            else:
                runs = [start(*v, cpu) for v, cpu in zip((one, other), at)]
                seconds.append([wait(r).seconds for r in runs])
        logs.append(sum(math.log(b / a) for a, b in seconds) / 2)
        of_one += [a for a, _ in seconds]
    return sum(logs) / len(logs), median(of_one)


PARTS = {"instructions": instructions, "layouts": layouts}
