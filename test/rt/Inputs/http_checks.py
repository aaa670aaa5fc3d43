# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# http_checks.py CHECK PROGRAM [ARGUMENT...]: runs one of the checks in the files
# http_*.py, for the tests http-*.test. PROGRAM is http_app.c.

import sys

# Each import adds its checks to CHECKS.
import http_clients
import http_life
import http_options
import http_pages
from http_app import CHECKS

CHECKS[sys.argv[1]](*sys.argv[2:])
