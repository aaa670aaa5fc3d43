# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: SIGNAL COMMAND... Fails unless the signal ends the command. The command
# runs without core files and with the signal's default action.

import resource
import signal
import subprocess
import sys

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
wanted = getattr(signal, "SIG" + sys.argv[1])
signal.signal(wanted, signal.SIG_DFL)
status = subprocess.run(sys.argv[2:]).returncode
if status != -wanted:
    sys.exit("ended with %d, not by signal %d" % (status, wanted))
