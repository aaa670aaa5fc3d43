# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare_holders.py TOP MUTEX: compares the table of holders in the output of
# mprof trace top with a mutex profile, as mprof_read.py prints it. Both must
# have the same functions, with equal numbers of unlocks and equal times, but
# for the rounding of the printed times.

import re
import sys

UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9}
TITLE = "Where locks were released that other threads waited for\n"


def holders_of_trace(text):
    found = {}
    table = text[text.index(TITLE) + len(TITLE) :].split("\n\n")[0]
    for line in table.splitlines()[1:]:
        total, unit, count, function = re.match(
            r" *([\d.]+) (us|ms|s) +(\d+) +[\d.]+ (?:us|ms|s) +(\S+) ", line
        ).groups()
        found[function] = (int(count), float(total) * UNITS[unit])
    return found


def holders_of_profile(text):
    found = {}
    for line in text.splitlines():
        sample = re.match(r"sample: (\d+) (\d+) kind=mutex .*: \S+ <- (\S+)", line)
        if sample:
            count, ns = found.get(sample[3], (0, 0))
            found[sample[3]] = (count + int(sample[1]), ns + int(sample[2]))
    return found


def main(top, mutex):
    with open(top) as f:
        trace = holders_of_trace(f.read())
    with open(mutex) as f:
        profile = holders_of_profile(f.read())
    assert trace.keys() == profile.keys(), (trace, profile)
    for function, (count, ns) in trace.items():
        assert count == profile[function][0], (function, trace, profile)
        assert abs(ns - profile[function][1]) <= 1e3 + 0.001 * ns, (
            function,
            trace,
            profile,
        )


main(*sys.argv[1:])
