# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# door_checks.py CHECK PROGRAM [ARGUMENT...]: runs one of the checks in the files
# door_*.py, for the tests door-*.test. PROGRAM is door_app.c.

import sys

# Each import adds its checks to CHECKS.
import door_clients
import door_life
import door_options
import door_pages
from door import CHECKS

CHECKS[sys.argv[1]](*sys.argv[2:])
