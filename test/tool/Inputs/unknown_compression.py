#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# unknown_compression.py FILE: marks the compressed section .debug_info of an ELF
# file as compressed in a way that nobody knows.

import re
import struct
import subprocess
import sys

sections = subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True, text=True,
                          check=True).stdout
offset = re.search(r"\.debug_info +PROGBITS +\w+ (\w+) .* C ", sections)[1]
with open(sys.argv[1], "r+b") as f:
    f.seek(int(offset, 16))
    f.write(struct.pack("<I", 99))
