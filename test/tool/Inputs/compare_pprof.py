# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares mprof top and mprof convert with go tool pprof.

    compare_pprof.py [--few] MPROF GO PROFILE...

For each profile and each of its value types, both tools must show the same
functions with the same values in the same order, also if a regular expression
or a label selects stacks. The expressions are names of functions of the profile.
The stacks of mprof convert --to=folded must be those of pprof -traces. With
--few, the script compares one random value type of each profile, and fewer
selections. Prints each difference, and exits with 1 if there is one. The last
line has the number of compared tables.
"""

import csv
import random
import re
import subprocess
import sys

UNITS = {"bytes": "B", "nanoseconds": "ns", "count": ""}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit("%s\n%s" % (" ".join(command), result.stderr))
    return result.stdout


def number(text):
    """Returns a number that pprof printed with -unit=B or -unit=ns."""
    return int(re.match(r"-?[0-9]+", text).group())


def types_of(mprof, path):
    rows = run(mprof, "info", path).splitlines()[1:]
    return [r.split()[0] for r in rows[: rows.index("")]]


def pprof_top(go, path, kind, unit, flags):
    text = run(
        go, "tool", "pprof", "-symbolize=none", "-top", "-nodecount=0",
        "-nodefraction=0", "-sample_index=" + kind, "-unit=" + unit, *flags, path
    )
    rows = []
    for line in text[text.index("flat  flat%") :].splitlines()[1:]:
        words = line.split(None, 5)
        name = re.sub(r" \((partial-)?inline\)$", "", words[5])
        rows.append((number(words[0]), number(words[3]), name))
    return rows


def mprof_top(mprof, path, kind, flags):
    text = run(
        mprof, "top", "--std", "--full-names", "--format=csv", "-n0",
        "--sample=" + kind, *flags, path
    )
    rows = list(csv.reader(text.splitlines()))[1:]
    unit = rows[0][2] if rows else "count"
    return [(int(r[0]), int(r[1]), r[3]) for r in rows], unit


def pprof_stacks(go, path, kind, unit):
    """Returns stack (leaf first) -> sum of the values."""
    text = run(
        go, "tool", "pprof", "-symbolize=none", "-traces", "-sample_index=" + kind,
        "-unit=" + unit, path
    )
    sums = {}
    for block in re.split(r"^-+\+-+$", text, flags=re.M)[1:]:
        value, stack = None, []
        for line in block.splitlines():
            m = re.match(r"\s*(-?[0-9]+)[a-zA-Z]*\s{3}(\S.*)$", line)
            if m:
                value = int(m.group(1))
                stack = [m.group(2)]
            elif value is not None and line.strip():
                stack.append(line.strip())
        stack = [re.sub(r" \((partial-)?inline\)$", "", f) for f in stack]
        if value:
            sums[tuple(stack)] = sums.get(tuple(stack), 0) + value
    return {k: v for k, v in sums.items() if v}


def mprof_stacks(mprof, path, kind):
    text = run(
        mprof, "convert", "--to=folded", "--full-names", "--sample=" + kind, path
    )
    sums = {}
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        sums[tuple(reversed(stack.split(";")))] = int(value)
    return {k: v for k, v in sums.items() if v}


def selections(rows, rng, few):
    """Yields pairs of equal flags, for mprof and for pprof."""
    yield [], []
    names = [re.escape(r[2]) for r in rows]
    if few and len(names) > 2:
        a, b = rng.sample(names, 2)
        yield ["--focus=" + a, "--ignore=" + b], ["-focus=" + a, "-ignore=" + b]
        yield ["--hide=" + a], ["-hide=" + a]
        return
    for _ in range(2):
        if len(names) < 2:
            return
        a, b = rng.sample(names, 2)
        yield ["--focus=" + a], ["-focus=" + a]
        yield ["--ignore=" + a], ["-ignore=" + a]
        yield ["--hide=" + a], ["-hide=" + a]
        yield ["--focus=" + a, "--ignore=" + b], ["-focus=" + a, "-ignore=" + b]
    yield ["--label=customer=c1"], ["-tagfocus=customer=^c1$"]


def compare(mprof, go, path, kind, rng, few):
    everything, unit = mprof_top(mprof, path, kind, [])
    bad = tables = 0
    got = mprof_stacks(mprof, path, kind)
    want = pprof_stacks(go, path, kind, UNITS[unit] or "auto")
    if got != want:
        bad += 1
        print("%s %s: stacks differ: %s" % (path, kind, set(got.items()) ^ set(want.items())))
    for ours, theirs in selections(everything, rng, few):
        got, _ = mprof_top(mprof, path, kind, ours)
        want = pprof_top(go, path, kind, UNITS[unit] or "auto", theirs)
        # pprof leaves out functions whose values are 0.
        got = [r for r in got if r[0] or r[1]]
        want = [r for r in want if r[0] or r[1]]
        # pprof sorts rows without a value of their own by name.
        own = [r for r in want if r[0]]
        rest = [r for r in want if not r[0]]
        want = own + sorted(rest, key=lambda r: (-abs(r[1]), r[2]))
        tables += 1
        if got != want:
            bad += 1
            print("%s %s %s differs" % (path, kind, ours))
            for a, b in zip(got + [None] * len(want), want + [None] * len(got)):
                if a != b:
                    print("  mprof: %s\n  pprof: %s" % (a, b))
                    break
    return bad, tables


def main():
    few = sys.argv[1] == "--few"
    mprof, go, *paths = sys.argv[1 + few :]
    rng = random.Random(1)
    bad = tables = 0
    for path in paths:
        kinds = types_of(mprof, path)
        for kind in [rng.choice(kinds)] if few else kinds:
            b, t = compare(mprof, go, path, kind, rng, few)
            bad += b
            tables += t
    print("%d tables of %d profiles, %d differ" % (tables, len(paths), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
