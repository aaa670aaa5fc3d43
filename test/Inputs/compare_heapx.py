# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare_heapx.py PROFILE [TRUTH]: compares a heapx profile with the expected
# values, which the program of a test has printed to the file TRUTH or to stdin.
# Each line of TRUTH is for all blocks of one size, summed over their stacks:
#
#   100 temporary_objects=7 moved=3 slack_space=90..110
#
# Values that a line does not name are not compared; FROM..TO is a range. Any
# other line is an error. The differences are printed, and the exit status is
# then 1.

import sys

import mprof_read


def of_profile(path):
    with open(path, "rb") as file:
        profile = mprof_read.Profile(file.read())
    names = [profile.text(t.type) for t in profile.raw.sample_type]
    sums = {}
    for sample in profile.raw.sample:
        labels = {profile.text(label.key): label.num for label in sample.label}
        row = sums.setdefault(labels.get("bytes", 0), [0] * len(names))
        for i, value in enumerate(sample.value):
            row[i] += value
    return names, sums


def main():
    names, sums = of_profile(sys.argv[1])
    truth = open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin
    lines = differences = 0
    for line in truth:
        size, *values = line.split()
        row = sums.get(int(size), [0] * len(names))
        lines += 1
        for name, value in (v.split("=") for v in values):
            low, _, high = value.partition("..")
            found = row[names.index(name)]
            if not float(low) <= found <= float(high or low):
                print("%s: %s is %d, not %s" % (size, name, found, value))
                differences += 1
    if lines == 0:
        sys.exit("no truth to compare with")
    sys.exit(differences > 0)


main()
