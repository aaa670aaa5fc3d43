# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links the programs in link/ as the rows of a test say, runs them, and compares
their exact heap profiles and their threads with what the sources allocate.

  check_links.py BUILD GROUP TEST    in an empty directory

Each line "GROUP: WORDS" of the file TEST is a row. Its words are the language,
the compilation mode of the objects (a key of MODES), the linker, and flags of
the link. In a group whose name begins with "libraries" they are the kinds (of
PARTS) of the program and of its libraries a and b, the linker, and flags of the
program's link; with -DOPEN the program opens the libraries by dlopen. Prints
each row that failed; the exit status is 1 if there is one.
"""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../Inputs"))
import mprof_read  # noqa: E402

MODES = {
    "pie": [],
    "no-pie": ["-fno-pie"],
    "lto": ["-flto"],
    "thin": ["-flto=thin"],
}

# Kinds of programs and libraries.
#   plain:     compiled without MProf
#   rt:        compiled without MProf, linked with libmprof_rt.so
#   mprof:     -fmprof
#   mprof-rt:  -fmprof, linked with libmprof_rt.so
#   intercept: -fmprof -fmprof-intercept
PARTS = ("plain", "rt", "mprof", "mprof-rt", "intercept")
# Expected values by function: blocks and bytes allocated, blocks and bytes in use.
IN_C = {
    "leak_c": [30, 3000, 30, 3000],
    "borrow": [40, 4000, 0, 0],
    "same_a|same_b": [10, 640, 10, 640],
    "worker": [14, 448, 14, 448],
}
IN_CXX = {"leak_cxx": [50, 5000, 50, 5000]}
# Values that need interceptors, of code compiled without -fmprof. The size of a FILE
# depends on libc.
SEEN_IN_C = {"open_c": [6, None, 0, 0]}
SEEN_IN_CXX = {"strings": [10, 78000, 0, 0]}


class Failed(Exception):
    """The reason why a row failed."""


def run(*command, **extra):
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        check=False,
        **extra
    )
    if result.returncode != 0:
        raise Failed("%s: %s" % (" ".join(command), result.stdout))
    return result.stdout


def driver(build, language):
    suffix = "++" if language == "c++" else ""
    return os.path.join(build, "bin", "mprof-clang" + suffix)


def target(build, group, is_ours=True):
    """Returns flags for programs on musl, which only our driver finds by itself."""
    if not group.endswith("musl"):
        return []
    if is_ours:
        return ["--target=x86_64-linux-musl"]
    return ["--config=" + os.path.join(build, "share", "mprof", "musl.cfg")]


def interception(is_on):
    return "-fmprof-intercept" if is_on else "-fno-mprof-intercept"


def compile_part(build, group, language, mode):
    """Returns an object file of the mode; compiles it at the first call."""
    name = mode + (".cpp.o" if language == "c++" else ".c.o")
    source = {"c": "program.c", "c++": "part.cpp"}[language]
    if not os.path.exists(name):
        run(
            driver(build, language),
            "-fmprof",
            "-O2",
            "-g1",
            "-ffunction-sections",
            "-c",
            os.path.join(HERE, "link", source),
            "-o",
            name,
            *MODES[mode],
            *target(build, group)
        )
    return name


def link(build, group, row, program):
    language, mode, linker, *flags = row
    objects = [compile_part(build, group, "c", mode)]
    if language == "c++":
        objects.append(compile_part(build, group, "c++", mode))
    flags.append(interception(group.startswith("intercept")))
    flags += [f for f in MODES[mode] if f.startswith("-flto")]
    text = run(
        driver(build, language),
        "-fmprof",
        "-O2",
        "-fuse-ld=" + linker,
        *objects,
        *flags,
        *target(build, group),
        "-o",
        program
    )
    if linker == "gold" and "-static" in flags:
        # gold also warns of a weak reference to dlopen (docs/using.md).
        text = re.sub(r".*warning: Using '(dlopen|dlmopen)' in statically linked .*\n?",
                      "", text)
    if text:
        raise Failed("the linker says: " + text)


def profile_of(program, kind):
    names = glob.glob("%s.*.%s.pb.gz" % (program, kind))
    if len(names) != 1:
        raise Failed("%s profiles: %s" % (kind, names))
    with open(names[0], "rb") as file:
        return mprof_read.Profile(file.read())


def sums(profile, wanted=None):
    """Returns the sums of the samples with a function of that name, or of all."""
    names = mprof_read.symbolize(profile, None) if wanted else {}
    total = [0] * len(profile.raw.sample_type)
    for sample in profile.raw.sample:
        stack = [n for i in sample.location_id for n in names.get(i, [])]
        plain = [re.sub(r"\(.*", "", name) for name in stack]
        if wanted is None or any(re.fullmatch(wanted, n) for n in plain):
            total = [a + b for a, b in zip(total, sample.value)]
    return total


def link_part(build, group, linker, what, output, *arguments):
    """Links a program or library from one source; what is one of PARTS."""
    command = [driver(build, "c"), "-O2", "-g1", "-fuse-ld=" + linker]
    command += target(build, group, what not in ("plain", "rt"))
    if what not in ("plain", "rt"):
        command += ["-fmprof", interception(what == "intercept")]
    command += [*arguments, "-o", output]
    if what in ("rt", "mprof-rt"):
        lib = os.path.join(build, "lib")
        command += [os.path.join(lib, "libmprof_rt.so"), "-Wl,-rpath," + lib]
    text = run(*command)
    if text:
        raise Failed("the linker says: " + text)


def library(build, group, linker, what, name):
    """Returns the path of library a or b; links it at the first call."""
    path = "./lib%s-%s-%s.so" % (name, what, linker)
    if not os.path.exists(path):
        source = os.path.join(HERE, "link", "library.c")
        arguments = ["-DNAME=" + name, "-fPIC", "-shared", source]
        link_part(build, group, linker, what, path, *arguments)
    return path


def run_user(build, group, row, program):
    """Builds the program and its libraries, and runs it."""
    user, a, b, linker, *flags = row
    for what in (user, a, b):
        if what not in PARTS:
            raise Failed("unknown part " + what)
    libraries = [
        library(build, group, linker, a, "a"),
        library(build, group, linker, b, "b"),
    ]
    flags += ['-D%s="%s"' % pair for pair in zip("AB", libraries)]
    # Code that is not position-independent would refer to the runtime directly.
    if user == "rt":
        flags.append("-fPIC")
    if "-DOPEN" not in flags:
        flags += libraries
    source = os.path.join(HERE, "link", "user.c")
    link_part(build, group, linker, user, program, source, *flags)
    run_profiled(program)


def expected_of_user(user, a, b):
    """Returns the expected values of the functions that are seen."""

    def sees(what):
        return user == "intercept" or what.startswith("mprof")

    none = [0, 0, 0, 0]
    # A block whose free is not seen counts as freed when its memory is used again.
    cross = [15, 960, 0, 0] if sees(b) else [15, 960, 1, 64]
    return {
        "own": [10, 1000, 10, 1000] if sees(user) else none,
        "leak_a": [20, 2000, 20, 2000] if sees(a) else none,
        "leak_b": [20, 2000, 20, 2000] if sees(b) else none,
        "make_a": cross if sees(a) else none,
    }


def check_libraries(build, group, row, program):
    run_user(build, group, row, program)
    profile = profile_of(program, "heap")
    expected = expected_of_user(*row[:3])
    # The dynamic loader allocates, too.
    opens = row[0] == "intercept" and "-DOPEN" in row
    check_heap(profile, expected, {"own": expected["own"]} if opens else {})


def expect(what, expected, got):
    if any(e not in (None, g) for e, g in zip(expected, got)):
        raise Failed("%s is %s, not %s" % (what, got, expected))


def check_heap(profile, expected, more):
    for name, values in {**expected, **more}.items():
        expect(name, values, sums(profile, name))
    # No other block was counted, and none twice.
    if not more:
        total = [sum(column) for column in zip(*expected.values())]
        expect("the total", total, sums(profile))


def run_profiled(program):
    environment = dict(os.environ)
    environment["MPROF_OPTIONS"] = "heap_rate=1:report=0"
    environment["MPROF_OPTIONS"] += ":log_path=%s.%%p" % program
    run("./" + program, env=environment)


def check_program(group, row, program):
    run_profiled(program)
    expected, more = dict(IN_C), {}
    if group.startswith("intercept"):
        more.update(SEEN_IN_C)
    if row[0] == "c++":
        expected.update(IN_CXX)
        if group.startswith("intercept"):
            more.update(SEEN_IN_CXX)
    check_heap(profile_of(program, "heap"), expected, more)
    expect("spawn", [2], sums(profile_of(program, "threadcreate"), "spawn"))


def check_file(row, program):
    """Checks that the linked file has the properties of its row."""
    header = run("llvm-readelf", "-hl", program)
    symbols = {}
    for line in run("llvm-nm", "--defined-only", program).splitlines():
        address, _, name = line.split(maxsplit=2)
        symbols[name] = address
    is_pie = "DYN" in re.search("Type: +(.*)", header).group(1)
    if is_pie != ("-no-pie" not in row and "-static" not in row):
        raise Failed("is_pie: %s" % is_pie)
    is_dynamic = "INTERP" in header
    if is_dynamic != ("-static" not in row and "-static-pie" not in row):
        raise Failed("is_dynamic: %s" % is_dynamic)
    # With gold the driver exports every function.
    exports = row[2] == "gold" and is_dynamic
    if "-Wl,--gc-sections" in row and "unused" in symbols and not exports:
        raise Failed("the section of an unused function is there")
    is_folded = symbols["same_a"] == symbols["same_b"]
    if is_folded != ("-Wl,--icf=all" in row):
        raise Failed("is_folded: %s" % is_folded)


def rows_of(test, group):
    """Returns the rows of the group in the file test, each a list of words."""
    start = group + ":"
    with open(test, encoding="utf-8") as file:
        rows = [line.split()[1:] for line in file if line.startswith(start)]
    if not rows:
        sys.exit("%s has no row of %s" % (test, group))
    return rows


def main():
    build, group, test = sys.argv[1:]
    rows = rows_of(test, group)
    failed = 0
    for number, row in enumerate(rows):
        program = "%s%d" % (group, number)
        try:
            if group.startswith("libraries"):
                check_libraries(build, group, row, program)
            else:
                link(build, group, row, program)
                check_file(row, program)
                check_program(group, row, program)
        except (Failed, mprof_read.Invalid) as error:
            failed += 1
            print("FAILED: %s: %s" % (" ".join(row), error))
    print("%d of %d rows passed" % (len(rows) - failed, len(rows)))
    sys.exit(failed != 0)


main()
