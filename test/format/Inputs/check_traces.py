# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_traces.py CHECKER...: fails unless the command CHECKER accepts every trace of
# trace_cases.py, and reports for every trace of trace_bad_cases.py first the rule in
# its name. Also fails if a rule of the checker has no bad trace.

import subprocess
import sys

from trace_bad_cases import BAD
from trace_cases import GOOD

checker = sys.argv[1:]
wrong = 0


def check(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return subprocess.run(
        [*checker, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def complain(name, done):
    global wrong
    wrong += 1
    print("%s: exit status %d\n%s%s" % (name, done.returncode, done.stdout, done.stderr))


broken = set()
for name, data in GOOD.items():
    done = check(name, data)
    if done.returncode != 0 or done.stderr or " events, " not in done.stdout:
        complain(name, done)
for name, data in BAD.items():
    rule = name.split(":")[0]
    broken.add(rule)
    done = check(name, data)
    first = (done.stderr.splitlines() or [""])[0]
    if (
        done.returncode != 1
        or done.stdout
        or not first.startswith(name + ": offset 0x")
        or not first.endswith(" [%s]" % rule)
    ):
        complain(name, done)

listed = subprocess.run([*checker, "--rules"], stdout=subprocess.PIPE, text=True)
rules = {line.split()[0] for line in listed.stdout.splitlines()}
# A file without a known header is no trace at all: not a violation.
for rule in sorted(rules ^ broken ^ {"header"}):
    wrong += 1
    print("no bad trace for the rule, or no rule for the trace: " + rule)
print("%d good, %d bad" % (len(GOOD), len(BAD)))
sys.exit(wrong != 0)
