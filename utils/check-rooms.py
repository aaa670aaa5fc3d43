#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check-rooms.py --files: lists the source files, each with the first sentence of the
# comment in NAME.c, or in NAME.h if NAME.c has none. The rooms of the runtime come first,
# from the lowest to the highest.
#
# check-rooms.py [BUILD]: checks the references between the source files of a
# build tree (default: build). A room is a directory of rt/. A unit is NAME.c (or
# NAME.cpp) together with NAME.h. Unit A refers to unit B if A includes B's header,
# or if A's object uses a symbol that B's object defines. The script prints each
# violation of these rules, and exits with 1 if there is any:
#
#   - a unit of rt/ refers only to its own room and to rooms before it (ROOMS),
#     unless the pair is in EXCEPTIONS, or a header in REPORTS declares the symbol;
#   - a circle of references in rt/, pass/, tools/trace or tools/mprof has at most 6
#     units. In rt/, only uses of symbols count for circles;
#   - a symbol that a unit of rt/ defines and other units use is declared in a header
#     of its room;
#   - each unit begins with a comment, in NAME.h or NAME.c, that says what it does;
#   - comments, and docs/how-it-works.md, name no source file that does not exist.
#
# These uses of a symbol are not references: a weak use, because the symbol may be
# missing; a use of a symbol of the program, such as malloc; a use of __mprof_*,
# which instrumented code uses and hooks.def declares.

import collections
import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The rooms of rt/. The units of a room may refer to this room and to the rooms
# before it in the list.
ROOMS = {
    "sys": "system calls, locks, memory, clock, messages",
    "options": "the options, and the list of profiles",
    "process": "the state of the process, its modules, signals and helpers",
    "unwind": "finds the return addresses of the stack frames",
    "thread": "the program's threads, and their labels",
    "bucket": "buckets of stacks, and their counters",
    "lock_wait": "locks, waits and contention",
    "thread_stacks": "the stacks of all threads, and where each one waits",
    "cpu": "timers and samples of the CPU profile",
    "file": "output files",
    "symbolize": "names of addresses",
    "heap": "counts allocations and frees",
    "memory": "mapped memory, and what resident memory is used for",
    "stuck": "threads that will never run again",
    "snapshot": "copies of the counters, and their sums by stack",
    "write": "the kinds of profiles, their formats and the report",
    "trace": "the execution trace",
    "http": "answers requests for the profiles of the running program",
    "entry": "functions that instrumented code calls",
    "preload": "functions of libc that uninstrumented programs call",
    "api": "functions that programs call: records, files, rates",
    ".": "start, exit and signals, which use all rooms",
}

# References to a later room that are allowed: {(from, to): reason}. These
# references do not count for circles. There may be at most 10 of them.
EXCEPTIONS = {
    (
        "process/process",
        "init",
    ): "the first event of a process starts the runtime, before any constructor",
    (
        "entry/entry_leave",
        "init",
    ): "_exit and exec write the profiles before they leave the process",
}

# The headers by which rooms report events to a later room. Such a report is no reference,
# so all rooms may include these headers and call their functions.
REPORTS = {
    "trace/trace_events": "waits, threads and the heap report to the trace",
    "thread_stacks/thread_wait": "waits and threads report to the collection of stacks",
}

MAX_CIRCLE = 6


def sources(folder):
    out = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [f for f in out if re.search(r"\.(c|cpp|h)$", f) and "/musl/" not in f]


def unit_of(path, folder):
    return os.path.splitext(os.path.relpath(path, folder))[0]


def includes(path, folder, units):
    text = open(os.path.join(TOP, path)).read()
    for name in re.findall(r'^#include "([^"]+)\.h"', text, re.M):
        for unit in (name, os.path.join(os.path.dirname(unit_of(path, folder)), name)):
            unit = os.path.normpath(unit)
            if unit in units:
                yield unit
                break


