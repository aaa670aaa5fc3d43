# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the instructions of short loads with the stored table gate.txt.

  gate.py          compares; the exit status is 1 if a load has more instructions
  gate.py --write  writes the table anew from this machine's counts

run.sh gate builds the programs and calls this script. Each load is built without MProf
(plain) and with MProf. callgrind counts the load's instructions, those of libc
included. The environment, the directory, the seed of the samples and libc's choice of
string functions are fixed, so two counts of one program are equal or almost equal, and
a single instruction more in a fast path shows.

Counts of another machine may differ, because another clang makes other code and
another libc has other functions. The plain program shows this. If its count is not the
stored one, the script compares only what MProf adds to the plain program, with a wider
limit, and says so.
"""

import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time

from bench import DIR, first_line

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate.txt")
COMMAND = "utils/bench/run.sh gate --write"
LIMIT = 0.002  # largest rise, as a part of the stored count
# The same for a load that looks up each block: the addresses decide which keys share a
# list of a hash table, and so how long a search takes.
LIMIT_OF_TABLES = 0.01
# The same for a load that writes a trace: on a busy machine, times are larger numbers,
# which have more bytes.
LIMIT_OF_TRACES = 0.01
# Largest difference of two counts of the same plain program: the start of a process has
# some instructions more or fewer.
NOISE = 0.0005
# Largest rise if the plain program differs from the stored one: another compiler may
# choose one instruction more or fewer at a site.
LIMIT_ELSEWHERE = 0.01

# libc uses the functions that all x86-64 processors can run.
TUNABLES = "glibc.cpu.hwcaps=" + ",".join("-" + name for name in (
    "AVX_Fast_Unaligned_Load", "AVX512F", "AVX512VL", "AVX512BW", "AVX2", "AVX",
    "BMI1", "BMI2", "LZCNT", "MOVBE", "ERMS", "FSRM", "RTM", "SSSE3", "SSE4_1",
    "SSE4_2", "POPCNT"))

# program: "gate-frames" is "gate" with -fmprof-unwind=frames.
# options: added to OPTIONS; None: MPROF_OPTIONS is not set. function: callgrind counts
# its instructions and those of the functions that it calls; None: those of the whole
# process. limit: the largest rise.
Load = collections.namedtuple(
    "Load", "name program arguments options function limit", defaults=(LIMIT,))

COUNTED = "gate_counted"
OPTIONS = "seed=1:quiet=1:profile=0:report=0:symbolize=0:log_path=gate"
LOADS = (
    Load("start", "gate", ["start", "0"], None, None),
    Load("ring", "gate", ["ring", "200000"], "", COUNTED),
    Load("ring, heap=0", "gate", ["ring", "10000"], "heap=0", COUNTED),
    Load("ring, exact", "gate", ["ring", "5000"], "heap_rate=1", COUNTED,
         LIMIT_OF_TABLES),
    Load("ring, exact, frames", "gate-frames", ["ring", "5000"], "heap_rate=1",
         COUNTED, LIMIT_OF_TABLES),
    Load("lifo", "gate", ["lifo", "20000"], "", COUNTED),
    Load("objects", "gate", ["objects", "20000"], "", COUNTED),
    Load("tree", "gate", ["tree", "20000"], "", COUNTED),
    Load("strings", "gate-strings", ["200", "1"], "", "_ZL4loopill"),
    Load("mutex, off", "gate", ["mutex", "5000"], "", COUNTED),
    Load("mutex, on", "gate", ["mutex", "5000"],
         "block_rate=1:mutex_fraction=1", COUNTED),
    Load("mutex, 2 threads, off", "gate", ["threads", "5000"], "", COUNTED),
    Load("mutex, 2 threads, on", "gate", ["threads", "5000"],
         "block_rate=1:mutex_fraction=1", COUNTED),
    Load("rwlock, off", "gate", ["rwlock", "5000"], "", COUNTED),
    Load("rwlock, on", "gate", ["rwlock", "5000"],
         "block_rate=1:mutex_fraction=1", COUNTED),
    Load("calls, off", "gate", ["calls", "2000"], "", COUNTED),
    Load("region, off", "gate", ["region", "5000"], "", COUNTED),
    Load("region, on", "gate", ["events", "1000"], "trace=1", COUNTED,
         LIMIT_OF_TRACES),
    Load("region, on, frames", "gate-frames", ["events", "1000"], "trace=1",
         COUNTED, LIMIT_OF_TRACES),
    Load("recursion", "gate", ["recurse", "1000"], "", COUNTED),
    *(Load("library, " + name, "gate-library", [load, "5000"], "", COUNTED)
      for name, load in (
          ("free(NULL)", "free-null"), ("malloc", "malloc"),
          ("calloc", "calloc"), ("realloc", "realloc"),
          ("delete NULL", "delete-null"), ("new", "new"),
          ("regexec", "regexec"))),
)

Counts = collections.namedtuple("Counts", "plain mprof")


# --- counts ------------------------------------------------------------------


def count(load, variant):
    """Returns the number of instructions of a load. The program runs in a fixed
    environment, because the size of the environment moves the stack."""
    flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
    if load.function:
        flags += ["--demangle=no", "--toggle-collect=" + load.function]
    env = {"LC_ALL": "C", "GLIBC_TUNABLES": TUNABLES}
    if load.options is not None:
        env["MPROF_OPTIONS"] = OPTIONS + ":" + load.options
    argv = [shutil.which("valgrind"), *flags, "./%s-%s" % (load.program, variant),
            *load.arguments]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, cwd=DIR, check=False, env=env)
    text = done.stdout.decode(errors="replace")
    found = re.search(r"Collected : (\d+)", text)
    if done.returncode != 0 or not found:
        sys.exit("gate: %s: exit code %d\n%s" % (
            " ".join(argv), done.returncode, text))
    return int(found.group(1))


def count_all():
    """Returns {name of a load: Counts}. Removes the traces that the loads write."""
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {load.name: [pool.submit(count, load, variant)
                                for variant in Counts._fields] for load in LOADS}
            return {name: Counts(*(job.result() for job in both))
                    for name, both in jobs.items()}
    finally:
        for path in glob.glob(os.path.join(glob.escape(DIR), "gate.*.trace")):
            os.unlink(path)


def versions():
    return {"clang": first_line("clang-19", "--version"),
            "libc": first_line("dpkg-query", "-W", "-f", "${Version}",
                               "libc6:" + first_line("dpkg", "--print-architecture")),
            "valgrind": first_line("valgrind", "--version")}


# --- the table ---------------------------------------------------------------

HEAD = """\
# Instructions of short loads, for utils/bench/run.sh gate. Do not edit: this file is
# written by
#   %s
# plain: the program without MProf; mprof: with MProf and default options, and the
# options in the name of the load. "start" counts the whole process, the others one
# function of the program.
""" % COMMAND


def write_table(path, counts, made_with):
    lines = [HEAD]
    lines += ["# %s: %s\n" % item for item in made_with.items()]
    lines.append("\n%-21s %12s %12s %8s\n" % ("# load", "plain", "mprof", "ratio"))
    lines += ["%-21s %12d %12d %8.4f\n" % (name, *of, of.mprof / of.plain)
              for name, of in counts.items()]
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(lines)


def read_table(path):
    """Returns {name of a load: Counts} and {program: version}."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    counts = {name: Counts(int(plain), int(mprof)) for name, plain, mprof in
              re.findall(r"^([^#\s].*?) +(\d+) +(\d+) +[\d.]+$", text, re.M)}
    return counts, dict(re.findall(r"^# (clang|libc|valgrind): (.*)$", text, re.M))


