# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how a command ends.

    status.py [--send SIGNAL] [--ignore SIGNAL] COMMAND...

With --send, sends the signal to the command when it has printed a line. With
--ignore, starts the command with this signal ignored. Prints the other lines of
the command, and then "status N" or "signal N".
"""

import signal
import subprocess
import sys


def main():
    words = sys.argv[1:]
    wanted = ignored = None
    if words[0] == "--send":
        wanted = getattr(signal, "SIG" + words[1])
        words = words[2:]
    if words[0] == "--ignore":
        ignored = getattr(signal, "SIG" + words[1])
        words = words[2:]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        text=True,
        restore_signals=False,
        # Only in the new process: while this one ignores SIGCHLD, the kernel would
        # drop the status of a command that ends soon.
        preexec_fn=lambda: ignored and signal.signal(ignored, signal.SIG_IGN),
    )
    if wanted:
        process.stdout.readline()
        process.send_signal(wanted)
    print(process.stdout.read(), end="")
    code = process.wait()
    print("signal %d" % -code if code < 0 else "status %d" % code)


if __name__ == "__main__":
    main()
