# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all parts of the benchmark share: build programs, run variants in turns, and
write the results into docs/benchmarks.md.

All variants of a measurement take turns: each round runs each variant once, because
the speed of a virtual machine changes within minutes. A ratio compares two variants of
the same round. A result is a list with one value for each round. BENCH_QUICK=1 makes
the rounds few and short, to test the scripts.
"""

import collections
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
ROUNDS = 2 if QUICK else 15
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SOURCE = os.path.join(TOP, "utils/bench")
DEMO = os.path.join(TOP, "utils/demo")
DIR = os.path.join(TOP, "build/bench")  # directory of the programs
SCRATCH = os.path.join(DIR, "scratch")  # their working directory
DRIVER = os.path.join(TOP, "build/bin/mprof-clang")
FRAMES = ["-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"]
DUKTAPE = "/usr/share/duktape"
GO = shutil.which("go", path=os.environ["PATH"] + ":/usr/local/go/bin:/usr/lib/go-1.19/bin")
# Environment variables that change the programs' behaviour. The programs see only the
# values that their variant sets. Without HOME, MProf keeps no names of functions for
# the next run.
CLEARED = ("MPROF_OPTIONS", "MALLOC_CONF", "TCMALLOC_SAMPLE_PARAMETER",
           "HEAPPROFILE", "MEMPROF_OPTIONS", "GODEBUG", "GOGC", "LD_PRELOAD",
           "HOME", "XDG_CACHE_HOME")
# The plain programs are compiled by clang 19. mprof-clang would take the newest clang
# for which the plugin was built.
os.environ["MPROF_CLANG"] = "clang-19"

# The result of a run: output, seconds of user and system time, peak memory, and the
# time of the end in nanoseconds of CLOCK_MONOTONIC.
Run = collections.namedtuple("Run", "text seconds kib ended_ns")


def log(text):
    print("bench: " + text, flush=True)


def first_line(*argv):
    try:
        out = subprocess.run(argv, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd=TOP, check=True)
        return out.stdout.decode().strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


# --- build -------------------------------------------------------------------


def program(name):
    return os.path.join(DIR, name)


def compiler(source, with_mprof):
    plus = "++" if source.endswith(".cpp") else ""
    return [DRIVER + plus, "-fmprof"] if with_mprof else ["clang%s-19" % plus]


def build(source, to, *flags, with_mprof=False):
    """Compiles and links a program of one source file. The programs have no debug
    information, because valgrind 3.19 cannot read that of clang 19."""
    if not os.path.isabs(source):
        source = os.path.join(SOURCE, source)
    os.makedirs(DIR, exist_ok=True)
    subprocess.run([*compiler(source, with_mprof), "-O2", "-I" + TOP + "/include", source,
                    "-o", program(to), *flags], check=True)


def build_both(*names):
    """Builds each program as NAME-plain and NAME-mprof."""
    for name in names:
        stem = os.path.splitext(name)[0]
        build(name, stem + "-plain")
        build(name, stem + "-mprof", with_mprof=True)


def build_demo():
    """Builds the demonstration programs duk and json, each plain and with MProf."""
    for name, source, *flags in (
            ("duk", DEMO + "/duk_host.c", "-I" + DUKTAPE, DUKTAPE + "/duktape.c", "-lm"),
            ("json", DEMO + "/json_demo.cpp", "-std=c++17")):
        build(source, name + "-plain", *flags)
        build(source, name + "-mprof", *flags, with_mprof=True)


def build_go(name):
    """Builds a Go program by the newest Go. Returns {"Go VERSION": program}, or {}."""
    version = re.search(r"go(\d+\.\d+)", first_line(GO or "go", "version"))
    if not version:
        return {}
    to = program(name + "-go")
    sources = [os.path.join(SOURCE, f) for f in (name + ".go", "bench.go")]
    subprocess.run([GO, "build", "-o", to, *sources], check=True,
                   env={**os.environ, "GO111MODULE": "off"})
    return {"Go " + version.group(1): to}


def mprof(options=""):
    return {"MPROF_OPTIONS": options}


# --- run ---------------------------------------------------------------------


def environment(env):
    return {**{k: v for k, v in os.environ.items() if k not in CLEARED}, **env}


def start(argv, env=None, cpu=None):
    """Starts a program in SCRATCH, on the given processor. Returns the process and the
    file that receives its output."""
    out = tempfile.TemporaryFile()  # closed by wait
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})  # the child inherits it
    try:
        return subprocess.Popen([*map(str, argv)], stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT, cwd=SCRATCH,
                                env=environment(env or {})), out
    finally:
        os.sched_setaffinity(0, before)


def wait(started):
    """Waits for the end of a program. Exits with an error if the program fails."""
    process, out = started
    _, status, usage = os.wait4(process.pid, 0)
    ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    process.returncode = os.waitstatus_to_exitcode(status)
    with out:
        out.seek(0)
        text = out.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit("%s\nbench: %s: exit code %d" % (
            text, " ".join(process.args), process.returncode))
    return Run(text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, ended_ns)


def run(argv, env=None):
    return wait(start(argv, env))


def numbers(text, name):
    """Returns the numbers of all lines "NAME NUMBER"."""
    return [float(v) for v in
            re.findall(r"^%s:?\s+([-\d.]+)" % re.escape(name), text, re.M)]


def number(text, name):
    """Returns the median of the numbers of all lines "NAME NUMBER"."""
    found = sorted(numbers(text, name))
    if not found:
        sys.exit("bench: no line '%s NUMBER' in: %s" % (name, text))
    return found[len(found) // 2]


def empty_scratch():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)


def turns(jobs, rounds=ROUNDS, fewer=None):
    """Runs each job once in each round. jobs: {name: function without arguments}. fewer:
    {name: number of rounds} of slow jobs, which take part in the first rounds only.
    Returns {name: [result of each round]}."""
    results = {name: [] for name in jobs}
    order = list(jobs)
    for i in range(rounds):
        at = i % len(order)
        empty_scratch()
        for name in order[at:] + order[:at]:
            if i < (fewer or {}).get(name, rounds):
                results[name].append(jobs[name]())
    return results


def job(argv, env=None, line="ns", least_of=1):
    """Returns a job whose result is a number that the program prints. Other work on the
    host slows whole runs of a short loop, so the job may take the least of several."""
    return lambda: min(number(run(argv, env).text, line) for _ in range(least_of))


def instructions(argv, env=None):
    """Returns how many instructions a program runs, without its child processes."""
    empty_scratch()
    text = run(["valgrind", "--tool=cachegrind", "--cache-sim=no",
                "--cachegrind-out-file=/dev/null", *argv], env).text
    return int(re.search(r"I\s+refs:\s+([\d,]+)", text).group(1).replace(",", ""))


# --- results -----------------------------------------------------------------


def median(values):
    import numpy

    return float(numpy.median(values))


def ratio(values, base, log_ratios=None):
    """Returns the geometric mean of the ratios of the rounds, without the highest and the
    lowest tenth, and the ends of its 95 % interval."""
    import numpy
    from scipy import stats

    if log_ratios is None:
        log_ratios = [numpy.log(a / b) for a, b in zip(values, base)]

    def mean(x, axis=-1):
        return stats.trim_mean(x, 0.1, axis=axis)

    middle = numpy.exp(mean(numpy.array(log_ratios)))
    if len(log_ratios) < 3:
        return middle, middle, middle
    ends = stats.bootstrap((log_ratios,), mean, confidence_level=0.95,
                           method="percentile").confidence_interval
    return middle, numpy.exp(ends.low), numpy.exp(ends.high)


def shown(value):
    """Returns a number with three digits or more."""
    if isinstance(value, str):
        return value
    if value >= 1000:
        return "{:,.0f}".format(value)
    return "%.3g" % value if value >= 100 or value == 0 else "%.*f" % (
        2 if value < 10 else 1, value)


def shown_ratio(of_ratio):
    return "%.3f (%.3f to %.3f)" % of_ratio


def compared(results, variant, base):
    """Returns "MEDIAN (RATIO)" of a variant, or "" if it was not measured."""
    if variant not in results:
        return ""
    text = shown(median(results[variant]))
    if base and base != variant:
        text += " (%.3f)" % ratio(results[variant], results[base])[0]
    return text


def by_variant(loops, base_of):
    """Returns the rows of a table with a row for each variant and a column for each loop.
    loops: {loop: {variant: values}}. base_of: a function from a variant to the one that
    it is compared with."""
    variants = list(dict.fromkeys(v for of in loops.values() for v in of))
    return [(v, *(compared(of, v, base_of(v)) for of in loops.values()))
            for v in variants]


def measured():
    """Returns a line with the date, the commit, the machine and the software."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cpu = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return "%s, %s: %s, %d CPUs, Linux %s, %s, clang %s." % (
        datetime.date.today(), first_line("git", "rev-parse", "--short=12", "HEAD"),
        cpu.group(1).replace("(R)", "") if cpu else "unknown", os.cpu_count(),
        os.uname().release.split("-")[0], os.confstr("CS_GNU_LIBC_VERSION"),
        first_line("clang-19", "--version").split(" (")[0].split()[-1])


