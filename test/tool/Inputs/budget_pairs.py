# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts how often mprof diff is wrong about a budget of 5 %.

  budget_pairs.py MPROF PROGRAM PAIRS RATE FILES

Runs PROGRAM, which is built from budget_load.c with MProf, with the sampling period
RATE and another seed for each run. A pair has FILES profiles on each side. Prints the
share of pairs with a broken budget, for programs that allocate as much as before, 5 %
more and 10 % more, and how many comparisons said that the noise is too large.
"""

import os
import subprocess
import sys
import tempfile

MPROF, PROGRAM, PAIRS, RATE, FILES = (
    sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
seeds = iter(range(1, 1 << 30))


def profile(factor):
    seed = next(seeds)
    options = "heap_rate=%s:seed=%d:report=0:symbolize=0:log_path=p%d" % (RATE, seed, seed)
    subprocess.run([PROGRAM, "%g" % factor], check=True, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, MPROF_OPTIONS=options))
    name, = [n for n in os.listdir(".") if n.startswith("p%d." % seed)]
    return name


def judge(factor):
    """Returns the exit status for one pair, and whether the noise was too large."""
    old = [profile(1) for _ in range(FILES)]
    new = [profile(factor) for _ in range(FILES)]
    result = subprocess.run(
        [MPROF, "diff", "--fail-if", "alloc_space>+5%", *old, "--", *new],
        stdout=subprocess.PIPE, text=True)
    for name in old + new:
        os.remove(name)
    if result.returncode not in (0, 3):
        sys.exit("mprof diff: exit status %d" % result.returncode)
    return result.returncode == 3, "is too large" in result.stdout


os.chdir(tempfile.mkdtemp())
for growth in (0, 5, 10):
    results = [judge(1 + growth / 100) for _ in range(PAIRS)]
    broken = sum(is_broken for is_broken, _ in results)
    noisy = sum(is_noisy for _, is_noisy in results)
    print("growth %d %%: %d of %d pairs broken (%.1f %%), %d noisy"
          % (growth, broken, PAIRS, 100 * broken / PAIRS, noisy), flush=True)
