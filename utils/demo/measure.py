# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with and without MProf in turn, and compares.

  measure.py RUNS DIR NAME PLAIN MPROF [ARGUMENT...]

Both programs must print the same. Prints the medians of user+sys time and
their ratio; leaves DIR/NAME.heap.pb.gz and DIR/NAME.txt of the last run.
"""

import os
import statistics
import subprocess
import sys


def run(program, arguments, environment):
    """Its output, process id and seconds of user and system time."""
    process = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.stderr.buffer.write(errors)
        sys.exit("measure: %s: exit code %d" % (program, process.returncode))
    return output, process.pid, usage.ru_utime + usage.ru_stime


def main():
    runs, directory, name, plain, mprof = sys.argv[1:6]
    arguments = sys.argv[6:]
    pattern = os.path.join(directory, name)
    environment = dict(os.environ)
    environment.pop("MPROF_OPTIONS", None)
    profiled = dict(environment, MPROF_OPTIONS="log_path='%s.%%p'" % pattern)
    plain_times, mprof_times = [], []
    for _ in range(int(runs)):
        expected, _, seconds = run(plain, arguments, environment)
        plain_times.append(seconds)
        actual, pid, seconds = run(mprof, arguments, profiled)
        mprof_times.append(seconds)
        if actual != expected:
            sys.exit("measure: %s prints something else with MProf" % name)
        for suffix in (".heap.pb.gz", ".txt"):
            written = "%s.%d%s" % (pattern, pid, suffix)
            if not os.path.exists(written):
                sys.exit("measure: %s was not written" % written)
            os.replace(written, pattern + suffix)
    plain_time = statistics.median(plain_times)
    mprof_time = statistics.median(mprof_times)
    print(
        "%-8s %9.3f s %9.3f s %8.3f"
        % (name, plain_time, mprof_time, mprof_time / plain_time)
    )


if __name__ == "__main__":
    main()
