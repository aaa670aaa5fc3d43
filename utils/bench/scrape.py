#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what a collector costs a busy service: the throughput and the 99th
percentile of the response time of the service of utils/demo.sh server, while
all profiles are read from its door each second, to those without a collector.

    utils/demo.sh server    # compiles the service
    utils/bench/scrape.py [ROUNDS] [REQUESTS]

Each round runs the service once for each variant, in random order. The figures
are the medians over the rounds of the ratios within a round. "names": profiles
with names of functions; "addresses": with the parameter symbolize=0.
"""

import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVER = TOP + "/build/demo/server"
CLIENTS = 3
WARM_UP = 200  # requests before the measurement
PAGES = ("heap", "allocs", "block", "mutex", "threadcreate", "goroutine")
VARIANTS = {"alone": None, "names": "", "addresses": "?symbolize=0"}
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


def load(port, requests):
    """Returns the duration and the times of all requests."""
    times, left, lock = [], [requests], threading.Lock()
    threads = [threading.Thread(target=drive, args=(port, i, left, times, lock)) for i in range(CLIENTS)]
    begin = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return time.perf_counter() - begin, times


class Scraper(threading.Thread):
    def __init__(self, path, query):
        super().__init__(daemon=True)
        self.path, self.query = path, query
        self.must_end = threading.Event()
        self.scrapes = 0

    def run(self):
        while not self.must_end.wait(1):
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


def run(query, requests):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = folder + "/sock"
        options = "block_rate=1:mutex_fraction=1:profile=0:report=0:listen=unix:" + path
        server = subprocess.Popen(
            [SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, MPROF_OPTIONS=options)
        )
        port = int(server.stdout.readline().split()[-1])
        load(port, WARM_UP)
        scraper = Scraper(path, query or "")
        if query is not None:
            scraper.start()
        seconds, times = load(port, requests)
        scraper.must_end.set()
        if query is not None:
            scraper.join()
            assert scraper.scrapes > 0, "the measurement is too short"
        server.kill()
        server.wait()
    times.sort()
    return requests / seconds, times[len(times) * 99 // 100]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    if not os.path.exists(SERVER):
        sys.exit("scrape.py: first run: utils/demo.sh server")
    ratios = {name: [] for name in VARIANTS}
    for number in range(rounds):
        order = list(VARIANTS)
        random.shuffle(order)
        results = {name: run(VARIANTS[name], requests) for name in order}
        for name, (rate, p99) in results.items():
            ratios[name].append((rate / results["alone"][0], p99 / results["alone"][1]))
        print("round %d:" % number, "; ".join("%s %.0f/s, p99 %.1f ms" % (n, r, 1000 * p) for n, (r, p) in results.items()), flush=True)
    for name in ("names", "addresses"):
        rate, p99 = (statistics.median(r[i] for r in ratios[name]) for i in (0, 1))
        print("%s: throughput %.3f (at least 0.99), p99 %.3f (at most 1.05)" % (name, rate, p99))


main()
