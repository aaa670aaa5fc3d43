# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare_waits.py HOOKS BUILT PLAIN
#
# Compares the kinds of the waits of two runs of same-waits.cpp. HOOKS: hooks.def. BUILT,
# PLAIN: output of "mprof traces" for the program that was built with MProf and for the
# one that was not. Prints a table of the kinds in each function do_* of the program.
# Fails if a kind of hooks.def was recorded in no function, or if a function has other
# kinds in the two runs, unless the difference is listed below.

import collections
import re
import sys

# Kinds of functions with an attribute: only the pass knows the attributes.
OF_ATTRIBUTES = {"user", "call"}

# function: (kinds if built, kinds if not, reason)
LISTED = {
    "future": ("future", "futex", "libstdc++ waits by a system call of libc"),
    "static": ("once", "futex", "libstdc++ waits by a system call of libc"),
}


def kinds_by_function(path):
    found = collections.defaultdict(set)
    with open(path, encoding="utf-8") as f:
        for stack in f.read().split("\n\n"):
            kind = re.search(r"\bkind: (\w+)", stack)
            place = re.search(r"\bdo_(\w+)", stack)
            if kind and place:
                found[place.group(1)].add(kind.group(1))
    return found


def kinds_of_hooks(path):
    with open(path, encoding="utf-8") as f:
        return set(re.findall(r"^MPROF_KIND\((\w+),", f.read(), re.M))


def main():
    hooks, built, plain = sys.argv[1:]
    built, plain = kinds_by_function(built), kinds_by_function(plain)
    bad = []
    print("%-12s %-12s %-12s" % ("function", "built", "mprof run"))
    for name in sorted(built.keys() | plain.keys()):
        both = tuple(" ".join(sorted(v[name])) for v in (built, plain))
        reason = ""
        if name in LISTED:
            reason = LISTED[name][2]
            if both != LISTED[name][:2]:
                bad.append(name)
        elif both[0] != both[1]:
            bad.append(name)
        print(("%-12s %-12s %-12s %s" % (name, *both, reason)).rstrip())
    missing = kinds_of_hooks(hooks) - OF_ATTRIBUTES - set().union(*built.values())
    if missing:
        sys.exit("kinds in no function of the program: " + " ".join(sorted(missing)))
    if bad:
        sys.exit("differences that are not listed: " + " ".join(bad))


main()
