# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the events of a trace of the format 1.23 as text.

Each event is a line, in the order of time:

    THREAD: EVENT WHAT at FUNCTION < CALLER < ... < OUTERMOST CALLER

THREAD is the function that the thread started with. Threads that started with
one function are numbered in the order of their creation: run.1, run.2. A thread
without a known start function is G and its number, and - stands for no thread.
EVENT is the name that Go gave the event until 1.21. WHAT depends on the event:

    main: GoCreate run               the thread that begins
    run: GoStart                     THREAD is the one that starts to run
    run: GoWaiting                   THREAD waited before the trace began
    run: GoInSyscall                 THREAD was in a call before the trace began
    main: GoUnblock run from GoBlockSync pthread_mutex_lock
                                     the thread that may go on, the event that
                                     its wait began with, and where that was
    main: UserTaskCreate 2 in 1 "x"  the task, its parent and its name
    main: UserTaskEnd 2              the task
    main: UserRegion begin "x"       or end
    main: UserLog "key" "message"
    -: HeapAlloc 4096                bytes in use
    main: GCStart 0                  the number of the collection
"""

import argparse
import collections

from trace_events import events

OF_THE_THREAD = {"GoStart", "GoWaiting", "GoInSyscall"}
BLOCKS = {"GoSleep", "GoBlockSelect", "GoBlockSync", "GoBlockCond",
          "GoBlockNet", "GoSysBlock"}


def thread_names(found, numbered=True):
    """Returns the name of each thread by its number in the trace."""
    starts = {e.args[0]: e.args[1][0][0]
              for e in found if e.type == "GoCreate" and e.args[1]}
    count = collections.Counter(starts.values())
    seen = collections.Counter()
    names = {0: "-"}
    for thread, start in starts.items():
        seen[start] += 1
        is_one_of_many = numbered and count[start] > 1
        names[thread] = (
            "%s.%d" % (start, seen[start]) if is_one_of_many else start)
    return names


class Printer:
    def __init__(self, names, stacks=True, lines=False):
        self.names = names
        self.stacks = stacks
        self.lines = lines
        self.waits = {}  # by thread, the event that its wait began with

    def thread(self, number):
        return self.names.get(number, "G%d" % number)

    def frame(self, frame):
        function, file, line = frame
        if not self.lines or not file:
            return function
        return "%s %s:%d" % (function, file.split("/")[-1], line)

    def wake(self, woken):
        wait = self.waits.pop(woken, None)
        text = self.thread(woken)
        if wait:
            text += " from " + wait.type
        if wait and wait.stack:
            text += " " + wait.stack[0][0]
        return text

    def what(self, e):
        if e.type == "GoCreate":
            return self.thread(e.args[0])
        if e.type == "GoUnblock":
            return self.wake(e.args[0])
        if e.type == "UserTaskCreate":
            return '%d in %d "%s"' % tuple(e.args)
        if e.type == "UserRegion":
            return '%s "%s"' % (("begin", "end")[e.args[1]], e.args[2])
        if e.type == "UserLog":
            return '"%s" "%s"' % (e.args[1], e.text)
        if e.type in ("HeapAlloc", "GCStart", "UserTaskEnd"):
            return str(e.args[0])
        return ""

    def line(self, e):
        subject = e.args[0] if e.type in OF_THE_THREAD else e.g
        words = [self.thread(subject) + ":", e.type, self.what(e)]
        if self.stacks and e.stack:
            words.append("at " + " < ".join(self.frame(f) for f in e.stack))
        if e.type in BLOCKS:
            self.waits[subject] = e
        return " ".join(w for w in words if w)


def last_of_threads(found):
    """Returns the last event of each thread, or its wake by another thread."""
    last = {}
    for e in found:
        if e.type in OF_THE_THREAD or e.type == "GoUnblock":
            last[e.args[0]] = e
        elif e.g != 0:
            last[e.g] = e
    return [(thread, e) for thread, e in last.items() if thread != 0]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", action="store_true",
                        help="print the last event of each thread only; "
                        "GoUnblock is the last one of the thread that is woken")
    parser.add_argument("--lines", action="store_true",
                        help="print file:line after each function")
    parser.add_argument("--no-numbers", action="store_true",
                        help="print threads by their start functions alone")
    parser.add_argument("--no-stacks", action="store_true")
    parser.add_argument("--thread-numbers", action="store_true",
                        help="print threads by their numbers in the trace: G7")
    parser.add_argument("--ticks", action="store_true",
                        help="print the time before each event")
    parser.add_argument("trace")
    args = parser.parse_args()
    found, _ = events(args.trace)
    threads = ({0: "-"} if args.thread_numbers
               else thread_names(found, not args.no_numbers))
    printer = Printer(threads, not args.no_stacks, args.lines)
    if args.last:
        for thread, e in last_of_threads(found):
            print("%s: %s" % (printer.thread(thread), e.type))
        return
    for e in found:
        line = printer.line(e)
        print("%d %s" % (e.tick, line) if args.ticks else line)


if __name__ == "__main__":
    main()
