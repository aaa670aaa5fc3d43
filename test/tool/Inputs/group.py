# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command in a process group of its own, and sends signals to it.

    group.py COMMAND...

When the command has printed a line, sends SIGRTMIN three times to the group, once to
the command alone, and then SIGRTMIN+1 to the command alone. Prints the other lines of
the command. Each signal of these is delivered, and lower numbers are delivered first.
"""

import os
import signal
import subprocess
import sys


def main():
    process = subprocess.Popen(
        sys.argv[1:], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    process.stdout.readline()
    for _ in range(3):
        os.killpg(process.pid, signal.SIGRTMIN)
    process.send_signal(signal.SIGRTMIN)
    process.send_signal(signal.SIGRTMIN + 1)
    print(process.stdout.read(), end="")
    process.wait()


if __name__ == "__main__":
    main()