# --- the comparison ----------------------------------------------------------


# expected: the count that the load should have; rise: a part of it; is_exact: whether
# the whole count was compared, not only what MProf adds to the plain program.
Verdict = collections.namedtuple("Verdict", "expected rise limit is_exact")


def judge(stored, now, is_same_software, limit):
    """Compares a load's counts with the stored ones."""
    is_same_plain = abs(now.plain / stored.plain - 1) <= NOISE
    if is_same_software and is_same_plain:
        expected = stored.mprof
    else:
        expected = now.plain + stored.mprof - stored.plain
        limit = max(limit, LIMIT_ELSEWHERE)
    return Verdict(expected, now.mprof / expected - 1, limit,
                   is_same_software and is_same_plain)


def compare(stored, now, is_same_software):
    """Prints a line for each load. Returns whether no load has too many instructions."""
    rose, fell, elsewhere = [], [], []
    form = "%-21s %12s %12s %8s %9s %9s"
    print(form % ("load", "stored", "now", "change", "to plain", "stored"))
    limits = {load.name: load.limit for load in LOADS}
    for name, of in now.items():
        was = stored[name]
        verdict = judge(was, of, is_same_software, limits[name])
        print(form % (name, verdict.expected, of.mprof,
                      "%+.2f%%" % (100 * verdict.rise),
                      "%.4f" % (of.mprof / of.plain),
                      "%.4f" % (was.mprof / was.plain)))
        elsewhere += [] if verdict.is_exact else [name]
        fell += [name] if verdict.rise < -verdict.limit else []
        if verdict.rise > verdict.limit:
            rose.append((name, verdict.expected, of.mprof, 100 * verdict.rise,
                         100 * verdict.limit))
    for each in rose:
        print("gate: %s: %d instructions stored, %d now: %.2f %% more, at most %.1f %% "
              "are allowed" % each)
    if rose:
        print("gate: if this is intended, write the table anew: " + COMMAND)
    if elsewhere:
        print("gate: the plain programs or the software differ from those of the "
              "table. The gate compared only what MProf adds to the plain program "
              "and let it rise by %.1f %%, for: %s" % (
                  100 * LIMIT_ELSEWHERE, "; ".join(elsewhere)))
    if fell:
        print("gate: fewer instructions than stored: %s. To keep the gain, write the "
              "table anew: %s" % ("; ".join(fell), COMMAND))
    return not rose


def main():
    begin = time.monotonic()
    is_writing = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not is_writing:
        sys.exit("usage: gate.py [--write]")
    made_with = versions()
    now = count_all()
    seconds = time.monotonic() - begin
    if is_writing:
        write_table(TABLE, now, made_with)
        print("gate: wrote %s in %.0f seconds" % (TABLE, seconds))
        return 0
    stored, stored_with = read_table(TABLE)
    if set(stored) != set(now):
        print("gate: the table has other loads than the script; write it anew: %s" %
              COMMAND)
        return 1
    for name in made_with:
        if made_with[name] != stored_with.get(name):
            print("gate: %s: the table was made with %s, this is %s" % (
                name, stored_with.get(name), made_with[name]))
    good = compare(stored, now, made_with == stored_with)
    print("gate: %d loads in %.0f seconds: %s" % (
        len(now), seconds, "good" if good else "FAILED"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
