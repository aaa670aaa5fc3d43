#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what a collector costs a busy service: the throughput and the 99th
percentile of the response time of the service of utils/demo.sh server, while
all profiles are read from its door each second, to those without a collector.

    utils/demo.sh server    # compiles the service
    utils/bench/scrape.py [PAIRS] [SECONDS]

The same process is scraped and left alone in turns, for SECONDS (4) each, because the
speed of a virtual machine changes within minutes. The ratios are those of the PAIRS (28)
of neighbours, with the interval that contains the ratio with a probability of 95 %.
"names": profiles with names of functions; "addresses": with the parameter symbolize=0.
The output also has the processor time that the door's thread and the processes that find
names have used while the service was scraped, in per cent of one processor.
"""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

import interval

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVER = TOP + "/build/demo/server"
CLIENTS = 3
WARM_UP = 200  # requests before the measurement
PAGES = ("heap", "allocs", "block", "mutex", "threadcreate", "goroutine")
VARIANTS = {"names": "", "addresses": "?symbolize=0"}
PAUSE = 0.3  # seconds until a slice begins
SCRIPT = "function (values) { values.sort(function (a, b) { return a - b; }); return values[0]; }"


def request(client, body):
    client.request("POST", "/eval", body, {"Content-Type": "application/json"})
    reply = client.getresponse()
    reply.read()
    assert reply.status == 200


def drive(port, seed, left, times, lock):
    """Sends requests until none is left, and notes the times of all."""
    numbers = random.Random(seed)
    client = http.client.HTTPConnection("127.0.0.1", port)
    while True:
        with lock:
            left[0] -= 1
            if left[0] < 0:
                return
        values = [numbers.randrange(100000) for _ in range(300)]
        body = json.dumps({"name": "sort", "script": SCRIPT, "args": values})
        begin = time.perf_counter()
        request(client, body)
        times.append(time.perf_counter() - begin)


def start_load(port, requests):
    """Starts the clients. Returns them, the list to which they append the times of their
    requests, and a list with the number of requests that are left."""
    times, left, lock = [], [requests], threading.Lock()
    clients = [
        threading.Thread(target=drive, args=(port, i, left, times, lock), daemon=True) for i in range(CLIENTS)
    ]
    for c in clients:
        c.start()
    return clients, times, left


class Scraper(threading.Thread):
    """Reads all pages each second while `is_on` is set."""

    def __init__(self, path, query):
        super().__init__(daemon=True)
        self.path, self.query = path, query
        self.is_on = threading.Event()
        self.must_end = False
        self.scrapes = 0

    def run(self):
        while self.is_on.wait() and not self.must_end:
            begin = time.monotonic()
            for page in PAGES:
                s = socket.socket(socket.AF_UNIX)
                s.connect(self.path)
                s.sendall(b"GET /debug/pprof/%s%s HTTP/1.0\r\n\r\n" % (page.encode(), self.query.encode()))
                head = s.recv(65536)
                assert b" 200 " in head[:20], head[:200]
                while s.recv(65536):
                    pass
                s.close()
            self.scrapes += 1
            time.sleep(max(0, begin + 1 - time.monotonic()))

    def end(self):
        self.must_end = True
        self.is_on.set()
        self.join()


def ticks(path, children):
    """Returns the processor time in the file, in seconds. children: with the time of
    children that have ended."""
    try:
        with open(path) as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:  # the thread or process has ended
        return 0
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")


def descendants(pid):
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as f:
                parents[int(name)] = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = [pid]
    for p in found:
        found += [child for child, parent in parents.items() if parent == p]
    return found[1:]


def own_time(pid):
    """Returns the processor time of the door's thread and of the server's children,
    which find names, in seconds."""
    seconds = sum(ticks("/proc/%d/stat" % child, True) for child in descendants(pid))
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, tid)) as f:
            if f.read() == "mprof-door\n":
                seconds += ticks("/proc/%d/task/%s/stat" % (pid, tid), False)
    return seconds


def measure_slice(scraper, times, is_on, seconds):
    """Returns the requests per second and the 99th percentile of their times."""
    (scraper.is_on.set if is_on else scraper.is_on.clear)()
    time.sleep(PAUSE)
    begin, first = time.monotonic(), len(times)
    time.sleep(seconds)
    rate = (len(times) - first) / (time.monotonic() - begin)
    of_slice = sorted(times[first:])
    return rate, of_slice[len(of_slice) * 99 // 100]


def run(query, pairs, seconds):
    """Returns the list of (rate, 99th percentile) of the slices with and without a
    collector, and MProf's own share of a processor with one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = folder + "/sock"
        options = "block_rate=1:mutex_fraction=1:profile=0:report=0:listen=unix:" + path
        server = subprocess.Popen(
            [SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, MPROF_OPTIONS=options)
        )
        port = int(server.stdout.readline().split()[-1])
        for c in start_load(port, WARM_UP)[0]:
            c.join()
        clients, times, left = start_load(port, sys.maxsize)
        scraper = Scraper(path, query)
        scraper.start()
        measure_slice(scraper, times, True, seconds)  # the first scrape finds most names
        results = {True: [], False: []}
        before, scraped = own_time(server.pid), 0
        for i in range(pairs):
            for is_on in (True, False) if i % 2 else (False, True):
                results[is_on].append(measure_slice(scraper, times, is_on, seconds))
                scraped += is_on * (seconds + PAUSE)
        share = (own_time(server.pid) - before) / scraped
        assert scraper.scrapes >= pairs, "the slices are too short"
        scraper.end()
        left[0] = 0
        for c in clients:
            c.join()
        server.kill()
        server.wait()
    return results, share


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 28
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 4
    if not os.path.exists(SERVER):
        sys.exit("scrape.py: first run: utils/demo.sh server")
    for name, query in VARIANTS.items():
        results, share = run(query, pairs, seconds)
        for i, (what, bar) in enumerate((("throughput", "at least 0.99"), ("p99", "at most 1.05"))):
            ratio = interval.of_ratio([r[i] for r in results[True]], [r[i] for r in results[False]])
            print("%s: %s %s, %s" % (name, what, interval.shown(ratio), bar))
        print("%s: MProf's own threads and processes %.2f %% of a processor" % (name, 100 * share), flush=True)


main()
