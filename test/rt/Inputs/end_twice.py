# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: SECONDS COMMAND... Sends SIGTERM to the command when it has printed a
# line, and again after SECONDS. Fails unless SIGTERM ends the command.

import signal
import subprocess
import sys
import time

app = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
app.stdout.readline()
app.send_signal(signal.SIGTERM)
time.sleep(float(sys.argv[1]))
app.send_signal(signal.SIGTERM)
status = app.wait()
if status != -signal.SIGTERM:
    sys.exit("ended with %d, not by SIGTERM" % status)
