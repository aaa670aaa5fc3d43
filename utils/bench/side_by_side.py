# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the times of two variants of a program on a noisy machine.

Other work on the host of a virtual machine slows all of its processors at the same
time. So the two variants run at the same time, each on a processor of its own, and
then both again with the processors exchanged. What the host does meanwhile, and what
the two processors differ in, is then in both variants. A comparison of a program with
itself has a third of the variance that it has if the variants take turns.
"""

import math
import os
import statistics
import time

from running import start, wait


def processors():
    """Returns two processors, or the same one twice if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def together(one, other, at):
    """Runs two variants at the same time. at: their processors. Returns the seconds of
    both."""
    runs = [start(argv, env, cpu) for (argv, env), cpu in zip((one, other), at)]
    try:
        return [wait(r).seconds for r in runs]
    except SystemExit:
        for run in runs:
            run.process.kill()
        raise


def in_turns(one, other):
    """Runs two variants one after the other, on all processors."""
    return [wait(start(argv, env)).seconds for argv, env in (one, other)]


def exchange(one, other, alone):
    """Runs each of two variants twice. one, other: (argv, env). alone: the variants
    must not run at the same time. Returns the seconds of both as two lists."""
    cpus = processors()
    if alone or cpus[0] == cpus[1]:
        first, second = in_turns(one, other), in_turns(other, one)
    else:
        first, second = together(one, other, cpus), together(other, one, cpus)
    return (first[0], second[1]), (first[1], second[0])


def compare(one, other, seconds, alone=False):
    """Compares two variants for some seconds of time. Returns the ratio of the times of
    `other` to those of `one`, and the median of the seconds of `one`."""
    ratios, seconds_of_one = [], []
    end = time.monotonic() + seconds
    while not ratios or time.monotonic() < end:
        of_one, of_other = exchange(one, other, alone)
        ratios.append(sum(map(math.log, of_other)) - sum(map(math.log, of_one)))
        seconds_of_one += of_one
    return math.exp(statistics.fmean(ratios) / 2), statistics.median(seconds_of_one)
