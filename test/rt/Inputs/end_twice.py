# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: SECONDS COMMAND... Sends SIGTERM to the command when it has printed a
# line, and again after SECONDS. If SECONDS is not 0, sends it again and again,
# because the command may have got the first one late. Fails unless SIGTERM ends the
# command.

import signal
import subprocess
import sys
import time

app = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
app.stdout.readline()
app.send_signal(signal.SIGTERM)
seconds = float(sys.argv[1])
app.send_signal(signal.SIGTERM) if seconds == 0 else None
while seconds != 0 and app.poll() is None:
    time.sleep(seconds)
    app.send_signal(signal.SIGTERM)
status = app.wait()
if status != -signal.SIGTERM:
    sys.exit("ended with %d, not by SIGTERM" % status)
