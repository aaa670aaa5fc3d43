# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks numbers of a trace that FileCheck cannot compare.

A test names the check and what it expects in its RUN line:

    trace_assert.py length --ms 180,250 TRACE
        The time from the first event to the last one is between the two.

    trace_assert.py durations --within-percent 2 --of F,G TOOK PPROF...
        TOOK has a line "FUNCTION LEAST MOST" for each function: limits of the
        time in milliseconds, as the program measured. PPROF are outputs of
        "pprof -traces". The delays that they show with a function in the stack
        have a sum between the limits.

    trace_assert.py starts-after-wake --by F --ms 30,80,130 TRACE
        The threads that F woke start to run; the first one at least 30 ms after
        the wake, the second one at least 80 ms after it, and so on.

    trace_assert.py wakes-in-rounds --round-begins-with GoSleep --rounds 50
            --waits-in A,B --by F,G --rounds-with-all 25 --right-percent 95
            TRACE
        The event begins each round, and there are 50 of them. Counted are the
        wakes that end waits in the functions A and B. No round has more than
        two, one for each function of --by, and no wake is before its wait. At
        least 25 rounds have two; in the others, a thread came too late to wait.
        In the rounds with two, at least 95 percent of the wakes are right: a
        thread makes them, one of them in F and the other in G.
"""

import argparse
import re
import sys

from trace_events import events


def functions(e):
    return [function for function, _, _ in e.stack]


def names(text):
    return text.split(",")


def numbers(text):
    return [float(number) for number in names(text)]


def check_length(args):
    found, frequency = events(args.trace)
    ms = (found[-1].tick - found[0].tick) * 1000 / frequency
    print("%d events, %.1f ms" % (len(found), ms))
    least, most = args.ms
    return least < ms < most


def delays(paths, wanted):
    """Returns the sum of the delays in milliseconds by function."""
    sums = dict.fromkeys(wanted, 0)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            samples = file.read().split("-----------+")
        for sample in samples:
            delay = re.search(r"^\s*([\d.]+)ms\s", sample, re.M)
            for name in wanted:
                if re.search(r"\b%s\b" % name, sample):
                    sums[name] += float(delay.group(1))
    return sums


def check_durations(args):
    sums = delays(args.pprof, args.of)
    with open(args.took, encoding="utf-8") as file:
        took = [line.split() for line in file]
    is_good = sorted(name for name, _, _ in took) == sorted(args.of)
    near = args.within_percent / 100
    for name, least, most in took:
        shown = sums.get(name, 0)
        print("%s: %s to %s ms, shown as %.3f" % (name, least, most, shown))
        is_good &= float(least) * (1 - near) <= shown <= float(most) * (1 + near)
    return is_good


def check_starts_after_wake(args):
    found, frequency = events(args.trace)
    woken, started = {}, {}  # by thread, the tick
    for e in found:
        if e.type == "GoUnblock" and args.by in functions(e):
            woken[e.args[0]] = e.tick
        elif e.type == "GoStart" and e.args[0] in woken:
            started.setdefault(e.args[0], e.tick)
    after = sorted((tick - woken[thread]) / frequency * 1000
                   for thread, tick in started.items())
    print("starts after %s ms" % after)
    return len(after) == len(args.ms) and all(
        ms >= least for ms, least in zip(after, args.ms))


def check_wakes_in_rounds(args):
    begins, waits, wakes = [], {}, []
    for e in events(args.trace)[0]:
        if e.type == args.round_begins_with:
            begins.append(e.tick)
        elif (e.type.startswith("GoBlock") and
              set(args.waits_in) & set(functions(e))):
            waits[e.g] = e.tick
        elif e.type == "GoUnblock" and e.args[0] in waits:
            by = [f for f in functions(e) if f in args.by]
            wakes.append((by[0] if by and e.g != 0 else "",
                          waits.pop(e.args[0]), e.tick))
    if len(begins) != args.rounds:
        print("%d rounds" % len(begins))
        return False
    with_all = right = 0
    for begin, end in zip(begins, begins[1:] + [float("inf")]):
        own = [w for w in wakes if begin <= w[2] < end]
        if len(own) > len(args.by) or any(wait > wake for _, wait, wake in own):
            print("a wake at the wrong time: %s" % own)
            return False
        if len(own) == len(args.by):
            with_all += 1
            right += len({by for by, _, _ in own} - {""})
    print("%d rounds with all wakes, %d wakes by the right function" % (
        with_all, right))
    return (with_all >= args.rounds_with_all and
            right * 100 >= args.right_percent * len(args.by) * with_all)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    checks = parser.add_subparsers(required=True)

    check = checks.add_parser("length")
    check.set_defaults(check=check_length)
    check.add_argument("--ms", type=numbers, required=True)
    check.add_argument("trace")

    check = checks.add_parser("durations")
    check.set_defaults(check=check_durations)
    check.add_argument("--within-percent", type=float, required=True)
    check.add_argument("--of", type=names, required=True)
    check.add_argument("took")
    check.add_argument("pprof", nargs="+")

    check = checks.add_parser("starts-after-wake")
    check.set_defaults(check=check_starts_after_wake)
    check.add_argument("--by", required=True)
    check.add_argument("--ms", type=numbers, required=True)
    check.add_argument("trace")

    check = checks.add_parser("wakes-in-rounds")
    check.set_defaults(check=check_wakes_in_rounds)
    check.add_argument("--round-begins-with", required=True)
    check.add_argument("--rounds", type=int, required=True)
    check.add_argument("--waits-in", type=names, required=True)
    check.add_argument("--by", type=names, required=True)
    check.add_argument("--rounds-with-all", type=int, required=True)
    check.add_argument("--right-percent", type=float, required=True)
    check.add_argument("trace")

    args = parser.parse_args()
    sys.exit(0 if args.check(args) else 1)


if __name__ == "__main__":
    main()
