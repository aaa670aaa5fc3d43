#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# wheel.py TREE DIRECTORY: makes a wheel for Python's installers in DIRECTORY, and
# prints its path. TREE is an unpacked tarball of packages.sh. The wheel has the
# command mprof and the library for programs without a rebuild.

import base64
import glob
import hashlib
import os
import platform
import subprocess
import sys
import zipfile

# The files of the tree, below its prefix. The wheel's `data` are installed in the
# prefix of the Python environment, so mprof finds its library as elsewhere.
FILES = [
    "bin/mprof",
    "lib/mprof/libmprof_preload.so",
    "share/doc/mprof/docs/*.md",
    "share/doc/mprof/licenses/*",
    "share/man/man1/mprof*.1",
    "share/bash-completion/completions/mprof",
    "share/mprof/ci/*",
    "share/mprof/mprof.vsix",
]
# Needs the symbols of glibc 2.28 (cmake/MProfOldGlibc.cmake).
TAG = "py3-none-manylinux_2_28_" + platform.machine()

METADATA = """\
Metadata-Version: 2.1
Name: mprof
Version: %s
Summary: Profiler of memory, locks and threads for C and C++ programs
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.6
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: MProf
Root-Is-Purelib: false
Tag: %s
"""


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: wheel.py TREE DIRECTORY")
    tree, directory = sys.argv[1:]
    command = [os.path.join(tree, "bin", "mprof"), "--version"]
    version = subprocess.check_output(command, text=True).split()[1]
    name = "mprof-" + version
    info = name + ".dist-info/"
    path = os.path.join(directory, "%s-%s.whl" % (name, TAG))
    record = []

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(member, content, mode=0o644):
            entry = zipfile.ZipInfo(member)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            record.append(
                "%s,sha256=%s,%d"
                % (member, digest.rstrip(b"=").decode(), len(content))
            )

        for pattern in FILES:
            found = sorted(glob.glob(os.path.join(glob.escape(tree), pattern)))
            if not found and "*" not in pattern:
                sys.exit("wheel.py: %s has no file %s" % (tree, pattern))
            for file in found:
                if "/mprof-clang" in file:
                    continue
                with open(file, "rb") as f:
                    content = f.read()
                member = "%s.data/data/%s" % (name, os.path.relpath(file, tree))
                add(member, content, 0o755 if "/bin/" in member else 0o644)
        with open(os.path.join(os.path.dirname(__file__), "..", "LICENSE"), "rb") as f:
            add(info + "LICENSE", f.read())
        add(info + "METADATA", (METADATA % version).encode())
        add(info + "WHEEL", (WHEEL % TAG).encode())
        record.append(info + "RECORD,,\n")
        wheel.writestr(zipfile.ZipInfo(info + "RECORD"), "\n".join(record))
    print(path)


main()
