# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare_recovered.py WRITTEN RECOVERED: compares a profile that a process has
# written with the profile that mprof recover has made of its file. Samples with
# equal stacks and labels are added up. Of two values that differ, the sum of the
# times of waits may differ by 5 %. Prints the differences, and exits with 1 if
# there are any.

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import mprof_read


def without_name(text):
    """mprof recover also finds the names of locks that are global variables."""
    return re.sub(r"^.* \((0x[0-9a-f]+)\)$", r"\1", text)


def read(path):
    with open(path, "rb") as file:
        profile = mprof_read.Profile(file.read())
    raw = profile.raw
    mappings = {m.id: (m.memory_start, m.memory_limit, m.file_offset,
                       profile.text(m.filename), profile.text(m.build_id))
                for m in raw.mapping}
    places = {l.id: (l.address, mappings[l.mapping_id]) for l in raw.location}
    sums = {}
    for sample in raw.sample:
        labels = tuple(sorted((profile.text(l.key), without_name(profile.text(l.str)),
                               l.num) for l in sample.label))
        stack = tuple(places[i] for i in sample.location_id)
        row = sums.setdefault((stack, labels), [0] * len(sample.value))
        for i, value in enumerate(sample.value):
            row[i] += value
    types = [profile.text(t.type) for t in raw.sample_type]
    return types, sums


def equal(kind, a, b):
    return a == b or (kind == "delay" and abs(a - b) <= 0.05 * max(a, b))


def main():
    types, written = read(sys.argv[1])
    found_types, found = read(sys.argv[2])
    # The process has written this profile before its last event, the write.
    differences = [] if types == found_types else ["types: %s" % found_types]
    for key in sorted(set(written) | set(found), key=str):
        a = written.get(key, [0] * len(types))
        b = found.get(key, [0] * len(types))
        if not all(map(equal, types, a, b)):
            differences.append("%s: %s written, %s found" % (key, a, b))
    print("\n".join(differences) if differences else
          "%d samples are equal" % len(written))
    sys.exit(bool(differences) or not written)


main()