def symbols(build, folder, units):
    defined, used = {}, collections.defaultdict(set)
    unit_at = {}
    for path in glob.glob(os.path.join(build, folder, "CMakeFiles/*.dir/**/*.o"), recursive=True):
        m = re.search(r"CMakeFiles/(\w+)\.dir/(.*)\.(c|cpp)\.o$", path)
        if not m or "musl" in m.group(1):
            continue
        if m.group(2) in units:
            unit_at[path] = m.group(2)
    if not unit_at:
        return defined, used
    # One nm reads all objects. A process for each takes ten times as long.
    command = ["nm", "-g", "-A", *unit_at]
    out = subprocess.run(command, capture_output=True, text=True).stdout
    for line in out.splitlines():
        path, words = line.split(":", 1)
        kind, name = words.split()[-2:]
        if kind == "U":
            used[unit_at[path]].add(name)
        elif kind in "TDBRC":
            defined.setdefault(name, unit_at[path])
    return defined, used


def references(build, folder):
    paths = sources(folder)
    units = {unit_of(p, folder) for p in paths}
    refs = collections.defaultdict(set)
    for path in paths:
        for unit in includes(path, folder, units):
            if unit != unit_of(path, folder) and unit not in REPORTS:
                refs[unit_of(path, folder), unit].add("#include in " + path)
    defined, used = symbols(build, folder, units)
    if not defined:
        sys.exit("check-rooms: no objects of %s in %s" % (folder, build))
    reported = set()
    for unit in REPORTS:
        if unit in units:
            reported |= set(re.findall(r"\w+", open(os.path.join(TOP, folder, unit + ".h")).read()))
    for unit, names in used.items():
        for name in names:
            other = defined.get(name)
            if other and other != unit and not name.startswith("_ZT") and name not in reported:
                if folder != "rt" or name.startswith(("mprof_", "__mprof_")):
                    refs[unit, other].add(name)
    return units, refs, defined, used


def circles(refs, folder):
    """Returns the groups of units that refer to each other."""
    graph = collections.defaultdict(set)
    for (a, b), why in refs.items():
        # A header may serve several files of its room in rt/, so a circle of rt/ is one of
        # calls.
        if folder != "rt" or any(not name.startswith("#include") for name in why):
            graph[a].add(b)
    index, low, stack, on, found = {}, {}, [], set(), []
    sys.setrecursionlimit(10000)

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            circle = []
            while not circle or circle[-1] != v:
                circle.append(stack.pop())
                on.discard(circle[-1])
            if len(circle) > 1:
                found.append(sorted(circle))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def room_of(unit):
    return os.path.dirname(unit) or "."


def check_direction(refs):
    bad = 0
    order = list(ROOMS)
    for (a, b), why in sorted(refs.items()):
        unknown = [u for u in (a, b) if room_of(u) not in ROOMS]
        if unknown:
            print("rt/%s: its room is not in ROOMS" % unknown[0])
            bad += 1
        elif order.index(room_of(a)) < order.index(room_of(b)):
            if (a, b) not in EXCEPTIONS:
                print("rt/%s refers up to rt/%s: %s" % (a, b, ", ".join(sorted(why))))
                bad += 1
    # The compiler searches rt/ before the system's headers. So a header rt/sys/X.h
    # would hide the system's <sys/X.h>.
    for folder in ("/usr/include/sys", "/usr/include/x86_64-linux-gnu/sys"):
        for header in glob.glob(os.path.join(TOP, "rt/sys/*.h")):
            if os.path.exists(os.path.join(folder, os.path.basename(header))):
                print("%s hides <sys/%s>" % (header, os.path.basename(header)))
                bad += 1
    for pair in EXCEPTIONS:
        if pair not in refs:
            print("exception without a reference: %s -> %s" % pair)
            bad += 1
    for room in ROOMS:
        if not glob.glob(os.path.join(TOP, "rt", room, "*.[ch]")):
            print("room without a file: rt/%s" % room)
            bad += 1
    if len(EXCEPTIONS) > 10:
        print("more than 10 exceptions")
        bad += 1
    return bad


def check_headers(units, defined, used, folder):
    shared = collections.defaultdict(set)
    for unit, names in used.items():
        for name in names:
            other = defined.get(name)
            if name.startswith("mprof_") and other not in (None, unit):
                if (unit, other) not in EXCEPTIONS:
                    shared[other].add(name)
    public = open(os.path.join(TOP, "include/mprof/mprof.h")).read()
    bad = 0
    for unit, names in sorted(shared.items()):
        room = os.path.join(TOP, folder, os.path.dirname(unit))
        text = "".join(open(header).read() for header in glob.glob(room + "/*.h"))
        for name in sorted(names):
            # profiles.def declares the kinds of profiles.
            if not re.search(r"\b%s\b" % name, text + public) and not name.startswith("mprof_kind_"):
                print("no header of rt/%s declares %s" % (room_of(unit), name))
                bad += 1
    return bad


