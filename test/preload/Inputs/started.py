# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   started.py FILES STARTS COMMAND...
#   started.py --tty FILES STARTS COMMAND...
#
# Runs the command, waits for all processes that it has left behind, and fails
# unless
#
# - the files in the directory o are FILES, without numbers and in one word;
# - recorder.sh was started STARTS times, without MProf's variables and library.
#
# With --tty, the command's output is a terminal, and recorder.sh is its pager,
# which has LD_PRELOAD=libutil.so.1. Removes the files.

import ctypes
import os
import pty
import re
import shutil
import sys

PR_SET_CHILD_SUBREAPER = 36

args = sys.argv[1:]
is_tty = args[0] == "--tty"
files, starts, *command = args[is_tty:]
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
if is_tty:
    assert pty.spawn(command) == 0
else:
    assert os.spawnvp(os.P_WAIT, command[0], command) == 0
try:
    while True:
        os.wait()
except ChildProcessError:
    pass

written = sorted(os.listdir("o")) if os.path.exists("o") else []
found = " ".join(re.sub(r"\d+", "N", name) for name in written)
assert found == files, written
shutil.rmtree("o", ignore_errors=True)
record = []
if os.path.exists(os.environ["RECORD"]):
    with open(os.environ["RECORD"]) as f:
        record = f.read().splitlines()
    os.remove(os.environ["RECORD"])
assert record.count("started") == int(starts), record.count("started")
assert record.count("LD_PRELOAD=libutil.so.1") == (int(starts) if is_tty else 0), record
assert record.count("MPROF_HELPER=1") == int(starts), record
assert not any(line.startswith("MPROF_OPTIONS") for line in record), record
assert not any("libmprof" in line for line in record), record