def page():
    """Returns the page that gets the results. A quick run gets a copy."""
    path = os.path.join(TOP, "docs/benchmarks.md")
    if not QUICK:
        return path
    copy = os.path.join(DIR, "benchmarks.md")
    if not os.path.exists(copy):
        shutil.copy(path, copy)
    return copy


def write_table(name, head, rows):
    """Replaces the text between "<!-- table: NAME -->" and "<!-- end -->" in the page."""
    lines = ["| " + " | ".join(map(str, head)) + " |",
             "|---" + "|---:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in rows]
    text = "%s\n\n%s\n" % ("\n".join(lines), measured())
    print(text)
    with open(page(), encoding="utf-8") as f:
        old = f.read()
    begin = "<!-- table: %s -->\n" % name
    if begin not in old:
        sys.exit("bench: %s has no line %s" % (page(), begin.strip()))
    before, rest = old.split(begin, 1)
    after = rest.split("<!-- end -->", 1)[1]
    with open(page(), "w", encoding="utf-8") as f:
        f.write(before + begin + text + "<!-- end -->" + after)


def draw(name, title, bars, is_log=False):
    """Draws bars on a logarithmic axis, or ratios with their intervals. bars: {label:
    value}, or {label: (ratio, low, high)}."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    labels = list(bars)
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.3 * len(bars)))
    if is_log:
        axes.barh(labels, list(bars.values()), color="#808080", log=True)
        for i, value in enumerate(bars.values()):
            axes.text(value, i, " " + shown(value), va="center")
    else:
        axes.axvline(1, color="#808080")
        for i, (middle, low, high) in enumerate(bars.values()):
            axes.errorbar(middle, i, xerr=[[middle - low], [high - middle]], fmt="o",
                          color="black", capsize=3)
            axes.text(high, i, "  %.3f" % middle, va="center")
        axes.set_yticks(range(len(labels)), labels)
    axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
    figure.tight_layout()
    figure.savefig(os.path.join(os.path.dirname(page()), name), facecolor="white",
                   metadata={"Date": None})
