# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make TEMPLATE N: writes N libraries plugin.<number>.so. They differ from the
# template only in the number in a function's name and in the build id, so that
# each has the same code at the same offset.
# check PROFILE N: checks that each library has its own function exactly once,
# in a mapping with its own path and build id, and that no other block of 64
# bytes was counted.

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Inputs"))
import mprof_read  # noqa: E402

NAME, ID = "plugin_9999", "99" * 18 + "9999"


def make(template, count):
    with open(template, "rb") as file:
        data = file.read()
    assert NAME.encode() in data and bytes.fromhex(ID) in data
    for i in range(count):
        number = "%04d" % i
        copy = data.replace(NAME.encode(), b"plugin_" + number.encode())
        copy = copy.replace(bytes.fromhex(ID), bytes.fromhex(ID[:-4] + number))
        with open("plugin.%s.so" % number, "wb") as file:
            file.write(copy)


def check(path, count):
    with open(path, "rb") as file:
        profile = mprof_read.Profile(file.read())
    raw = profile.raw
    seen = {}
    samples = [sample for sample in raw.sample if sample.value[:2] == [1, 64]]
    for sample in samples:
        location = raw.location[sample.location_id[0] - 1]
        assert location.line, "a location without a name"
        function = raw.function[location.line[0].function_id - 1]
        name = profile.text(function.name)
        number = name.replace("plugin_", "")
        assert seen.setdefault(number, name) == name
        mapping = raw.mapping[location.mapping_id - 1]
        file = os.path.basename(profile.text(mapping.filename))
        assert file == "plugin.%s.so" % number, (name, file)
        build_id = profile.text(mapping.build_id)
        assert build_id == ID[:-4] + number, (name, build_id)
        callers = [
            profile.text(raw.function[line.function_id - 1].name)
            for i in sample.location_id[1:]
            for line in raw.location[i - 1].line
        ]
        assert callers[:2] == ["run", "main"], callers
    assert len(samples) == count, "%d samples" % len(samples)
    assert len(seen) == count, "%d functions" % len(seen)
    print("%d plugins" % len(seen))


command, path, count = sys.argv[1:]
{"make": make, "check": check}[command](path, int(count))
