#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs many services and an agent that sends their profiles to a collector, and
compares what the collector has added up with what the services have done.

    fleet.py --mprof PATH --worker PATH --collector COMMAND [--otlp|--pyroscope]
             [--processes N] [--seconds N] [--every TIME] [--fail N]

The collector (collector/main.go, or test/tool/Inputs/collector.py) prints its
address and replies to GET /sums. --fail: the collector refuses the first N
requests, as if it were overloaded. Prints a table. The exit status is 1 if a sum
differs, or if the agent takes more than 32 MB. The share of a processor that the
agent takes is printed, but not judged, because it depends on the machine.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

OPTIONS = "heap_rate=1:mutex_fraction=1:profile=0:report=0:listen=unix:%s/worker.%%p.sock"
MEMORY_MAX_KB = 32 << 10


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--mprof", required=True)
    p.add_argument("--worker", required=True)
    p.add_argument("--collector", required=True)
    p.add_argument("--otlp", action="store_true")
    p.add_argument("--pyroscope", action="store_true")
    p.add_argument("--ingest", action="store_true")
    p.add_argument("--processes", type=int, default=50)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--every", default="5s")
    p.add_argument("--fail", type=int, default=0)
    return p.parse_args()


def start(command, **kwargs):
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **kwargs)


def start_workers(args, folder):
    env = dict(os.environ, MPROF_OPTIONS=OPTIONS % folder)
    return [
        start([args.worker], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) for _ in range(args.processes)
    ]


def stop_workers(workers):
    """Returns the sums of what the workers have done."""
    for w in workers:
        w.stdin.write("stop\n")
        w.stdin.flush()
    sums = [0, 0, 0]
    for w in workers:
        sums = [a + int(b) for a, b in zip(sums, w.stdout.readline().split())]
    return sums


def end(processes):
    for p in processes:
        p.kill()
        p.wait()


def cpu_seconds(pid):
    fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kb(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/%d/status" % pid).read()).group(1))


def read_sums(url):
    text = urllib.request.urlopen(url + "/sums").read().decode()
    sums = {}
    for line in filter(None, text.splitlines()):
        words = line.rsplit(" ", 1)
        sums[words[0].partition(" ")[2]] = int(words[1])
    return sums, int(text.split()[1])


def run(args, folder):
    collector = start(args.collector.split() + ["-fail", str(args.fail)])
    processes = [collector]
    try:
        url = collector.stdout.readline().strip()
        workers = start_workers(args, folder)
        processes += workers
        to = "--pyroscope=" + url + "/ingest" * args.ingest if args.pyroscope or args.ingest else "--otlp=" + url
        agent = start(
            [args.mprof, "push", "--socket", folder + "/*.sock", "--every", args.every, to],
            stderr=subprocess.PIPE,
        )
        processes.append(agent)
        begin = time.monotonic()
        time.sleep(args.seconds)
        done = stop_workers(workers)
        cpu, memory = cpu_seconds(agent.pid), memory_kb(agent.pid)
        share = cpu / (time.monotonic() - begin)
        agent.send_signal(signal.SIGTERM)
        messages = agent.communicate(timeout=60)[1]
        sums, requests = read_sums(url)
    finally:
        end(processes)
    return done, sums, requests, share, memory, messages, agent.returncode


def main():
    args = parse()
    # The path of a socket is short.
    folder = tempfile.mkdtemp(prefix="mprof-", dir="/tmp")
    try:
        done, sums, requests, share, memory, messages, status = run(args, folder)
    finally:
        shutil.rmtree(folder)
    keys = ("alloc_objects/count serve", "alloc_space/bytes serve", "contentions/count contend")
    is_good = status == 0 and memory <= MEMORY_MAX_KB
    print("%d processes, %.0f s, %d requests" % (args.processes, args.seconds, requests))
    print("%-28s %15s %15s" % ("", "done", "received"))
    for key, value in zip(keys, done):
        print("%-28s %15d %15d" % (key, value, sums.get(key, 0)))
        is_good &= value == sums.get(key, 0)
    print("agent: %.2f %% of a processor, %.1f MB" % (100 * share, memory / 1024))
    print(messages, end="")
    print("equal" if is_good else "FAILED")
    sys.exit(0 if is_good else 1)


main()
