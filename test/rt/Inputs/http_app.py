# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Helps the scripts of the tests http-*.test: starts a program with an HTTP server, and
# asks it.

import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 120  # seconds; ends a test that hangs
QUIET = "profile=0:report=0:heap_rate=1:block_rate=1:mutex_fraction=1"

# The checks of all files, by their names.
CHECKS = {}
# The program runs under an emulator of its processor, whose own memory, threads
# and signals the kernel shows as the program's.
IS_EMULATED = "MPROF_TEST_EMULATED" in os.environ


def check(f):
    CHECKS[f.__name__] = f
    return f


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT)
        self.unix_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        # With a timeout, connect would fail while the queue of the socket is full.
        self.sock.connect(self.unix_path)
        self.sock.settimeout(self.timeout)


class Reply:
    def __init__(self, r):
        self.status = r.status
        self.headers = r.headers
        self.body = r.read()
        self.text = self.body.decode("utf-8", "replace")


class App:
    """A program that executes commands (http_app.c). Its socket is in a
    directory of its own in /tmp, because the path of a socket is short."""

    def __init__(self, program, options="", listen="unix:%s/%%p.sock", stderr=None):
        self.dir = tempfile.mkdtemp(prefix="mprof-", dir="/tmp")
        self.listen = listen % self.dir if "%s" in listen else listen
        words = [QUIET] + ["listen=" + self.listen] * bool(listen) + [options] * bool(options)
        self.err_path = os.path.join(self.dir, "err")
        self.process = subprocess.Popen(
            [os.path.abspath(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(self.err_path, "w"),
            env=dict(os.environ, MPROF_OPTIONS=":".join(words)),
            text=True,
            bufsize=1,
        )
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n", self.err()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def err(self):
        return open(self.err_path).read()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def command(self, line):
        """Executes a command and returns its result."""
        self.send(line)
        return int(self.process.stdout.readline())

    def exit(self, line="exit 0"):
        self.send(line)
        return self.process.wait(TIMEOUT)

    def path(self, pid=None):
        return os.path.join(self.dir, "%d.sock" % (pid or self.pid))

    def port(self):
        return int(re.search(r"listening at http://.*:(\d+)/debug/pprof/", self.err()).group(1))

    def client(self, pid=None):
        if self.listen.startswith("unix:"):
            return UnixHTTP(self.path(pid))
        host = "::1" if self.listen.startswith("[") else "127.0.0.1"
        return http.client.HTTPConnection(host, self.port(), timeout=TIMEOUT)

    def is_open(self, pid):
        """Returns whether the HTTP server of a child process accepts connections."""
        try:
            c = self.client(pid)
            c.connect()
            c.close()
            return True
        except OSError:
            return False

    def raw(self):
        """Returns a connected socket."""
        c = self.client()
        c.connect()
        return c.sock

    def ask(self, path, method="GET", body=None, headers={}, pid=None):
        c = self.client(pid)
        c.request(method, path, body, headers)
        reply = Reply(c.getresponse())
        c.close()
        return reply

    def begin(self, path):
        """Sends a request whose reply takes some time. Returns, when the HTTP server
        has handled the request, a function that reads the reply."""
        c = self.client()
        c.request("GET", path)
        # The HTTP server handles requests in the order of their arrival.
        self.ask("/debug/pprof/cmdline")
        return lambda: Reply(c.getresponse())

    def profile(self, name):
        return read_profile(self.ask("/debug/pprof/" + name).body)

    def status(self, tid=None):
        """Returns the lines of /proc/PID/status as a dictionary."""
        path = "/proc/%d/task/%d/status" % (self.pid, tid or self.pid)
        parts = [line.rstrip("\n").partition(":\t") for line in open(path)]
        return {name: value for name, _, value in parts}

    def http_tid(self):
        return self.thread_named("mprof-http")

    def thread_named(self, pattern):
        """Returns the id of a thread whose whole name matches, or None."""
        for tid in map(int, os.listdir("/proc/%d/task" % self.pid)):
            try:
                if re.fullmatch(pattern, self.status(tid)["Name"]):
                    return tid
            except OSError:  # the thread has ended
                pass
        return None


def until(condition):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("the condition did not become true")


def read_profile(data, symbolize="--symbolize"):
    """Returns the lines that mprof_read.py prints for a profile."""
    with tempfile.NamedTemporaryFile(suffix=".pb.gz") as f:
        f.write(data)
        f.flush()
        return subprocess.run(
            [sys.executable, os.path.join(HERE, "../../Inputs/mprof_read.py"), f.name] + [symbolize] * bool(symbolize),
            check=True,
            capture_output=True,
            text=True,
        ).stdout


def equal(got, expected):
    if got != expected:
        raise AssertionError("got %r, expected %r" % (got, expected))


def samples(text, function):
    """Sums the values of the samples that contain a function."""
    sums = None
    for line in text.split("\n"):
        if not line.startswith("sample: ") or function not in line:
            continue
        values = [int(v) for v in line.split(" : ")[0].split()[1:] if re.match(r"-?\d+$", v)]
        sums = [a + b for a, b in zip(sums, values)] if sums else values
    return sums


def threads(pid):
    """Returns the number of threads of a process, without the emulator's own."""
    return len(os.listdir("/proc/%d/task" % pid)) - IS_EMULATED
