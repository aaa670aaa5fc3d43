# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs parts of the benchmark.

  measure.py heap|locks|trace|threads|real|preload [PART...]
"""

import importlib
import sys

from bench import empty_scratch


def main():
    what, *names = sys.argv[1:]
    parts = importlib.import_module(what).PARTS
    unknown = set(names) - set(parts)
    if unknown:
        sys.exit("bench: %s has no part %s; these are %s" % (
            what, ", ".join(sorted(unknown)), ", ".join(parts)))
    for name in names or parts:
        empty_scratch()
        parts[name]()


if __name__ == "__main__":
    main()
