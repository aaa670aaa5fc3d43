# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the pages of .bss that a program accesses.

    start_pages.py LACKEY NM

LACKEY is the output of valgrind --tool=lackey --trace-mem=yes, and NM the output
of llvm-nm -n, both for a program that is not position-independent. Prints
"pages: N", and a line with the variables of each page.
"""

import bisect
import collections
import sys

lackey, nm = sys.argv[1:]
symbols = []
for line in open(nm):
    words = line.split()
    if len(words) == 3:
        symbols.append((int(words[0], 16), words[2]))
limits = {name: address for address, name in symbols}
begin, end = limits["__bss_start"], limits["_end"]
places = [address for address, _ in symbols]
pages = collections.defaultdict(set)
for line in open(lackey):
    if line[:2] not in (" L", " S", " M"):
        continue
    address = int(line[3:].split(",")[0], 16)
    if begin <= address < end:
        name = symbols[bisect.bisect(places, address) - 1][1]
        pages[address >> 12].add(name)
print("pages:", len(pages))
for page in sorted(pages):
    print(hex(page << 12), *sorted(pages[page]))
