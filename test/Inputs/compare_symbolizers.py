#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof, as the runtime does, and llvm-symbolizer about the same addresses of a file,
# and compares the names. The addresses are all symbols of functions and, inside
# each function, one address every STEP bytes.
#
# usage: compare_symbolizers.py MPROF LLVM_SYMBOLIZER FILE [STEP]
#
# Prints how many addresses have equal names. Where only mprof has a name, from a
# table that llvm-symbolizer does not read, the names count as equal. So do those of
# call operators which GCC gives no linkage name, and mprof their class. Prints each
# difference and exits with 1 if there are any.

import functools
import json
import os
import re
import subprocess
import sys

import serve_names

PER_REQUEST = 1024


def text_sections(file):
    out = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        m = re.match(r" *\[ *\d+\] (\S+) +PROGBITS +(\w+) \w+ (\w+) \w+ +AX", line)
        if m:
            yield int(m[2], 16), int(m[3], 16)


def ask_mprof(program, file, addresses):
    child, ours = serve_names.start(program)
    replies = []
    id = serve_names.build_id(file)
    for i in range(0, len(addresses), PER_REQUEST):
        part = addresses[i:i + PER_REQUEST]
        serve_names.request(ours, file, id, part)
        end = len(replies) + len(part)
        while len(replies) < end:
            message = ours.recv(1 << 16)
            if not message:
                print("mprof has ended")
                sys.exit(1)
            at = 0
            while at < len(message):
                frames = []
                while message[at] != 0:
                    null = message.index(0, at)
                    frames.append(tuple(message[at:null].decode().split("\x1f")))
                    at = null + 1
                at += 1
                replies.append(frames)
    ours.close()
    child.wait()
    return replies


@functools.cache
def short(path):
    # As tools/mprof/names/source_path.c does.
    if "/." not in path and "//" not in path and not path.startswith("./"):
        return path
    flat = os.path.normpath(path)
    if os.path.isfile(path) and not (os.path.exists(flat) and os.path.samefile(path, flat)):
        return path
    return flat


def ask_llvm(program, file, addresses):
    lines = "".join('CODE "%s" 0x%x\n' % (file, a) for a in addresses)
    out = subprocess.run([program, "--inlines", "--functions=linkage", "--demangle",
                          "--output-style=JSON"], input=lines, capture_output=True, text=True,
                         check=True)
    for line in out.stdout.splitlines():
        yield [(s["FunctionName"], short(s["FileName"]), str(s["Line"]), str(s["StartLine"]))
               for s in json.loads(line).get("Symbol", []) if s["FunctionName"]]


def is_same(ours, theirs):
    """Returns whether the frames are equal, except for the class of a call operator."""
    return len(ours) == len(theirs) and all(
        a[1:] == b[1:] and (a[0] == b[0] or (b[0].startswith("operator()") and
                                             a[0].endswith("::operator()")))
        for a, b in zip(ours, theirs))


def main():
    mprof, llvm, file = sys.argv[1:4]
    step = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    file = os.path.abspath(file)
    addresses = [a for start, size in text_sections(file) for a in range(start, start + size, step)]
    ours = ask_mprof(mprof, file, addresses)
    different = 0
    for address, a, b in zip(addresses, ours, ask_llvm(llvm, file, addresses), strict=True):
        if not is_same(a, b) and (b or len(a) > 1):
            different += 1
            if different <= 10:
                print("0x%x: mprof: %s\n    llvm-symbolizer: %s" % (address, a, b))
    inlined = sum(len(a) > 1 for a in ours)
    print("addresses: equal: %d, with inlined functions: %d, different: %d" %
          (len(addresses) - different, inlined, different))
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
