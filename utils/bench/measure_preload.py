# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of programs that were built without MProf."""

import os
import shutil
import subprocess
import time

from measure_heap import jemalloc_profiles, script
from running import (
    CLEARED, DIR, QUICK, SCRATCH, TOP, has_valgrind, instructions_of, log, mprof,
    program, run, take_turns)

LIBRARY = os.path.join(TOP, "build/lib/mprof/libmprof_preload.so")
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
TCMALLOC = LIBRARIES + "libtcmalloc.so.4"
JEMALLOC = LIBRARIES + "libjemalloc.so.2"
SAMPLED = "MProf, 512 KiB"
ROUNDS = 2 if QUICK else 9
FEW = 1 if QUICK else 2
DUKTAPE = [script("leak")] if QUICK else [script("json"), script("objects")]

# gperftools takes minutes for these programs.
TOO_SLOW = {"Duktape": ("gperftools, every block",),
            "JSON": ("gperftools, every block",)}

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


def variants():
    """Returns {variant: (words before the program, environment)} and {variant: number of
    rounds} of the slow ones."""
    of = {
        "plain": ([], {}),
        SAMPLED: ([], preload()),
        "MProf, heap=0": ([], preload("heap=0")),
        "tcmalloc": ([], {"LD_PRELOAD": TCMALLOC}),
        "tcmalloc, 512 KiB": ([], {"LD_PRELOAD": TCMALLOC,
                                   "TCMALLOC_SAMPLE_PARAMETER": "524288"}),
        "jemalloc": ([], {"LD_PRELOAD": JEMALLOC}),
        "MProf, exact": ([], preload("heap_rate=1")),
        "heaptrack, every block": (
            ["heaptrack", "-o", os.path.join(SCRATCH, "heaptrack")], {}),
        "gperftools, every block": ([], {
            "LD_PRELOAD": TCMALLOC,
            "HEAPPROFILE": os.path.join(SCRATCH, "gperftools")}),
    }
    if jemalloc_profiles():
        of["jemalloc, 512 KiB"] = (
            [], {"LD_PRELOAD": JEMALLOC,
                 "MALLOC_CONF": "prof:true,lg_prof_sample:19"})
    return of, {"heaptrack, every block": FEW, "gperftools, every block": FEW,
                "MProf, exact": 2 * FEW}


def sqlite(rows):
    path = os.path.join(DIR, "preload-%d.sql" % rows)
    with open(path, "w", encoding="utf-8") as f:
        f.write(SQL % rows)
    return [shutil.which("sqlite3"), ":memory:", ".read " + path]


def seconds_of(argv):
    def job(words, env):
        return lambda: run([*words, *argv], env).seconds
    return job


def redis(requests):
    """Returns a job: seconds of user and system time of redis-server, while
    redis-benchmark sends it requests."""
    socket = os.path.join("/tmp", "mprof-bench-%d.sock" % os.getpid())
    server = [shutil.which("redis-server"), "--port", "0", "--unixsocket", socket,
              "--save", "", "--daemonize", "no"]
    client = ["redis-benchmark", "-s", socket, "-q", "-n", str(requests), "-c", "20",
              "-t", "set,get,lpush,lrange_100,hset"]

    def job(words, env):
        everything = {k: v for k, v in os.environ.items() if k not in CLEARED}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                 "cwd": SCRATCH}

        def once():
            process = subprocess.Popen([*words, *server],
                                       env={**everything, **env}, **quiet)
            while not os.path.exists(socket):
                time.sleep(0.01)
            subprocess.run(client, check=True, **quiet)
            subprocess.run(["redis-cli", "-s", socket, "shutdown", "nosave"],
                           check=False, **quiet)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        return once
    return job


def programs():
    small = 3000 if QUICK else 400000
    return {
        "Duktape": seconds_of([program("duk-plain"), *DUKTAPE]),
        "JSON": seconds_of([program("json-plain")]),
        "sqlite3": seconds_of(sqlite(small)),
        "redis-server": redis(1000 if QUICK else 100000),
    }


def time_of_programs():
    of, fewer = variants()
    results = {}
    for name, job in programs().items():
        log("preload: " + name)
        results[name] = take_turns(
            {v: job(words, env) for v, (words, env) in of.items()
             if v not in TOO_SLOW.get(name, ())}, ROUNDS, fewer)
    return results


def instructions():
    """Counts the instructions of the programs, without those of the processes that find
    the names at exit."""
    log("preload: instructions")
    if not has_valgrind():
        return {}
    runs = {
        "Duktape, objects.js": [program("duk-plain"), script("objects")],
        "sqlite3": sqlite(2000 if QUICK else 50000),
    }
    return {name: {"plain": [instructions_of(argv, {})],
                   "MProf, heap=0": [instructions_of(
                       argv, preload("heap=0:symbolize=0"))],
                   SAMPLED: [instructions_of(argv, preload("symbolize=0"))]}
            for name, argv in runs.items()}


PACKAGES = {
    "sqlite3": "sqlite3",
    "redis": "redis-server",
    "jemalloc": "libjemalloc2",
    "gperftools": "libgoogle-perftools-dev",
    "heaptrack": "heaptrack",
    "valgrind": "valgrind",
    "duktape": "duktape-dev",
    "nlohmann-json": "nlohmann-json3-dev",
}
PARTS = (time_of_programs, instructions)
