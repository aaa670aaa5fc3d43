# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs and writes their results as JSON.

  measure.py heap|locks|trace|threads|real|preload [PART...]

Writes build/bench/heap.json, locks.json and so on. If PARTs are given, replaces only
these parts in the file.
"""

import importlib
import json
import os
import shutil
import sys
import time

import machine
from running import SCRATCH, empty_scratch, results_path


def write(path, results):
    """Replaces the file. Called after each part, so that a part that fails loses only
    its own results."""
    new = path + ".new"
    with open(new, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
        f.write("\n")
    os.replace(new, path)


def main():
    what, wanted = sys.argv[1], sys.argv[2:]
    measured = importlib.import_module("measure_" + what)
    output = results_path(what)
    unknown = set(wanted) - {p.__name__ for p in measured.PARTS}
    if unknown:
        sys.exit("bench: no part is called " + ", ".join(sorted(unknown)))
    begin = time.monotonic()
    empty_scratch()
    # If only some parts are wanted, keep the old results of the other parts.
    results = {}
    if wanted and os.path.exists(output):
        with open(output, encoding="utf-8") as f:
            results = json.load(f)
    results["machine"] = machine.describe(sys.argv[1:], measured.PACKAGES)
    for part in measured.PARTS:
        if not wanted or part.__name__ in wanted:
            results[part.__name__] = part()
            results["machine"]["minutes"] = round((time.monotonic() - begin) / 60, 1)
            write(output, results)
    shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    main()
