# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: ALLOCATOR CLANG MPROF_CLANG MPROF_CLANGXX [FLAG]... [CASE]. Builds
# allocators_program.cpp in the current directory as C and as C++. Links it with
# the allocator in each possible way, in C++ also without interception, and runs it
# in exact and in sampled mode. Prints one line for each link that was right:
# "ALLOCATOR: LANGUAGE: WAY: FLAG". With CASE, it tries only the links whose
# line contains CASE. FLAG is for the compilation as C++.

import collections
import os
import subprocess
import sys

LIBDIR = "/usr/lib/x86_64-linux-gnu/"
INPUTS = os.path.dirname(os.path.abspath(__file__))

# A way to link: the arguments before and after the program's objects, the
# preloaded library, the allocator that the program must find, and the
# allocations that are seen with interception (SEEN in allocators_program.cpp).
# is_place: the way differs only in the position of the library or in the
# linker; it is tried only in C++ with interception.
Way = collections.namedtuple("Way", "name before after preload asks seen is_place")


def way(name, asks, before=(), after=(), preload="", seen="all", is_place=False):
    return Way(name, list(before), list(after), preload, asks, seen, is_place)


def library(asks, name):
    path = LIBDIR + name
    return [
        way("after", asks, after=[path]),
        way("preload", asks, preload=path),
    ]


def places(asks, name):
    path = LIBDIR + name
    return [
        way("before", asks, before=[path], is_place=True),
        way("lld", asks, after=["-fuse-ld=lld", path], is_place=True),
        way("gold", asks, before=["-fuse-ld=gold", path], is_place=True),
    ]


def archive(asks, name, *needs):
    words = [LIBDIR + name, *needs]
    # Other linkers take no object of an archive that is not needed yet.
    before = ["-fuse-ld=lld", *words]
    return [
        way("archive after", asks, after=words, seen="sites"),
        way("archive before", asks, before=before, seen="sites", is_place=True),
        way("static", asks, after=["-static", *words], seen="c"),
    ]


def own():
    """Returns ways to link the program's own allocator, with MProf and without."""
    return [
        way("with MProf", "own", after=["own.o"], seen="sites"),
        way("without", "own", after=["own_plain.o"], seen="sites"),
        way("static", "own", after=["own.o", "-static"]),
    ]


def own_new():
    return [
        way("with MProf", "libc", after=["own.o"]),
        way("without", "libc", after=["own_plain.o"]),
        way("static", "libc", after=["own.o", "-static"]),
    ]


TABLE = {
    "libc": [
        way("alone", "libc"),
        way("static", "libc", after=["-static"]),
        way("static-pie", "libc", after=["-static-pie"], is_place=True),
        way("static lld", "libc", after=["-static", "-fuse-ld=lld"], is_place=True),
        way("static gold", "libc", after=["-static", "-fuse-ld=gold"], is_place=True),
    ],
    "jemalloc": library("jemalloc", "libjemalloc.so")
    + places("jemalloc", "libjemalloc.so")
    + archive("jemalloc", "libjemalloc.a", "-lstdc++", "-lm"),
    # Debian has no static libunwind to link the archive with.
    "tcmalloc": library("tcmalloc", "libtcmalloc.so"),
    "tcmalloc_minimal": library("tcmalloc", "libtcmalloc_minimal.so")
    + places("tcmalloc", "libtcmalloc_minimal.so")
    + archive("tcmalloc", "libtcmalloc_minimal.a", "-lstdc++", "-lm"),
    # Checks that each block is released by the right function and with its
    # size.
    "tcmalloc_debug": library("tcmalloc", "libtcmalloc_minimal_debug.so"),
    # Debian has no archive of mimalloc.
    "mimalloc": library("mimalloc", "libmimalloc.so")
    + places("mimalloc", "libmimalloc.so"),
    "own": own(),
    "own_few": own(),
    "own_new": own_new()
    + [way("jemalloc", "libc", after=["own.o", LIBDIR + "libjemalloc.so"])],
    "own_new_few": own_new(),
}
# Sources of the program's own allocators.
SOURCES = {
    "own": "allocators_own.c",
    "own_few": "allocators_own.c",
    "own_new": "allocators_own_new.cpp",
    "own_new_few": "allocators_own_new.cpp",
}


class Failed(Exception):
    pass


def run(*command, **env):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        env=dict(os.environ, **env),
    )
    if done.returncode != 0:
        raise Failed(
            "%s\n%s%sended with %d"
            % (" ".join(command), done.stdout, done.stderr, done.returncode)
        )


def try_link(driver, language, way, flag, seen):
    # clang 16 takes both options, but libc then crashes at the start of any
    # program, also without MProf. Later versions ignore -rdynamic here.
    rdynamic = [] if "-static-pie" in way.after else ["-rdynamic"]
    run(
        driver, "-fmprof", flag, *rdynamic, *way.before,
        language + ".o", "plain.o", *way.after, "-o", "app",
    )  # fmt: skip
    for mode, rate in ("exact", 1), ("sampled", 65536):
        options = "heap_rate=%d:seed=7:report=0:profile=0" % rate
        env = {"MPROF_OPTIONS": options}
        if way.preload:
            env["LD_PRELOAD"] = way.preload
        run("./app", way.asks, seen, mode, **env)


def main(name, clang, mprof_clang, mprof_clangxx, *words):
    flags = [w for w in words if w.startswith("-")]
    only = "".join(w for w in words if not w.startswith("-"))
    headers = "-I%s/../../Inputs" % INPUTS
    program = INPUTS + "/allocators_program.cpp"
    drivers = {"c": mprof_clang, "c++": mprof_clangxx}
    run(clang, "-O1", "-c", INPUTS + "/allocators_plain.c", "-o", "plain.o")
    if name in SOURCES:
        source = INPUTS + "/" + SOURCES[name]
        few = ["-DFEW_FUNCTIONS"] if "few" in name else []
        if source.endswith("pp"):
            del drivers["c"]
        run(clang, "-O1", *few, "-c", source, "-o", "own_plain.o")
        run(mprof_clang, "-fmprof", "-O1", *few, "-c", source, "-o", "own.o")
    # The aligned operators are not among the few functions.
    defines = ["-DFEW_FUNCTIONS"] if name == "own_few" else []
    failures = 0
    for language, driver in drivers.items():
        run(driver, "-fmprof", "-O1", "-x", language, headers, *defines,
            *(flags if language == "c++" else []),
            "-c", program, "-o", language + ".o")  # fmt: skip
        for w in TABLE[name]:
            for flag in "-fmprof-intercept", "-fno-mprof-intercept":
                case = ": ".join((name, language, w.name, flag))
                if only not in case:
                    continue
                if w.is_place and (language, flag) != ("c++", "-fmprof-intercept"):
                    continue
                # Without interception, C differs from C++ in nothing.
                if flag == "-fno-mprof-intercept" and language == "c":
                    continue
                seen = w.seen if flag == "-fmprof-intercept" else "sites"
                try:
                    try_link(driver, language, w, flag, seen)
                    print(case)
                except Failed as error:
                    print("%s: %s\n" % (case, error), file=sys.stderr)
                    failures += 1
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
