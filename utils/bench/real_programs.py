# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fetches and builds the real programs of measure_real.py, each in several variants.

  real_programs.py   fetches the sources and compiles all programs

An object file is compiled again only if a source of the program, the pass or the
runtime is newer. measure_real.py links the objects in many layouts.
"""

import collections
import concurrent.futures
import filecmp
import functools
import glob
import os
import shutil
import subprocess

import layout
from running import DIR, TOP, log

BENCH = os.path.join(TOP, "utils/bench")
DEMO = os.path.join(TOP, "utils/demo")
REAL = os.path.join(DIR, "real")  # directory of sources, objects and programs
FETCHED = os.path.join(REAL, "src")
SQLITE = os.path.join(FETCHED, "sqlite3")
LUA = os.path.join(FETCHED, "lua5.4", "src")
MPROF = os.path.join(TOP, "build/bin/mprof-clang")
FRAMES = ["-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"]

# is_mprof: whether MProf's driver compiles and links it.
Variant = collections.namedtuple("Variant", "name key is_mprof flags")
VARIANTS = (
    Variant("plain", "plain", False, []),
    Variant("plain, frame pointers", "frames", False, FRAMES),
    Variant("MProf", "mprof", True, []),
    # Of these two, the variant that is not the driver's default takes part.
    Variant("MProf, frames", "unwind-frames", True, ["-fmprof-unwind=frames"]),
    Variant("MProf, tables", "unwind-tables", True, ["-fmprof-unwind=tables"]),
)

# package: the Debian source package from which the program comes, or None. plus: "" for
# C and "++" for C++. sources: a function that returns the files. counted and timed:
# arguments of the program for a count of instructions and for a measurement of time.
# alone: the program uses several processors, so that it is timed alone.
Program = collections.namedtuple(
    "Program", "name package plus sources flags libraries counted timed alone",
    defaults=(False,))


def files(*names):
    return lambda: list(names)


def lua_sources():
    return sorted(set(glob.glob(LUA + "/*.c")) - {LUA + "/luac.c"})


def lua(name, counted, timed):
    script = os.path.join(BENCH, "real", name + ".lua")
    # Without a fixed seed, Lua hashes its strings differently in each run.
    flags = ["-DLUA_USE_POSIX", "-Dluai_makeseed(L)=42u"]
    return Program("Lua, " + name, "lua5.4", "", lua_sources, flags, ["-lm", "-ldl"],
                   [script, str(counted)], [script, str(timed)])


def load(name, shown, counted, timed):
    return Program(shown, None, "", files(BENCH + "/gate.c"),
                   ["-I" + TOP + "/include"], [], [name, str(counted)],
                   [name, str(timed)])


def json_sources():
    """Makes a copy of the JSON demonstration that runs for less than a second: on a noisy
    machine, many short runs tell more than a few long ones."""
    with open(DEMO + "/json_demo.cpp", encoding="utf-8") as f:
        text = f.read()
    short = text.replace("round < 70", "round < 7")
    assert short != text
    to = os.path.join(REAL, "json_demo.cpp")
    os.makedirs(REAL, exist_ok=True)
    with open(to + ".new", "w", encoding="utf-8") as f:
        f.write(short)
    if not os.path.exists(to) or not filecmp.cmp(to, to + ".new", shallow=False):
        os.replace(to + ".new", to)  # otherwise the object stays up to date
    return [to]


def script(name):
    return os.path.join(DEMO, name + ".js")


PROGRAMS = (
    Program("SQLite", "sqlite3", "",
            files(SQLITE + "/sqlite3.c", SQLITE + "/test/speedtest1.c"),
            ["-I" + SQLITE, "-DSQLITE_OMIT_LOAD_EXTENSION"], ["-lm"],
            ["--memdb", "--size", "5"], ["--memdb", "--size", "15"]),
    lua("tables", 40, 200),
    lua("strings", 100, 400),
    lua("mixed", 200, 1500),
    Program("server", None, "", files(BENCH + "/real/server.c"), [], [],
            ["2", "2000"], ["2", "6000"], alone=True),
    Program("json", None, "++", json_sources, ["-std=c++17"], [], [], []),
    Program("strings", None, "++", files(BENCH + "/strings.cpp"), ["-std=c++17"], [],
            ["5000", "1"], ["60000", "1"]),
    Program("Duktape", None, "",
            files(DEMO + "/duk_host.c", "/usr/share/duktape/duktape.c"),
            ["-I/usr/share/duktape"], ["-lm"], [script("leak")], [script("leak")]),
    load("objects", "objects by realloc(NULL)", 400000, 5000000),
    load("tree", "tree with strdup", 300000, 1500000),
    load("recurse", "recursion", 300000, 3000000),
)


# --- the sources -------------------------------------------------------------

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

SQLITE_MAKEFILE = """\
TOP = %s
BCC = clang-19
TCC = clang-19
NAWK = awk
EXE =
include $(TOP)/main.mk
"""


def log_of(package):
    return os.path.join(REAL, package + ".log")


def quietly(argv, where, package):
    """Runs a command for a package. The output goes to the package's log. Returns
    whether the command succeeded."""
    with open(log_of(package), "ab") as out:
        return subprocess.run(argv, cwd=where, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, check=False).returncode == 0


def source_list():
    """Returns a list of sources for apt: the repositories from which the machine
    gets its packages."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
         "Created-By: Packages"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False).stdout.decode()
    return "".join("deb-src [signed-by=%s] %s\n" % (KEYRING, line)
                   for line in sorted(set(targets.splitlines())))


