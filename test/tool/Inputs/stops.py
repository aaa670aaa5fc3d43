# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that stops. Says whether it stops, continues it, and prints its
exit status."""

import os
import signal
import sys


def main():
    pid = os.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        print("mprof stops with its program")
        os.kill(pid, signal.SIGCONT)
        _, status = os.waitpid(pid, 0)
    print("status %d" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
