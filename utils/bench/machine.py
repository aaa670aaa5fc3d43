# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes the machine and the versions of all programs that were used."""

import datetime
import os
import re
import subprocess

from running import QUICK, TOP


def first_line(*argv):
    try:
        out = subprocess.run(argv, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd=TOP, check=True)
        return out.stdout.decode().strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return found.group(1) if found else "unknown"


def describe(arguments, packages):
    """Returns {what: description}. arguments: the arguments of run.sh. packages: {name
    on the benchmark page: name of the Debian package}."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "command": ("BENCH_QUICK=1 " if QUICK else "")
        + " ".join(["utils/bench/run.sh", *arguments]),
        "quick": QUICK,
        "cpu": cpu(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "kernel": os.uname().release,
        "libc": " ".join(os.confstr("CS_GNU_LIBC_VERSION").split()),
        "clang": first_line("clang-19", "--version"),
        "go": first_line(os.environ.get("GO", "go"), "version"),
        "commit": first_line("git", "rev-parse", "--short=12", "HEAD"),
        "packages": {
            name: first_line("dpkg-query", "-W", "-f", "${Version}\n", package)
            for name, package in packages.items()},
    }
