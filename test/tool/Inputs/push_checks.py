# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks `mprof push` with files.

    push_checks.py MPROF PROFILE

PROFILE is a heap profile of http_app.c with three blocks of 5000 bytes, one of
which was freed.
"""

import os
import subprocess
import sys
import urllib.request

mprof, profile = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
VALUES = [
    "app alloc_objects/count grow 3",
    "app alloc_space/bytes grow 15000",
    "app inuse_objects/count grow 2",
    "app inuse_space/bytes grow 10000",
]


class Collector:
    def __init__(self, *arguments, **env):
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE + "/collector.py", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ, **env),
        )
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()

    def lines(self):
        return urllib.request.urlopen(self.url + "/sums").read().decode().splitlines()


def push(*arguments):
    p = subprocess.run([mprof, "push", *arguments], capture_output=True, text=True)
    assert p.stdout == "", p.stdout
    return p.returncode, p.stderr


def has(lines, wanted):
    missing = set(wanted) - set(lines)
    assert not missing, (missing, lines)


with Collector() as c:
    status, err = push(profile, "--otlp=" + c.url, "--resource=deployment=a b", "--resource=host.name=h")
    assert (status, err) == (0, "mprof push: sent 1 profile\n"), err
    has(c.lines(), VALUES + ["app alloc_space/bytes execute 15000", "app alloc_objects/count bytes=5000 3"])
    has(c.lines(), ["app resource deployment=a b 1", "app resource host.name=h 1", "app resource service.name=app 1"])
for option in (
    "--pyroscope=%s",
    "--pyroscope=%s/",
    "--pyroscope=%s/ingest",
    "--pyroscope=%s/ingest/",
    "--pyroscope=%s/ingest?tenant=a",
    "--pyroscope=%s?tenant=a",
    "--pyroscope=%s/?tenant=a",
    "--pyroscope=%s/push.v1.PusherService/Push/",
    "--otlp=%s/v1development/profiles/?tenant=a",
):
    with Collector() as c:
        status, err = push(option % c.url, profile)
        assert (status, err) == (0, "mprof push: sent 1 profile\n"), err
        has(c.lines(), VALUES)

# Overloaded, then ready.
with Collector("-fail", "1") as c:
    status, err = push("--otlp=" + c.url, profile)
    assert status == 0 and "cannot send to %s/v1development/profiles: status 503: try again; " % c.url in err, err
    has(c.lines(), VALUES + ["requests 1"])
# A file that cannot be read does not keep the others from being sent.
with Collector() as c:
    status, err = push("--otlp=" + c.url, "nothing.pb.gz", profile)
    assert status == 2 and "No such file" in err and "sent 1 profile\n" in err, err
# A refused request is not sent again.
with Collector("-fail", "1", "-status", "400") as c:
    status, err = push("--otlp=" + c.url, profile)
    assert status == 2 and "refuses a profile: status 400: try again" in err, err
    assert "need the Collector 0.150 or later" in err, err
    has(c.lines(), ["requests 0"])
with Collector("-reject", "3") as c:
    status, err = push("--otlp=" + c.url, profile)
    assert status == 2 and "rejected 3 profiles: wrong" in err, err
# A collector that counts wrong does not reject 2^64 - 1 profiles.
with Collector("-reject", "-1") as c:
    status, err = push("--otlp=" + c.url, profile)
    assert status == 0 and "sent 1 profile\n" in err, err
# The token is read from a file.
with Collector(TOKEN="secret") as c:
    status, err = push("--otlp=" + c.url, profile)
    assert status == 2 and "status 401: wrong token" in err, err
    open("auth", "w").write("Authorization: Bearer secret\n")
    assert push("--otlp=" + c.url, profile, "--auth-file=auth")[0] == 0
    status, err = push("--otlp=" + c.url, profile, "--resource=x")
    assert status == 2 and "not KEY=VALUE" in err, err

for arguments, text in [
    ([profile], "give the collector's address"),
    (["--otlp=http://x", "--pyroscope=http://y", profile], "give the collector's address"),
    (["--otlp=localhost:4318", profile], "must begin with http://"),
    (["--otlp=http://x"], "give either files or --socket"),
    (["--otlp=http://x", "--every=1s", profile], "--every needs --socket"),
    (["--otlp=http://x", "--every=soon", "--socket=/x"], "not a time between 100ms and 24h"),
    (["--otlp=http://x", "nothing.pb.gz"], "No such file"),
    (["--otlp=http://x", "--auth-file=nothing", profile], "cannot read nothing"),
    (["--otlp=http://127.0.0.1:1", "--socket=/nothing/*.sock"], "no program has answered"),
]:
    status, err = push(*arguments)
    assert status == 2 and text in err, (arguments, err)
