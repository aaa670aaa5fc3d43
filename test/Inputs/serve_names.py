# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof for names, as the runtime does (rt/symbolize/symbolizer_protocol.h).

import os
import re
import socket
import struct
import subprocess

PROTOCOL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../rt/symbolize/symbolizer_protocol.h")


def build_id(file):
    """Returns the build ID in hexadecimal digits, as long as a request has room for it."""
    notes = subprocess.run(["readelf", "-nW", file], capture_output=True, text=True, check=True)
    m = re.search(r"Build ID: (\w+)", notes.stdout)
    return m[1][:40] if m else ""


def start(program):
    """Starts mprof. Returns the process and the connection to it."""
    version = re.search(r'#define MPROF_SYMBOLIZER_VERSION "(\w+)"', open(PROTOCOL).read())[1]
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = subprocess.Popen([program, "serve-names", version], stdin=theirs)
    theirs.close()
    return child, ours


def request(connection, file, identity, addresses):
    """Asks about addresses of the file, about which mprof must have no problem to report."""
    connection.send(struct.pack("=q256s41s3xI", 2**62, os.fsencode(file), identity.encode(),
                                len(addresses)) +
                    struct.pack("=%dQ" % len(addresses), *addresses))
    assert connection.recv(1 << 16) == b"\0"
