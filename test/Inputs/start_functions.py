# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: start_functions.py CALLGRIND NM LIMIT
#
# Reads the functions that a program has executed from a file of callgrind, and
# their addresses from the output of nm. Prints the functions of the runtime that
# lie outside the range of LIMIT bytes with the most functions. Also prints the
# functions of libc for texts and memory that these functions call.

import re
import sys

# Functions of the program, of the C library's start files and of libc_nonshared.a.
FOREIGN = re.compile(r"\(below main\)|main|_start|0x[0-9a-f]+|_GLOBAL__.*|"
                     r"atexit|at_quick_exit|pthread_atfork")


TEXT = re.compile(r"(__)?(str|mem|rawmem|bcmp|stpcpy|r?index)[a-z]*(_.*)?")


def executed(path):
    names, result, called, is_program = {}, set(), set(), False
    for line in open(path, encoding="utf-8"):
        m = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
        if not m:
            continue
        key = (m[2], m[3])
        if m[4]:
            names[key] = m[4].strip()
        if m[1] == "" and m[2] == "ob":
            # valgrind takes code outside of .text for code of an unknown object.
            is_program = names[key].endswith("/app") or names[key] == "???"
        if m[2] == "fn" and is_program:
            (called if m[1] else result).add(names[key])
    return ({f for f in result if not FOREIGN.fullmatch(f)},
            {f for f in called if TEXT.fullmatch(f)})


def main():
    functions, texts = executed(sys.argv[1])
    limit = int(sys.argv[3])
    places = []
    for line in open(sys.argv[2], encoding="utf-8"):
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tT" and fields[2] in functions:
            places.append((int(fields[0], 16), fields[2]))
    ranges = [{name for at, name in places if begin <= at < begin + limit}
              for begin, _ in places]
    best = max(ranges, key=len)
    print("together:", len(best))
    for name in sorted(functions - best):
        print("elsewhere:", name)
    for name in sorted(texts):
        print("of libc:", name)


main()
