#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what MProf adds to a short process.

    short_runs.py [-n RUNS] [--files N] [--plain PROGRAM] [--llvm] PROGRAM [ARGUMENT...]

Runs PROGRAM, which is compiled with -fmprof, in turns:
  plain        the program that --plain names, compiled without -fmprof
  symbolize=0  without names of functions
  first run    with names of functions that no earlier run has kept
  default      with names that earlier runs have kept, except in the first turns
  llvm         with --llvm: with names from llvm-symbolizer
Each turn runs all of them once. Prints for each the median time of RUNS runs, its
quartiles, the median of the processor time of all processes together, and the peak
of the resident memory (RSS) of the largest process. --files sets the limit of open
files (RLIMIT_NOFILE). Compare the processor time if the machine has other work.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Prints the time and the processor time in ms, the peak of the resident memory of the largest descendant in
# KiB, and the exit status. A small process starts the program, because a child begins
# with the memory of its parent.
PEAK = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
int main(int argc, char **argv) {
  (void)argc;
  struct rusage of_all;
  double begin = now();
  pid_t pid = vfork();
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 1);
    dup2(null, 2);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  double ms = now() - begin;
  getrusage(RUSAGE_CHILDREN, &of_all);
  double cpu = (of_all.ru_utime.tv_sec + of_all.ru_stime.tv_sec) * 1e3 +
               (of_all.ru_utime.tv_usec + of_all.ru_stime.tv_usec) * 1e-3;
  printf("%f %f %ld %d\n", ms, cpu, of_all.ru_maxrss, status);
  return 0;
}
"""


def measure(launcher, command, options):
    environment = {k: v for k, v in os.environ.items() if k != "MPROF_OPTIONS"}
    if options is not None:
        environment["MPROF_OPTIONS"] = options
    out = subprocess.run([launcher] + command, env=environment, check=True,
                         capture_output=True, text=True).stdout
    ms, cpu, peak, status = out.split()
    if status != "0":
        sys.exit("short_runs.py: %s failed" % command[0])
    return float(ms), float(cpu), int(peak)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, metavar="RUNS")
    parser.add_argument("--files", type=int)
    parser.add_argument("--plain")
    parser.add_argument("--llvm", action="store_true")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    program = os.path.abspath(a.program)
    if a.files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (a.files, a.files))
    with tempfile.TemporaryDirectory() as d:
        os.environ["XDG_CACHE_HOME"] = d
        launcher = os.path.join(d, "launcher")
        subprocess.run(["cc", "-O2", "-static", "-x", "c", "-", "-o", launcher], input=PEAK,
                       text=True, check=True)
        log = "log_path=%s/profile" % d
        variants = {
            "symbolize=0": ([program], "symbolize=0:" + log),
            "first run": ([program], "symbolizer_cache=0:" + log),
            "default": ([program], log),
        }
        if a.plain:
            variants = {"plain": ([os.path.abspath(a.plain)], None), **variants}
        if a.llvm:
            symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
            variants["llvm"] = ([program], "external_symbolizer_path=%s:%s" % (symbolizer, log))
        times = {name: [] for name in variants}
        cpus = {name: [] for name in variants}
        peaks = {name: [] for name in variants}
        for _ in range(a.n):
            for name, (command, options) in variants.items():
                ms, cpu, peak = measure(launcher, command + a.arguments, options)
                times[name].append(ms)
                cpus[name].append(cpu)
                peaks[name].append(peak)
                for f in os.listdir(d):
                    if f.startswith("profile"):
                        os.unlink(os.path.join(d, f))
        for name in variants:
            q = statistics.quantiles(times[name], n=4)
            print("%-12s median %7.2f ms, quartiles %7.2f %7.2f; processor %7.2f ms; "
                  "peak median %6d KiB, largest %6d KiB" %
                  (name, q[1], q[0], q[2], statistics.median(cpus[name]),
                   statistics.median(peaks[name]), max(peaks[name])))


main()
