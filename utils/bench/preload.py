# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What profiling costs programs that were built without MProf."""

import os
import shutil
import subprocess
import time

from bench import (
    DEMO, DIR, QUICK, SCRATCH, TOP, build_demo, environment, instructions, log, median,
    mprof, program, ratio, run, turns, write_table)

LIBRARY = os.path.join(TOP, "build/lib/mprof/libmprof_preload.so")
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
FEW = 1 if QUICK else 2  # rounds of slow tools
# gperftools takes minutes for these programs.
TOO_SLOW = ("Duktape", "JSON")
SQL = """\
create table t(a integer primary key, b text, c);
with recursive c(x) as (select 1 union all select x + 1 from c where x < %d)
insert into t select x, 'abc' || x, x %% 97 from c;
create index i on t(c);
select count(*), sum(a) from t where c = 5;
select b from t order by b desc limit 3;
update t set b = b || 'x' where c < 50;
"""


def preload(options=""):
    return {"LD_PRELOAD": LIBRARY, **mprof("quiet=1:" + options)}


# {variant: (words before the program, environment)}
VARIANTS = {
    "plain": ([], {}),
    "MProf, 512 KiB": ([], preload()),
    "MProf, heap=0": ([], preload("heap=0")),
    "tcmalloc": ([], {"LD_PRELOAD": TCMALLOC}),
    "tcmalloc, 512 KiB": ([], {"LD_PRELOAD": TCMALLOC,
                               "TCMALLOC_SAMPLE_PARAMETER": "524288"}),
    "jemalloc": ([], {"LD_PRELOAD": JEMALLOC}),
    "jemalloc, 512 KiB": ([], {"LD_PRELOAD": JEMALLOC,
                               "MALLOC_CONF": "prof:true,lg_prof_sample:19"}),
    "MProf, every block": ([], preload("heap_rate=1")),
    "heaptrack, every block": (
        ["heaptrack", "-o", os.path.join(SCRATCH, "heaptrack")], {}),
    "gperftools, every block": ([], {
        "LD_PRELOAD": TCMALLOC, "HEAPPROFILE": os.path.join(SCRATCH, "gperftools")}),
}


def sqlite(rows):
    path = os.path.join(DIR, "preload-%d.sql" % rows)
    with open(path, "w", encoding="utf-8") as f:
        f.write(SQL % rows)
    return [shutil.which("sqlite3"), ":memory:", ".read " + path]


def script(name):
    return os.path.join(DEMO, name + ".js")


def seconds_of(argv):
    return lambda words, env: lambda: run([*words, *argv], env).seconds


def redis(requests):
    """Returns a job: seconds of user and system time of redis-server, while
    redis-benchmark sends it requests."""
    where = os.path.join("/tmp", "mprof-bench-%d.sock" % os.getpid())
    server = [shutil.which("redis-server"), "--port", "0", "--unixsocket", where,
              "--save", "", "--daemonize", "no"]
    client = ["redis-benchmark", "-s", where, "-q", "-n", str(requests), "-c", "20",
              "-t", "set,get,lpush,lrange_100,hset"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": SCRATCH}

    def job(words, env):
        def once():
            process = subprocess.Popen([*words, *server], env=environment(env), **quiet)
            while not os.path.exists(where):
                time.sleep(0.01)
            subprocess.run(client, check=True, **quiet)
            subprocess.run(["redis-cli", "-s", where, "shutdown", "nosave"],
                           check=False, **quiet)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        return once
    return job


def programs():
    """The time and the instructions of programs, to those without a profiler."""
    build_demo()
    scripts = [script("leak")] if QUICK else [script("json"), script("objects")]
    jobs = {
        "Duktape": seconds_of([program("duk-plain"), *scripts]),
        "JSON": seconds_of([program("json-plain")]),
        "sqlite3": seconds_of(sqlite(3000 if QUICK else 400000)),
        "redis-server": redis(1000 if QUICK else 100000),
    }
    columns = {}
    for name, job in jobs.items():
        log("preload: " + name)
        columns[name] = turns(
            {v: job(*of) for v, of in VARIANTS.items()
             if name not in TOO_SLOW or not v.startswith("gperftools")},
            2 if QUICK else 9,
            {v: FEW for v in VARIANTS if v.endswith("every block")})
    for name, argv in (("Duktape, instructions", [program("duk-plain"), script("objects")]),
                       ("sqlite3, instructions", sqlite(2000 if QUICK else 50000))):
        columns[name] = {v: [instructions(argv, {**VARIANTS[v][1], **extra})]
                         for v, extra in (
                             ("plain", {}),
                             ("MProf, 512 KiB", preload("symbolize=0")),
                             ("MProf, heap=0", preload("heap=0:symbolize=0")))}

    def cell(of, variant):
        if variant not in of:
            return ""
        if variant != "plain":
            return "%.3f" % ratio(of[variant], of["plain"])[0]
        value = median(of["plain"])
        return "%.2f s" % value if value < 1e6 else "%.0f million" % (value / 1e6)

    write_table("preload", ("", *columns), [
        (v, *(cell(of, v) for of in columns.values())) for v in VARIANTS])


PARTS = {"programs": programs}