def fetch(package):
    """Downloads and unpacks a Debian source package into FETCHED, with a list of
    sources of its own. Returns whether the sources are there."""
    to = os.path.join(FETCHED, package)
    if os.path.exists(to + ".done"):
        return True
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    lists = os.path.join(REAL, "apt")
    os.makedirs(lists + "/partial", exist_ok=True)
    with open(lists + ".list", "w", encoding="utf-8") as f:
        f.write(source_list())
    apt = ["apt-get", "-q", "-o", "Dir::Etc::SourceList=" + lists + ".list", "-o",
           "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + lists,
           "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Sandbox::User=root"]
    log("fetching the sources of " + package)
    if not (quietly([*apt, "update"], FETCHED, package) and
            quietly([*apt, "source", "--download-only", package], FETCHED, package)):
        return False
    archives = [a for a in glob.glob("%s/%s_*.orig.tar.*" % (FETCHED, package))
                if not a.endswith(".asc")]
    if len(archives) != 1 or not quietly(
            ["tar", "xf", archives[0], "-C", to, "--strip-components=1"], FETCHED,
            package):
        return False
    if package == "sqlite3" and not make_sqlite(to):
        return False
    with open(to + ".done", "w", encoding="utf-8") as f:
        f.write(os.path.basename(archives[0]) + "\n")
    return True


def make_sqlite(where):
    """Joins SQLite's sources into sqlite3.c, which needs tclsh."""
    with open(where + "/Makefile", "w", encoding="utf-8") as f:
        f.write(SQLITE_MAKEFILE % where)
    return quietly(["make", "sqlite3.c"], where, "sqlite3")


def version(package):
    """Returns the version of a fetched package, from its archive's name."""
    with open(os.path.join(FETCHED, package + ".done"), encoding="utf-8") as f:
        return f.read().split("_")[1].split(".orig")[0]


# --- compile and link --------------------------------------------------------


@functools.lru_cache(None)
def code_with(*flags):
    """Returns the code that MProf's driver makes of a function with a frame, or None if
    it does not know the flags."""
    done = subprocess.run(
        [MPROF, "-fmprof", *flags, "-O2", "-x", "c", "-S", "-o", "-", "-"],
        input=b"int g(int); int f(int i) { return g(i) + 1; }",
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout if done.returncode == 0 else None


def takes_part(variant):
    return not variant.is_mprof or not variant.flags or code_with(
        *variant.flags) not in (None, code_with())


def variants():
    return [v for v in VARIANTS if takes_part(v)]


def compiler(program, variant):
    if variant.is_mprof:
        return [MPROF + program.plus, "-fmprof", *variant.flags]
    return ["clang%s-19" % program.plus, *variant.flags]


def object_of(program, variant, source):
    # The programs of one package have the same objects.
    name = "%s-%s-%s.o" % (program.package or program.name, variant.key,
                           os.path.basename(source))
    return os.path.join(REAL, "obj", name.replace(" ", "_"))


def newest(paths):
    return max(os.path.getmtime(p) for p in paths)


def compile_one(program, variant, source):
    to = object_of(program, variant, source)
    inputs = [source, *glob.glob(BENCH + "/*.h")]
    if variant.is_mprof:
        inputs += glob.glob(os.path.join(TOP, "build/lib/libMProf*.so"))
    if os.path.exists(to) and os.path.getmtime(to) > newest(inputs):
        return
    subprocess.run([*compiler(program, variant), "-O2", "-ffunction-sections",
                    *program.flags, "-c", source, "-o", to], check=True)


def link(program, variant, seed, to):
    """Links the objects of a program. Its functions are in the order of the seed."""
    objects = [object_of(program, variant, s) for s in program.sources()]
    layout.link(compiler(program, variant), objects, [*program.libraries, "-lpthread"],
                seed, to)


def present():
    """Returns the programs whose sources are there."""
    return [p for p in PROGRAMS if p.package is None or
            os.path.exists(os.path.join(FETCHED, p.package + ".done"))]


def fetch_all():
    """Fetches the sources of all programs. Prints which programs are left out."""
    os.makedirs(FETCHED, exist_ok=True)
    for package in sorted({p.package for p in PROGRAMS if p.package}):
        if not fetch(package):
            left_out = [p.name for p in PROGRAMS if p.package == package]
            log("cannot fetch or unpack the sources of %s; is there a network? The "
                "benchmark leaves out: %s. The log is %s" % (
                    package, "; ".join(left_out), log_of(package)))


def main():
    fetch_all()
    os.makedirs(os.path.join(REAL, "obj"), exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {object_of(p, v, s): (p, v, s) for p in present()
                for v in variants() for s in p.sources()}
        for each in [pool.submit(compile_one, *job) for job in jobs.values()]:
            each.result()


if __name__ == "__main__":
    main()
