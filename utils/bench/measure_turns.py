# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares malloc and free with plain's, precisely enough to see 0.5 %.

A process of each variant lives for many turns. The two take turns of some milliseconds,
in the order plain, MProf, MProf, plain. Such a block of four turns has one ratio, in
which a steady change of the machine's speed cancels out. The ratio of two processes is
the median of their blocks. The time is processor time, so other programs that take the
processor disturb little.

The layout of a program and the addresses that a process happens to get change its time
by some per cent, and a few processes are a quarter slower. So there are many layouts,
each linked anew and run in several processes. The ratio of a layout is the median of its
processes.
"""

import os
import random
import statistics
import subprocess
import sys

import layout
import side_by_side
from running import DIR, QUICK, SCRATCH, TOP, empty_scratch, log, mprof, spawn

LAYOUTS = 2 if QUICK else 40
PROCESSES = 1 if QUICK else 3  # of each variant, one after the other, in each layout
BLOCKS = 2 if QUICK else 6  # of four turns, of each process
# Blocks that do not count. In the first ones, the samples of ring find new stacks.
WARM_UP = 1 if QUICK else 8
# Pairs of malloc and free in a turn of each thread: about 10 ms. Shorter turns would
# measure cold caches.
PAIRS = 20000 if QUICK else 1000000
# The default options. Names at exit are left out, because they take longer than a turn.
OPTIONS = "symbolize=0"
COMPILERS = {
    "plain": ["clang-19"],
    "mprof": [os.path.join(TOP, "build/bin/mprof-clang"), "-fmprof"],
    "countdown": ["clang-19"],
    "sampler": ["clang-19"],
}
# Other comparisons with plain, which show what the cost consists of: {name: (variant,
# options)}. Each layout has one process of each.
OTHERS = {"off": ("mprof", OPTIONS + ":heap=0"), "countdown": ("countdown", ""),
          "sampler": ("sampler", "")}
LOADS = [(kind, threads) for kind in ("ring", "lifo") for threads in (1, 2)]


class Player:
    """A process that runs a turn whenever it is told to (pair.c)."""

    def __init__(self, argv, env, cpu):
        self.process = spawn(argv, env, cpu, subprocess.PIPE, subprocess.PIPE)
        self.waits = 0  # how often its threads have waited during turns

    def fail(self, text):
        sys.exit("bench: %s: %s" % (" ".join(self.process.args),
                                    text.decode(errors="replace")))

    def turn(self):
        """Runs a turn. Returns its nanoseconds per pair."""
        try:
            self.process.stdin.write(b"t")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the process has ended, and the output says why
        line = self.process.stdout.readline()
        try:
            ns, waits = line.split()
            self.waits += int(waits)
            return float(ns)
        except ValueError:
            self.fail(line + self.process.communicate()[0])

    def end(self):
        text = self.process.communicate()[0]
        if self.process.returncode != 0:
            self.fail(b"exit code %d: %s" % (self.process.returncode, text))


def ratio_of_blocks(plain, other, blocks):
    """Lets two Players take turns. Returns the median of the ratios of all blocks, and
    the median of plain's nanoseconds."""
    ratios, ns = [], []
    for i in range(-WARM_UP, blocks):
        first = plain.turn()
        of_other = other.turn() + other.turn()
        last = plain.turn()
        if i >= 0:
            ratios.append(of_other / (first + last))
            ns += [first, last]
    return statistics.median(ratios), statistics.median(ns)


def compare(linked, arguments, cpu):
    """Runs a process of each variant. linked: [(program, environment)] of plain and MProf.
    Returns the ratio, plain's nanoseconds, and how often the threads of each waited."""
    players = [Player([path, *arguments], env, cpu) for path, env in linked]
    ratio, ns = ratio_of_blocks(*players, BLOCKS)
    for player in players:
        player.end()
    return ratio, ns, [player.waits for player in players]


def link(variant, numbers):
    """Links a new layout of the variant. Returns the program and an environment."""
    to = os.path.join(SCRATCH, "pair-turns-" + variant)
    seed = layout.new_seed(numbers)
    layout.make_gaps(seed, to + "-gaps.o")
    layout.link(COMPILERS[variant],
                [to + "-gaps.o", os.path.join(DIR, "pair-turns-%s.o" % variant)],
                ["-lpthread"], seed, to)
    return to, layout.environment(numbers)


def with_options(linked, options):
    path, env = linked
    return path, {**env, **mprof(options)}


def turns():
    """Returns {load: {"ratio": [of each layout], "processes": [ratio of each process],
    "plain": [ns of each process], "waits": [how often plain's threads waited, and
    MProf's], name in OTHERS: [ratio of each layout]}}."""
    results = {"%s/%d" % load: {"ratio": [], "processes": [], "plain": [], "waits": [0, 0],
                                **{name: [] for name in OTHERS}} for load in LOADS}
    seed = random.randrange(1 << 31)
    log("turns: seed of the layouts: %d" % seed)
    numbers = {v: random.Random("%s %d" % (v, seed)) for v in COMPILERS}
    for i in range(LAYOUTS):
        empty_scratch()
        linked = {v: link(v, numbers[v]) for v in COMPILERS}
        pair = [linked["plain"], with_options(linked["mprof"], OPTIONS)]
        for kind, threads in LOADS:
            of = results["%s/%d" % (kind, threads)]
            arguments = [kind, str(threads), str(PAIRS), "turns"]
            # A thread of plain and one of MProf use the same processor.
            cpu = side_by_side.processors()[i % 2] if threads == 1 else None
            for _ in range(PROCESSES):
                ratio, ns, waits = compare(pair, arguments, cpu)
                of["processes"].append(ratio)
                of["plain"].append(ns)
                of["waits"] = [a + b for a, b in zip(of["waits"], waits)]
            of["ratio"].append(statistics.median(of["processes"][-PROCESSES:]))
            for name, (variant, options) in OTHERS.items():
                other = with_options(linked[variant], options)
                of[name].append(compare([linked["plain"], other], arguments, cpu)[0])
        log("turns: layout %d of %d" % (i + 1, LAYOUTS))
    return results
