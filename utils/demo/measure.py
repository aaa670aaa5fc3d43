# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with and without MProf, in turns, and compares the run times.

  measure.py RUNS DIR NAME [ARGUMENT...]

The programs DIR/NAME-plain, DIR/NAME-frames (plain, with frame pointers) and
DIR/NAME must print the same. Prints the medians of user+sys time, and the ratios of
DIR/NAME to each of the other programs. Prints separately the time that symbolization
at exit adds, because this time does not depend on how long the program ran:
llvm-symbolizer runs once, in a process of its own. Leaves DIR/NAME.heap.pb.gz and
DIR/NAME.txt of the last run.
"""

import os
import statistics
import subprocess
import sys


def run(program, arguments, environment):
    """Runs a program. Returns its output, its process id and its seconds of user and
    system time."""
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


def take_files(pattern, pid):
    """Renames the profile and the report of process pid to names without the pid."""
    for suffix in (".heap.pb.gz", ".txt"):
        written = "%s.%d%s" % (pattern, pid, suffix)
        if not os.path.exists(written):
            sys.exit("measure: %s was not written" % written)
        os.replace(written, pattern + suffix)


def main():
    runs, directory, name = sys.argv[1:4]
    arguments = sys.argv[4:]
    pattern = os.path.join(directory, name)
    environment = dict(os.environ)
    environment.pop("MPROF_OPTIONS", None)
    # {kind of run: (program, MProf's options)}; None: the program has no MProf.
    kinds = {
        "plain": (pattern + "-plain", None),
        "frames": (pattern + "-frames", None),
        "running": (pattern, "symbolize=0:"),
        "whole": (pattern, ""),
    }
    times = {kind: [] for kind in kinds}
    expected = None
    for _ in range(int(runs)):
        for kind, (program, options) in kinds.items():
            used = dict(environment)
            if options is not None:
                used["MPROF_OPTIONS"] = options + "log_path='%s.%%p'" % pattern
            output, pid, seconds = run(program, arguments, used)
            times[kind].append(seconds)
            if expected is None:
                expected = output
            if output != expected:
                sys.exit("measure: %s prints something else with MProf" % name)
            if options is not None:
                take_files(pattern, pid)
    median = {kind: statistics.median(times[kind]) for kind in kinds}
    running = median["running"]
    print(
        "%-8s %8.3f s %8.3f s %8.3f s %9.3f %9.3f %9.3f s"
        % (
            name,
            median["plain"],
            median["frames"],
            running,
            running / median["plain"],
            running / median["frames"],
            median["whole"] - running,
        )
    )


if __name__ == "__main__":
    main()
