# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs LTTng's tracer of pthread mutexes.

The tracer is a library that a program preloads. An LTTng session records the events
of this library. The functions below use the session daemon that runs already. If
none runs, they start one and end it again.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time

from running import DIR, SCRATCH

LIBRARY = "liblttng-ust-pthread-wrapper.so.1"
SESSION = "mprof-bench"
HOME = os.path.join(DIR, "lttng")  # the daemon's files, and the traces


def preload():
    return {"LD_PRELOAD": LIBRARY, "LTTNG_HOME": HOME}


def command(*argv):
    """Runs the lttng command. Returns its exit code and its output."""
    done = subprocess.run(
        ["lttng", *argv], env={**os.environ, "LTTNG_HOME": HOME}, cwd=SCRATCH,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def lttng(*argv):
    """Runs the lttng command. Returns None for success, or else the error message."""
    code, text = command(*argv)
    return None if code == 0 else (text.strip().splitlines() or ["no reason"])[-1]


def discarded():
    """Stops the session. Returns how many of its events were lost because its buffers
    were full."""
    command("stop", SESSION)
    _, text = command("list", SESSION)
    return sum(int(n) for n in re.findall(r"Discarded events: (\d+)", text))


def why_no_library():
    if os.path.exists("/usr/lib/x86_64-linux-gnu/" + LIBRARY):
        return None
    return "%s is not installed" % LIBRARY


@contextlib.contextmanager
def daemon():
    """Makes sure that a session daemon runs inside the with block. Yields None, or the
    reason why no daemon runs."""
    why = why_no_library()
    if not why and not shutil.which("lttng-sessiond"):
        why = "lttng-tools is not installed"
    if why:
        yield why
        return
    shutil.rmtree(HOME, ignore_errors=True)
    os.makedirs(HOME)
    own = None
    if lttng("list") is not None:
        own = subprocess.Popen(
            ["lttng-sessiond", "--no-kernel"],
            env={**os.environ, "LTTNG_HOME": HOME}, cwd=DIR,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
    try:
        yield wait_until_ready(own) if own else None
    finally:
        if own:
            own.terminate()
            own.wait()
        shutil.rmtree(HOME, ignore_errors=True)


def wait_until_ready(process):
    for _ in range(100):
        why = lttng("list")
        if why is None or process.poll() is not None:
            break
        time.sleep(0.1)
    return why


@contextlib.contextmanager
def session():
    """Records the events of programs that run inside the with block, into files of at
    most 64 MiB for each processor. Yields None, or the reason why LTTng cannot record."""
    traces = os.path.join(HOME, "traces")
    why = (lttng("create", SESSION, "--output=" + traces)
           or lttng("enable-channel", "-u", "-s", SESSION, "--tracefile-size=32M",
                    "--tracefile-count=2", "mutexes")
           or lttng("enable-event", "-u", "-s", SESSION, "-c", "mutexes",
                    "lttng_ust_pthread:*")
           or lttng("start", SESSION))
    try:
        yield why
    finally:
        lttng("destroy", SESSION)
    if not any(name.startswith("mutexes_") for _, _, names in os.walk(traces)
               for name in names):
        sys.exit("bench: LTTng has recorded nothing")
    shutil.rmtree(traces)
