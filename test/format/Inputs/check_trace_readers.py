# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_trace_readers.py GO: fails unless Go accepts every trace of trace_cases.py. Of
# those of trace_bad_cases.py, it must accept exactly those in ACCEPTED.

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from trace_bad_cases import ACCEPTED, BAD
from trace_cases import GOOD


def tool(go):
    """Go's viewer, which prints a trace and does nothing else with -d."""
    root, found = (
        subprocess.check_output([go, *words], text=True).strip()
        for words in (["env", "GOTOOLDIR"], ["tool", "-n", "trace"])
    )
    path = os.path.join(root, "trace")
    return [path if os.path.exists(path) else found, "-d=parsed"]


def accepts(command, name):
    done = subprocess.run(
        [*command, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # Go's exit status is 0 for some traces that it refuses.
    said = [l for l in done.stderr.splitlines() if l and "Parsing" not in l]
    return done.returncode == 0 and not said, said


command = tool(sys.argv[1])
names = [*GOOD, *BAD]
for name in names:
    with open(name, "wb") as file:
        file.write({**GOOD, **BAD}[name])
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(lambda name: accepts(command, name), names))
wrong = 0
for name, (got, said) in zip(names, results):
    want = name in GOOD or name in ACCEPTED
    if got != want:
        wrong += 1
        print("%s: Go accepts: %s, expected: %s" % (name, got, want))
        print("\n".join(said[:3]))
print("%d verdicts" % len(names))
sys.exit(wrong != 0)
