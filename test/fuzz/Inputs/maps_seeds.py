# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# maps_seeds.py DIRECTORY ELF...: writes inputs of maps_fuzz.c: texts of
# /proc/self/maps, each with the bytes of each ELF file.

import os
import sys

MAX_SIZE = 6000  # bytes of an ELF file
IMAGE = 0x20000000  # its address in the fuzzer


def line(first_page, last_page, permissions, offset, name):
    start, limit = IMAGE + first_page * 4096, IMAGE + last_page * 4096
    place = "%x-%x %s %08x 08:01 1234" % (start, limit, permissions, offset)
    return place.ljust(73) + name + "\n"


LIB = "/lib/elf.so"
TEXTS = {
    "whole": line(0, 4, "r-xp", 0, LIB),
    "segments": line(0, 1, "r--p", 0, LIB)
    + line(1, 2, "r-xp", 0, LIB)
    + line(2, 3, "rw-p", 0x1000, LIB)
    + line(3, 4, "r-xp", 0, "")
    + line(3, 4, "r-xp", 0x1000, LIB),
    "other_files": line(0, 4, "r--p", 0, "/a b (deleted)")
    + line(1, 4, "r-xp", 0x1000, "/a b (deleted)")
    + line(2, 4, "r-xp", 0, "/c")
    + "7ffe1000-7ffe3000 r-xp 00000000 00:00 0   [vdso]\n"
    + "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n",
    "long_path": line(0, 4, "r-xp", 0, "/long" * 80),
}
for path in sys.argv[2:]:
    with open(path, "rb") as file:
        elf = file.read(MAX_SIZE)
    for name, text in TEXTS.items():
        seed = os.path.join(sys.argv[1], name + "_" + os.path.basename(path))
        with open(seed, "wb") as file:
            file.write(text.encode() + b"\0" + elf)
with open(os.path.join(sys.argv[1], "no_file"), "wb") as file:
    file.write("".join(TEXTS.values()).encode())