def first_sentence(path):
    """Returns the first sentence of the comment below the license, or ''."""
    with open(os.path.join(TOP, path)) as f:
        lines = f.read().split("\n\n", 1)[0].splitlines()
    text = " ".join(line.lstrip("/").strip() for line in lines[2:]).strip()
    sentence = re.split(r"(?<=[.:])(?: |$)", text)[0].rstrip(".:")
    # A file may leave the explanation to its header.
    return re.sub(r"(^See|[;,] see) [\w.]+\.h$", "", sentence)


def files():
    """Returns the units of the project by folder: path -> first sentence."""
    found = collections.defaultdict(dict)
    for path in sources("rt") + sources("pass") + sources("tools"):
        unit, kind = os.path.splitext(path)
        folder = "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]
        sentence = first_sentence(path)
        if sentence and (kind != ".h" or not found[folder].get(unit)):
            found[folder][unit] = sentence
        else:
            found[folder].setdefault(unit, "")
    return found


def list_files():
    found = files()
    order = [os.path.normpath("rt/" + room) for room in ROOMS]
    for folder in order + sorted(set(found) - set(order)):
        room = ROOMS.get(folder[3:] or ".", "") if folder.startswith("rt") else ""
        print("%s/%s" % (folder, ": " + room if room else ""))
        for unit, sentence in sorted(found[folder].items()):
            print("  %s: %s" % (os.path.relpath(unit, folder), sentence))
        print()


# Files of other projects that comments name.
FOREIGN = {"elf.h", "pthread_mutex_trylock.c", "sdt.h"}


def comments(path):
    """Yields the comments of a source file."""
    for line in open(os.path.join(TOP, path)):
        m = re.search(r"(?:^|\s)//(.*)", line)
        if m:
            yield m.group(1)


def check_names():
    """Checks that the source files that comments name exist."""
    bad = 0
    tracked = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True).stdout
    existing = {"/" + path for path in tracked.split() if os.path.exists(os.path.join(TOP, path))}
    ends = set()
    for path in existing:
        parts = path.split("/")
        ends.update("/".join(parts[i:]) for i in range(len(parts)))
    texts = [(path, text) for folder in ("rt", "pass", "tools") for path in sources(folder)
             for text in comments(path)]
    for path in ("docs/how-it-works.md", "CONTRIBUTING.md"):
        texts += [(path, name) for name in re.findall(r"`[^`\n]+`", open(os.path.join(TOP, path)).read())]
    for path, text in texts:
        for name in re.findall(r"(?<![\w<&./*-])[\w+-][\w+./-]*\.(?:c|cpp|h|def)\b(?![.*>\w-])", text):
            if name not in ends and name not in FOREIGN and "NAME" not in name:
                print("%s names %s, which does not exist" % (path, name))
                bad += 1
    return bad


def check_files():
    bad = 0
    for units in files().values():
        for unit, sentence in units.items():
            if not sentence:
                print("%s: no comment says what the file does" % unit)
                bad += 1
    return bad + check_names()


def main():
    if sys.argv[1:] == ["--files"]:
        list_files()
        return 0
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "build")
    bad = check_files()
    for folder in ("rt", "pass", "tools/trace", "tools/mprof"):
        units, refs, defined, used = references(build, folder)
        if folder == "rt":
            bad += check_direction(refs)
            bad += check_headers(units, defined, used, folder)
            refs = {pair: why for pair, why in refs.items() if pair not in EXCEPTIONS}
        largest = 0
        for circle in circles(refs, folder):
            largest = max(largest, len(circle))
            if len(circle) > MAX_CIRCLE:
                print("%s: circle of %d: %s" % (folder, len(circle), " ".join(circle)))
                bad += 1
        print(
            "%s: %d files, %d references, largest circle %d"
            % (folder, len(units), len(refs), largest)
        )
    print("exceptions: %d, offences: %d" % (len(EXCEPTIONS), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
