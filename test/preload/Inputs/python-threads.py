# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the stacks of a thread that waits for a lock, of one that waits for a
# file, and of one that computes, when all of them do so.

import ctypes
import os
import select
import threading

profiler = ctypes.CDLL(None)
text = ctypes.create_string_buffer(1 << 17)
lock = threading.Lock()
pipe = os.pipe()
is_done = False


def waits():
    with lock:
        pass


def polls():
    select.select([pipe[0]], [], [])


def computes():
    while not is_done:
        sum(range(100))


def stacks():
    profiler.mprof_stack(text, len(text), 1)
    return text.value.decode().split("\n\n")


lock.acquire()
threads = [threading.Thread(target=f) for f in (waits, polls, computes)]
for thread in threads:
    thread.start()
seen = {}
while len(seen) < 3:
    for stack in stacks():
        for name in ("waits", "polls", "computes"):
            if "\n" + name + "\n" in stack:
                seen[name] = stack
is_done = True
lock.release()
os.write(pipe[1], b"x")
for thread in threads:
    thread.join()
for name in sorted(seen):
    print(seen[name], end="\n\n")
