# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the agent of `mprof push` does not hang.

    push_hangs.py MPROF APP CLOCK

APP is http_app.c, and CLOCK is fast_clock.c.
"""

import concurrent.futures
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

mprof, app_path, clock = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../../rt/Inputs")
from http_app import App, until  # noqa: E402


@contextlib.contextmanager
def started(*command, **options):
    """Starts a process, which ends at the latest with the block."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def agent(*arguments):
    env = dict(os.environ, LD_PRELOAD=os.path.abspath(clock))
    return started(mprof, "push", "--every=500ms", *arguments, stderr=subprocess.PIPE, env=env)


def end(process):
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=60)[1]


def silent_collector(accepted):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)

    def run():
        kept = []
        while True:
            kept.append(listener.accept()[0])
            kept[-1].recv(1)
            accepted.set()

    threading.Thread(target=run, daemon=True).start()
    return "http://127.0.0.1:%d" % listener.getsockname()[1]


def dripping_server(path, asked):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)

    def run():
        while True:
            s = listener.accept()[0]
            s.recv(1000)
            asked.set()
            try:
                s.sendall(b"HTTP/1.1 200 OK\r\nServer: MProf/1\r\nContent-Length: 1000000\r\n\r\n")
                while True:
                    s.sendall(b"x")
                    time.sleep(0.2)
            except OSError:
                pass

    threading.Thread(target=run, daemon=True).start()


def never_replies():
    """A collector that never replies."""
    with App(app_path) as app:
        app.command("alloc 3 5000")
        accepted = threading.Event()
        with agent("--socket=" + app.path(), "--otlp=" + silent_collector(accepted)) as a:
            assert accepted.wait(60)
            err = end(a)
        assert "no reply before the end" in err and "not sent: " in err, err


def drips():
    """An HTTP server that drips, beside a good one, with the end in the middle of the drip."""
    python = [sys.executable, "-B"]
    with App(app_path) as app, started(*python, HERE + "/collector.py", stdout=subprocess.PIPE) as collector:
        app.command("alloc 3 5000")
        url = collector.stdout.readline().strip()
        asked = threading.Event()
        dripping_server(app.dir + "/a.sock", asked)
        with agent("--socket=" + app.dir + "/*.sock", "--otlp=" + url) as a:
            assert asked.wait(60)
            sums = lambda: urllib.request.urlopen(url + "/sums").read().decode()
            until(lambda: "http_app alloc_objects/count grow 3" in sums() or "app alloc_objects/count grow 3" in sums())
            err = end(a)
        assert "a.sock: does not answer as" in err, err


# Both wait for limits of the agent, so they do so at the same time.
with concurrent.futures.ThreadPoolExecutor() as pool:
    for done in [pool.submit(never_replies), pool.submit(drips)]:
        done.result()
