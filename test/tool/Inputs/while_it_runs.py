# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# while_it_runs.py PROGRAM COMMAND...: starts the program, and runs the command with its
# process id when it has said "ready". Then the program must reply "alive" to a line.

import subprocess
import sys

with subprocess.Popen(
    [sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
) as program:
    assert program.stdout.readline() == "ready\n"
    done = subprocess.run([*sys.argv[2:], str(program.pid)], timeout=120, check=True)
    assert program.communicate("go on\n", timeout=120)[0] == "alive\n"
    assert program.returncode == 0, program.returncode
