# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the times of the threads in a page with those of mprof trace top.

    merged_times.py TOP.JSON PAGE   PAGE: what html_merged.js prints
"""

import json
import re
import sys

top, page = sys.argv[1:]
with open(top, encoding="utf-8") as file:
    threads = {t["g"]: t for t in json.load(file)["threads"]}
equal = 0
with open(page, encoding="utf-8") as file:
    for numbers in re.findall(r"step: times: (.*)", file.read()):
        g, running, waiting, runnable, call = map(int, numbers.split())
        thread = threads[g]
        wanted = [thread["running_ns"], thread["runnable_ns"], thread["system_call_ns"],
                  sum(thread["waits_ns"].values())]
        if wanted != [running, runnable, call, waiting]:
            sys.exit("G%d: the page has %s, not %s" % (g, numbers, threads[g]))
        equal += 1
print("%d threads have equal times" % equal)
