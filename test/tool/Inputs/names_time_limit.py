#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof about the same file twice, as the runtime does. Before the second
# request, the process has nearly used up its computing time.
#
# usage: names_time_limit.py MPROF FILE

import os
import re
import resource
import socket
import struct
import subprocess
import sys

NEARLY_USED_UP = 9  # seconds

program, file = sys.argv[1:]
notes = subprocess.run(["readelf", "-nW", file], capture_output=True, check=True).stdout
build_id = re.search(rb"Build ID: (\w+)", notes)[1]
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
child = subprocess.Popen([program, "serve-names", "4"], stdin=theirs)
theirs.close()


def ask():
    ours.send(struct.pack("=q256s41s3xIQ", 2**62, os.fsencode(file), build_id, 1, 4096))
    assert ours.recv(1 << 16) == b"\0"  # no problem
    assert ours.recv(1 << 16)
    return resource.prlimit(child.pid, resource.RLIMIT_CPU)


soft, hard = ask()
assert soft > NEARLY_USED_UP, soft
resource.prlimit(child.pid, resource.RLIMIT_CPU, (NEARLY_USED_UP, hard))
assert ask()[0] >= soft
ours.close()
child.wait()
