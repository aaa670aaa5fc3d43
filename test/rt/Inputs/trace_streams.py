# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_streams.py TRACE: see trace-streams.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    found, _ = events(sys.argv[1])
    size = os.path.getsize(sys.argv[1])
    texts = {}
    for e in found:
        if e.type == "UserLog":
            texts.setdefault(e.g, []).append(e.text)
    assert len(texts) == 3, texts.keys()
    threads = set()
    for of_thread in texts.values():
        thread = of_thread[0].split(",")[0].split()[-1]
        threads.add(thread)
        assert of_thread == ["%d of thread %s, and some more text" % (i, thread)
                             for i in range(30000)]
    assert threads == {"0", "1", "2"}
    assert size > 3 << 20, size


main()
