# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_trace_readers.py GO119 GO: fails unless Go 1.19 and a newer Go accept
# every good trace of a version that they read. Of the bad traces, they must
# accept exactly those that READERS of the case files names.

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import trace_cases
import trace_cases_v2


def tool(go, mode):
    """Go's viewer, which prints a trace and does nothing else with -d."""
    root, found = (
        subprocess.check_output([go, *words], text=True).strip()
        for words in (["env", "GOTOOLDIR"], ["tool", "-n", "trace"])
    )
    path = os.path.join(root, "trace")
    return [path if os.path.exists(path) else found, mode]


def accepts(command, name):
    done = subprocess.run(
        [*command, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # Go's exit status is 0 for some traces that it refuses.
    said = [l for l in done.stderr.splitlines() if l and "Parsing" not in l]
    return done.returncode == 0 and not said, said


readers = [(tool(sys.argv[1], "-d"), 7, 19), (tool(sys.argv[2], "-d=parsed"), 11, 99)]
jobs = []
for cases in trace_cases, trace_cases_v2:
    for name, data in [*cases.GOOD.items(), *cases.BAD.items()]:
        with open(name, "wb") as file:
            file.write(data)
        minor = int(data[5:].split()[0])
        wanted = cases.READERS.get(name, (False, False))
        for i, (command, oldest, newest) in enumerate(readers):
            if oldest <= minor <= newest:
                want = name in cases.GOOD or wanted[i]
                jobs.append((command, name, want))

with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(lambda job: accepts(*job[:2]), jobs))
wrong = 0
for (command, name, want), (got, said) in zip(jobs, results):
    if got != want:
        wrong += 1
        print("%s: %s accepts: %s, expected: %s" % (name, command[0], got, want))
        print("\n".join(said[:3]))
print("%d verdicts" % len(jobs))
sys.exit(wrong != 0)
