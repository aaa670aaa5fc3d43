# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cpu_check.py [--max-sigmas N] PROFILE TRUTH: compares a CPU profile with times.

Each line of the file TRUTH is "NAME NS" or "total NS": the processor time that the
function NAME, or the process, has really used. The profile must show each of them
within N (default 5) standard deviations. The samples of a thread have a fixed period,
so a sum of n samples deviates less than the square root of n periods.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mprof_read

parser = argparse.ArgumentParser()
parser.add_argument("--max-sigmas", type=float, default=5)
parser.add_argument("profile")
parser.add_argument("truth")
options = parser.parse_args()

reader = [sys.executable, mprof_read.__file__]


def read(*arguments):
    import subprocess

    return subprocess.run([*reader, *arguments, options.profile], check=True, capture_output=True, text=True).stdout


lines = read().splitlines()
assert "sample_types: samples/count cpu/nanoseconds" in lines, lines[:5]
period = int([line for line in lines if line.startswith("period: cpu/nanoseconds")][0].split()[-1])
bad = 0
for line in open(options.truth):
    name, truth = line.split()
    out = read("--totals") if name == "total" else read("--by-function", name)
    prefix = "total:" if name == "total" else "cum %s:" % name
    values = [row.split() for row in out.splitlines() if row.startswith(prefix)]
    found = int(values[0][-1].split("=")[1]) if values else 0
    sigmas = (found - int(truth)) / (int(truth) * period) ** 0.5
    print("%s: %d ns, really %s ns, %.1f sigmas" % (name, found, truth, sigmas))
    bad += abs(sigmas) > options.max_sigmas
sys.exit(bad != 0)
