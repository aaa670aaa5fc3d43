# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: COMMAND... Sends SIGTERM to the command when it has printed a line.
# Sends SIGTERM again when the command no longer catches this signal, or after a
# second. Fails unless SIGTERM ends the command.

import signal
import subprocess
import sys
import time


def catches(pid):
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith("SigCgt:"):
                caught = int(line.split()[1], 16)
                return bool(caught >> (signal.SIGTERM - 1) & 1)
    return False


app = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
app.stdout.readline()
app.send_signal(signal.SIGTERM)
for _ in range(1000):
    if not catches(app.pid):
        break
    time.sleep(0.001)
app.send_signal(signal.SIGTERM)
status = app.wait()
if status != -signal.SIGTERM:
    sys.exit("ended with %d, not by SIGTERM" % status)
