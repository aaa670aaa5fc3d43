# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# MPROF PRELOAD COMMAND...: runs a command with MProf and under strace at once, and
# compares the profile mmap with the calls that strace has seen: calls that map, their
# bytes, and the bytes that are mapped at the end. The calls of libc and of the dynamic
# linker for themselves, and MProf's own, are left out and counted apart. Only the first
# process counts.

import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

PAGE = 4096
FORKS = ("clone", "clone3", "fork", "vfork")


def pages(n):
    return (n + PAGE - 1) // PAGE * PAGE


def calls(path):
    """Yields (pid, call, arguments, result, stack) of each system call."""
    pending, call = {}, None
    for line in open(path, errors="replace"):
        frame = re.match(r" > (\S+?)\(?([\w.@]*)[+)]", line)
        if frame:
            if call:
                call[4].append((os.path.basename(frame[1]), frame[2]))
            continue
        pid, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            pending[pid] = text[: -len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = pending.pop(pid, "") + resumed[1]
        m = re.match(r"(\w+)\((.*)\)\s+= (\S+)", text)
        if m:
            if call:
                yield call
            call = (pid, m[1], m[2], m[3], [])
    if call:
        yield call


class Ranges:
    """Mapped ranges, as the ledger of MProf has them."""

    def __init__(self):
        self.all = []

    def take(self, start, limit):
        taken = [(max(a, start), min(b, limit)) for a, b in self.all if a < limit and b > start]
        if taken:
            self.all = [
                r
                for a, b in self.all
                for r in ((a, min(b, start)), (max(a, limit), b))
                if r[0] < r[1]
            ]
        return taken

    def put(self, start, limit):
        self.take(start, limit)
        self.all.append((start, limit))


def is_libc(module):
    return re.match(r"(libc|ld-linux-.*|libc-.*|ld-.*)\.so", module)


class Seen:
    def __init__(self):
        self.calls = self.bytes = self.others = self.top = 0
        self.ranges = Ranges()

    def add(self, start, limit):
        self.calls += 1
        self.bytes += limit - start
        self.ranges.put(start, limit)

    def call(self, name, arguments, result):
        a = [re.sub(r"^NULL$", "0", x) for x in arguments.split(", ")]
        n = lambda i: int(a[i], 0)
        at = int(result, 0)
        if name == "mmap":
            self.add(at, at + pages(n(1)))
        elif name == "munmap":
            self.ranges.take(n(0), n(0) + pages(n(1)))
        elif name == "mremap":
            old, new = pages(n(1)), pages(n(2))
            for start, limit in self.ranges.take(n(0), n(0) + old):
                start, limit = start - n(0) + at, min(limit - n(0), new) + at
                if start < limit:
                    self.ranges.put(start, limit)
            if new > old:
                self.add(at + old, at + new)


def read(path):
    seen, first, family = Seen(), None, set()
    for pid, name, arguments, result, stack in calls(path):
        first = first or pid
        family = family or {pid}
        if pid not in family:
            continue
        if name in FORKS:
            if "CLONE_THREAD" in arguments and result.isdigit():
                family.add(result)
            continue
        if result.startswith("-") or result == "?":
            continue
        is_break = name == "brk"
        old, seen.top = seen.top, int(result, 0) if is_break else seen.top
        at = 0
        while at < len(stack) and is_libc(stack[at][0]) and stack[at][1].rstrip("0123456789") in (
            "mmap", "munmap", "mremap", "brk", "sbrk", "__mmap", "__munmap", "__sbrk",
        ):
            at += 1
        if at == 0 or at == len(stack) or is_libc(stack[at][0]):
            seen.others += name != "munmap"
        elif not is_break:
            seen.call(name, arguments, result)
        elif seen.top > old > 0:
            seen.add(old, seen.top)
        elif seen.top < old:
            seen.ranges.take(seen.top, old)
    return seen


def main(mprof, preload, command):
    with tempfile.TemporaryDirectory() as folder:
        trace, log = folder + "/trace", folder + "/x"
        env = ("MPROF_OPTIONS=quiet=1:symbolize=0:report=0:dump_on__exit=1:log_path=%s.%%p" % log)
        subprocess.run(
            ["strace", "-f", "-k", "-o", trace]
            + ["-e", "signal=none", "-e", "trace=mmap,munmap,mremap,brk," + ",".join(FORKS)]
            + ["-E", env, "-E", "LD_PRELOAD=" + preload, "--"]
            + command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        first = open(trace).read().split(" ", 1)[0]
        seen = read(trace)
        values = [0, 0, 0]
        for i, type in enumerate(("alloc_objects", "alloc_space", "inuse_space")):
            for path in glob.glob("%s.%s.mmap.pb.gz" % (log, first)):
                out = subprocess.run(
                    [mprof, "top", "-n", "0", "--format=csv", "--sample=" + type, path],
                    capture_output=True, text=True, check=True,
                ).stdout
                values[i] = sum(int(r["flat"]) for r in csv.DictReader(out.splitlines()))
        wanted = [seen.calls, seen.bytes, sum(b - a for a, b in seen.ranges.all)]
        print(
            "%s: MProf %d calls, %d bytes, %d at the end; strace %d, %d, %d; "
            "not counted: %d" % (os.path.basename(command[0]), *values, *wanted, seen.others)
        )
        sys.exit(values != wanted)


main(sys.argv[1], sys.argv[2], sys.argv[3:])
