# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# SIGNAL COMMAND...: fails unless the command ends by that signal. With core
# files off, and with the signals' default actions, whatever the caller ignores.

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
