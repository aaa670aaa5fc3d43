# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command on a terminal of its own, and sends SIGINT to it.

    terminal.py COMMAND...

When the command has printed a line, types Ctrl-C. Then sends SIGRTMIN, SIGINT and
SIGRTMIN+1 to the command alone. Waits for a line after Ctrl-C and after SIGRTMIN, so
that the command has taken the first SIGINT before the second one comes. Prints the
lines after these.
"""

import os
import pty
import signal
import sys


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    with os.fdopen(terminal, "rb", buffering=0, closefd=False) as lines:
        lines.readline()
        os.write(terminal, b"\x03")
        lines.readline()
        os.kill(pid, signal.SIGRTMIN)
        lines.readline()
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGRTMIN + 1)
        try:
            for line in lines:
                print(line.decode().strip())
        except OSError:  # the command has ended
            pass
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
