# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof-symbolizer about addresses of damaged copies of ELF files.
#
# usage: fuzz_symbolizer.py MPROF_SYMBOLIZER COPIES FILE...
#
# The damage depends only on the number of the copy. Exits with 1 if the program is
# killed by a signal, reports an error of a sanitizer, or does not reply to all
# addresses. Prints how many copies were answered.

import os
import random
import re
import socket
import struct
import subprocess
import sys

TIMEOUT = 120  # seconds; the program itself ends after 20 s of processor time
ADDRESSES = 64


def sections(file):
    """Returns the offset and the size of each section, and of the table of sections."""
    out = subprocess.run(["readelf", "-hSW", file], capture_output=True, text=True, check=True)
    found = []
    for m in re.finditer(r"^ *\[ *\d+\] (\S*) +(\w+) +\w{16} (\w+) (\w+) ", out.stdout, re.M):
        if m[1].startswith((".debug", ".symtab", ".strtab", ".note")) and m[2] != "NOBITS":
            found.append((int(m[3], 16), int(m[4], 16)))
    m = re.search(r"Start of section headers: +(\d+)", out.stdout)
    n = re.search(r"Number of section headers: +(\d+)", out.stdout)
    return [f for f in found if f[1] > 0] + [(int(m[1]), int(n[1]) * 64)]


def text(file):
    out = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True)
    m = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", out.stdout)
    return int(m[1], 16), int(m[2], 16)


def damage(data, places, r):
    data = bytearray(data)
    for _ in range(r.choice((1, 4, 40))):
        start, size = r.choice(places)
        # The headers at the start of a section matter most.
        at = start + r.randrange(min(size, r.choice((32, 4096, size))))
        data[at] = r.choice((0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)))
    if r.randrange(16) == 0:
        del data[r.randrange(len(data)):]
    return bytes(data)


def ask(program, file, addresses):
    """Returns the number of replies, or a text that says what went wrong."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = subprocess.Popen([program, "1"], stdin=theirs, stderr=subprocess.PIPE)
    theirs.close()
    ours.settimeout(TIMEOUT)
    replies = 0
    try:
        ours.send(struct.pack("=q256s41s3xI", 2**62, os.fsencode(file), b"", len(addresses)) +
                  struct.pack("=%dQ" % len(addresses), *addresses))
        while replies < len(addresses):
            message = ours.recv(1 << 16)
            if not message:
                break
            at = 0
            while at < len(message):
                at += 1
                while message[at] != 0:
                    at = message.index(0, at) + 1
                at += 1
                replies += 1
        ours.close()
        error = child.communicate(timeout=TIMEOUT)[1]
    except (TimeoutError, subprocess.TimeoutExpired):
        child.kill()
        return "the program hangs"
    # The program exits with 1 if the memory that a file wants is too much.
    if child.returncode not in (0, 1) or error:
        return "exit status %d: %s" % (child.returncode, error.decode(errors="replace"))
    if child.returncode == 0 and replies != len(addresses):
        return "only %d replies" % replies
    return replies


def main():
    program, copies, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    answered = 0
    for file in files:
        with open(file, "rb") as f:
            data = f.read()
        places = sections(file)
        start, size = text(file)
        addresses = [start + i * size // ADDRESSES for i in range(ADDRESSES)]
        copy = os.path.abspath(file + ".damaged")
        for number in range(copies):
            with open(copy, "wb") as f:
                f.write(damage(data, places, random.Random("%s %d" % (file, number))))
            result = ask(program, copy, addresses)
            if isinstance(result, str):
                print("copy %d of %s (kept as %s): %s" % (number, file, copy, result))
                return 1
            answered += result > 0
    print("answered: %d of %d" % (answered, copies * len(files)))
    return 0


sys.exit(main())
