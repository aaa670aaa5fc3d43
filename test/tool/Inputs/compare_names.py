#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof symbolize and llvm-symbolizer about the same addresses of a file,
# and compares functions, files, lines and inlined functions. The addresses are
# one every STEP bytes of the sections with code.
#
# usage: compare_names.py MPROF LLVM_SYMBOLIZER FILE [STEP [MPROF_OPTION...]]
#
# --as=PATH among the options: the profile says that PATH was loaded; FILE is
# what llvm-symbolizer reads.
# Prints how many addresses have equal names, and each difference. Exits with 1 if
# there are any. Where llvm-symbolizer has no name and mprof has one, from a table
# that llvm-symbolizer does not read, the address counts as "only in mprof".

import gzip
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Inputs"))
import compare_symbolizers
import serve_names


def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(data):
    at = 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = take()
        if tag & 7 == 2:
            length = take()
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            yield tag >> 3, take()


def segments(file):
    out = subprocess.run(["readelf", "-lW", file], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            yield [int(w, 16) for w in words[1:6]]  # offset, address, -, size


def profile(path, build_id, offsets):
    strings = ["", "samples", "count", path, build_id]
    out = field(1, field(1, 1) + field(2, 2))
    limit = max(offsets) + 1
    out += field(3, field(1, 1) + field(3, limit) + field(5, 3) + field(6, 4))
    for i, offset in enumerate(offsets):
        out += field(4, field(1, i + 1) + field(2, 1) + field(3, offset))
        out += field(2, field(1, i + 1) + field(2, 1))
    return out + b"".join(field(6, s.encode()) for s in strings)


def names_in(data):
    """Returns {offset: [(function, file, line, start line)]}."""
    parts = {}
    for number, value in fields(data):
        parts.setdefault(number, []).append(value)
    strings = [s.decode(errors="replace") for s in parts[6]]
    functions = {}
    for function in parts.get(5, []):
        f = dict(fields(function))
        functions[f[1]] = (strings[f.get(2, 0)], strings[f.get(4, 0)], f.get(5, 0))
    result = {}
    for location in parts[4]:
        lines = []
        for number, value in fields(location):
            if number == 3:
                offset = value
            if number == 4:
                line = dict(fields(value))
                name, file, start = functions[line[1]]
                lines.append((name, file, str(line.get(2, 0)), str(start)))
        result[offset] = lines
    return result


def main():
    mprof, llvm, file = sys.argv[1:4]
    step = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    options, loaded = [], os.path.abspath(file)
    for o in sys.argv[5:]:
        if o.startswith("--as="):
            loaded = o[5:]
        else:
            options.append(o)
    file = os.path.abspath(file)
    addresses = [
        a
        for start, size in compare_symbolizers.text_sections(file)
        for a in range(start, start + size, step)
    ]
    loads = list(segments(file))
    offsets = [
        next(o + a - v for o, v, _, size, _ in loads if v <= a < v + size) for a in addresses
    ]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "p.pb.gz")
        with open(path, "wb") as out:
            out.write(gzip.compress(profile(loaded, serve_names.build_id(file), offsets)))
        subprocess.run([mprof, "symbolize", *options, path], check=True)
        with open(path, "rb") as named:
            ours = names_in(gzip.decompress(named.read()))
    equal = different = more = inlined = 0
    theirs = compare_symbolizers.ask_llvm(llvm, file, addresses)
    for address, offset, b in zip(addresses, offsets, theirs, strict=True):
        a = ours[offset]
        if compare_symbolizers.is_same(a, b):
            equal += 1
            inlined += len(a) > 1
        elif not b and len(a) == 1:
            more += 1
        else:
            different += 1
            if different <= 10:
                print("0x%x: mprof: %s\n    llvm-symbolizer: %s" % (address, a, b))
    print(
        "addresses: equal: %d, with inlined functions: %d, only in mprof: %d, different: %d"
        % (equal, inlined, more, different)
    )
    return different != 0 or equal == 0


sys.exit(main())
