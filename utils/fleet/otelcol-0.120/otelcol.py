#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an OpenTelemetry Collector as utils/fleet/collector runs: the first line of
the output is an address, and GET /sums replies with the sums of what was received.

    otelcol.py OTELCOL [-fail N]

Passes each POST on to the Collector OTELCOL, which prints the profiles by its debug
exporter, and adds up what it prints. -fail: the first N requests fail with 503.
"""

import argparse
import collections
import http.client
import http.server
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

# Without the sampling of logs: it would drop a message whose hash is that of the
# frequent message "Profiles".
CONFIG = """receivers: {otlp: {protocols: {http: {endpoint: 127.0.0.1:%d}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}, logs: {sampling: {enabled: false}}}
  pipelines: {profiles: {receivers: [otlp], exporters: [debug]}}
"""

parser = argparse.ArgumentParser(prefix_chars="-")
parser.add_argument("otelcol")
parser.add_argument("-fail", type=int, default=0)
args = parser.parse_args()
sums = collections.Counter()
ids = set()
lock = threading.Lock()
printed = threading.Condition(lock)
counts = collections.Counter()


class Profile:
    """What the debug exporter prints of a profile. The samples have no start of their
    locations, but their locations follow each other."""

    def __init__(self):
        self.indices, self.samples, self.locations = [], [], []
        self.functions, self.strings = [], []

    def stacks(self):
        at = 0
        for length, values, attributes in self.samples:
            names = set(attributes)
            for l in self.indices[at : at + length]:
                names |= {self.strings[self.functions[f]] for f in self.locations[l]}
            at += length
            yield names, values
        assert at == len(self.indices), "the samples have all locations"


class Reader:
    """Reads the lines of the debug exporter. The types of the values are not printed;
    they are known from their number: a heap profile has four, others two."""

    TYPES = {
        4: ("alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"),
        2: ("contentions/count", "delay/nanoseconds"),
    }

    def __init__(self):
        self.service, self.profile, self.in_strings = "", None, False

    def end_profile(self):
        if self.profile is None:
            return
        p, self.profile = self.profile, None
        for names, values in p.stacks():
            for kind, value in zip(self.TYPES[len(values)], values):
                for name in names:
                    sums["%s %s %s" % (self.service, kind, name)] += value

    def line(self, line):
        text = line.strip()
        p = self.profile
        if self.in_strings:
            if line.startswith("        "):
                p.strings.append(line[8:])
                return
            self.in_strings = False
            self.end_profile()
        elif text.startswith("-> service.name: Str("):
            self.service = text[len("-> service.name: Str(") : -1]
        elif re.match(r"Profile #\d+$", text):
            self.end_profile()
            self.profile = Profile()
        elif text.startswith("Profile ID"):
            assert text not in ids, "the profile was sent twice"
            ids.add(text)
        elif text.startswith("Location indices: ["):
            p.indices = list(map(int, text[text.index("[") + 1 : -1].split()))
        elif text.startswith("Location length: "):
            p.samples.append([int(text.split()[-1]), [], []])
        elif text.startswith("Value: ["):
            p.samples[-1][1] = list(map(int, text[8:-1].split()))
        elif text.startswith("-> ") and p is not None and p.samples and not p.locations:
            p.samples[-1][2].append(text[3:].replace(": ", "=", 1))
        elif re.match(r"Location #\d+$", text):
            p.locations.append([])
        elif text.startswith("Function index: "):
            p.locations[-1].append(int(text.split()[-1]))
        elif text.startswith("Name: ") and p is not None:
            p.functions.append(int(text.split()[-1]))
        elif text == "String table:":
            self.in_strings = True


def read_log(stream):
    reader = Reader()
    for line in stream:
        with lock:
            if "Everything is ready" in line:
                ready.set()
            if "error" in line.lower():
                print(line, end="", file=sys.stderr)
            reader.line(line.rstrip("\n"))
            # Each request ends with the line that has its metadata.
            if line.startswith("\t{"):
                reader.end_profile()
                counts["printed"] += 1
                printed.notify_all()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *unused):
        pass

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with lock:
            # The Collector may print the last profiles after its reply.
            if not printed.wait_for(lambda: counts["printed"] >= counts["good"], 30):
                print("only %(printed)d of %(good)d requests were printed" % counts, file=sys.stderr)
            lines = ["requests %d" % counts["good"]] + sorted("%s %d" % s for s in sums.items())
        self.reply(200, ("\n".join(lines) + "\n").encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        counts["all"] += 1
        if counts["all"] <= args.fail:
            self.reply(503, b"try again\n")
            return
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {k: self.headers[k] for k in ("Content-Type", "Content-Encoding") if self.headers[k]}
        c.request("POST", self.path, body, headers)
        r = c.getresponse()
        counts["good"] += r.status == 200
        self.reply(r.status, r.read())


with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
config.write(CONFIG % port)
config.flush()
ready = threading.Event()
collector = subprocess.Popen(
    [args.otelcol, "--feature-gates=service.profilesSupport", "--config=" + config.name],
    stderr=subprocess.PIPE,
    stdout=subprocess.DEVNULL,
    text=True,
)
try:
    threading.Thread(target=read_log, args=(collector.stderr,), daemon=True).start()
    if not ready.wait(60):
        sys.exit("the Collector does not start")
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print("http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
finally:
    collector.kill()
