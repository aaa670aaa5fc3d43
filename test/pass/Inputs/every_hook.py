# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make HOOKS: prints IR with one function for each hook, which calls it once.
# check HOOKS IR: checks what each of these functions has become.

import re
import sys

TYPES = {"v": "void", "p": "ptr", "z": "i64", "i": "i32"}
WORDS = {
    "ALLOC": ["heap_countdown"],
    "REALLOC": ["heap_countdown", "free_mask"],
    "FREE": ["free_mask"],
    "DELETE": ["delete_mask"],
    "DUP": [],
    "CALL": [],
}
# The functions of rule DUP whose sites test the countdown, each with the function
# that measures the string.
MEASURES = {"strdup": "@strlen", "strndup": "@strnlen"}


def hooks(path):
    line = re.compile(r'^MPROF_(JEMALLOC_|GC_|)HOOK\((\w+), "(\w+)", (\w+), (-?\d+), (-?\d+), (-?\d+)\)')
    found = [m.groups() for m in map(line.match, open(path)) if m]
    text = open(path).read()
    lines = len(re.findall(r"\nMPROF_(?:JEMALLOC_|GC_)?HOOK\(", text))
    assert len(found) == lines, "unread hooks"
    assert len(found) > 30
    return found


def make(path):
    print('target triple = "x86_64-pc-linux-gnu"')
    for _, symbol, proto, *_ in hooks(path):
        result, params = TYPES[proto[0]], [TYPES[c] for c in proto[1:]]
        args = ", ".join("%s %%a%d" % (t, i) for i, t in enumerate(params))
        print("declare %s @%s(%s)" % (result, symbol, ", ".join(params)))
        print("define %s @site_%s(%s) {" % (result, symbol, args))
        if result == "void":
            print("  call void @%s(%s)\n  ret void\n}" % (symbol, args))
        else:
            print("  %%r = call %s @%s(%s)" % (result, symbol, args))
            print("  ret %s %%r\n}" % result)


def check(path, ir):
    text = open(ir).read()
    for family, symbol, proto, rule, size, count, ptr in hooks(path):
        body = re.search(r"^define [^\n]*@site_%s\(.*?^}" % symbol, text, re.M | re.S)
        body = body.group(0)
        args = ", ".join("%s %%a%d" % (TYPES[c], i) for i, c in enumerate(proto[1:]))
        # These sites pass the size of the copy as one argument more.
        size_of_copy = r"(?:, i64 %\w+)?" if symbol in MEASURES else ""
        calls = re.findall(r"call \w+ (\S+)\(%s%s\)" % (re.escape(args), size_of_copy),
                           body.split("{", 1)[1])
        entry = "@__mprof_" + symbol
        if family:
            beneath = ["@" + symbol] * (rule != "CALL")
        else:
            word = ("free_off_page" if rule == "FREE"
                    else "sized_" + symbol if symbol in MEASURES else "next_" + symbol)
            beneath = re.findall(r"(%%\w+) = load ptr, ptr @__mprof_%s,.*\n"
                                 r" *(%%\w+) = call ptr asm \"\", [^\n]*\(ptr \1\)"
                                 % word, body)
            beneath = [in_register for _, in_register in beneath]
            has_test = rule != "DUP" or symbol in MEASURES
            assert len(beneath) == has_test, symbol
        if symbol in MEASURES:
            beneath = [MEASURES[symbol]] + beneath
        expected = beneath + [entry]
        assert calls == expected, (symbol, calls)
        words = sorted(set(re.findall(r"[@:]__mprof_(\w+_(?:mask|countdown))\b", body)))
        tested = ["heap_countdown"] if symbol in MEASURES else WORDS[rule]
        if symbol == "free":
            tested = []
            assert re.search(r"and i32 %\w+, 4095", body)
        assert words == sorted(tested), (symbol, words)
        if count != "-1":
            assert "mul i64 %%a%s, %%a%s" % (size, count) in body, symbol
        elif size != "-1":
            assert re.search(r"sub i64 %%\w+, %%a%s\b" % size, body), symbol
        if ptr != "-1" and rule != "CALL":
            assert "ptrtoint ptr %%a%s " % ptr in body, symbol
    print("%d hooks" % len(hooks(path)))


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(sys.argv[2], sys.argv[3])
