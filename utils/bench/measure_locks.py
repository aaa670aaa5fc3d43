# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements of the block and mutex profiles."""

import concurrent.futures
import dataclasses
import os
import re
import sys
import typing

import lttng
from lock_variants import BOTH, OFF, PLAIN, variants
from running import (
    QUICK, ROUNDS, by_line, has_valgrind, instructions_in, log, median_of,
    mprof, program, run, take_turns, values)

REPEATS = 3  # of the loop in each process, after one repeat that is not counted
SLOW_ROUNDS = min(ROUNDS, 3)
# More rounds for loops with contended locks, because their results vary most.
JUDGED_ROUNDS = ROUNDS if QUICK else 30
PAIR_NS = 2e6 if QUICK else 15e6  # length of a repeat of the pair loop
COND_NS = 4e6 if QUICK else 40e6
CONTEST_MS = 10 if QUICK else 40
COUNTED_PAIRS = 20000


@dataclasses.dataclass
class Loop:
    name: str
    program: str
    arguments: list
    go: list | None  # arguments of lock.go; None: lock.go does not have this loop
    size: typing.Callable  # returns the length of a repeat, the variant's next argument
    unit: str  # name of the output line that has the result
    # The block profile must have more events than this. None: the profile must have
    # no events.
    waits: int | None = None
    has_contention: bool = False  # whether the mutex profile must have events
    has_mutex: bool = True  # whether LTTng takes part, which traces only mutexes
    has_slow: bool = True  # whether the slow tools take part
    prefix: tuple = ()
    rounds: int = ROUNDS


def measure(loops):
    """Returns {loop: {line of the output: {variant: [value of each round]}}}. The key
    "absent" has {tool: reason} of the tools that could not take part."""
    with lttng.daemon() as why_no_session:
        here, absent = variants(why_no_session)
        results = {"absent": absent}
        for loop in loops:
            log("locks: " + loop.name)
            jobs = {v.name: job(v, loop) for v in here if takes_part(v, loop)}
            fewer = {v.name: SLOW_ROUNDS for v in here if v.is_slow}
            results[loop.name] = by_line(
                take_turns(jobs, loop.rounds, fewer))
    return results


def takes_part(variant, loop):
    if variant.program == "go":
        return loop.go is not None
    if variant.name.startswith("LTTng") and not loop.has_mutex:
        return False
    return loop.has_slow or not variant.is_slow


def job(variant, loop):
    arguments = [str(int(loop.size(variant))), str(REPEATS)]
    if variant.program == "go":
        argv = [program("lock-go"), *loop.go, *arguments, str(variant.block),
                str(variant.mutex)]
    else:
        argv = [program("%s-%s" % (loop.program, variant.program)),
                *loop.arguments, *arguments]
    argv = [*loop.prefix, *variant.prefix, *argv]

    def once():
        with variant.recording() as why:
            if why:
                sys.exit("bench: %s: %s" % (variant.name, why))
            text = run(argv, variant.env).text
        result = {loop.unit: median_of(text, loop.unit)}
        for line in ("sections", "handoffs", "writes", "block", "mutex"):
            result.update({line: value for value in values(text, line)})
        if variant.prefix[:1] == ["perf"]:
            found = re.search(r"\((\d+) samples\)", text)
            result["samples"] = int(found.group(1)) if found else 0
        if variant.program == "mprof":
            check_profiles(variant, loop, result)
        if variant.program == "plain":
            del result["block"], result["mutex"]
        return result
    return once


def check_profiles(variant, loop, result):
    """Checks that MProf's profiles have events if threads waited in the loop, and have
    no events otherwise."""
    is_contended = loop.waits is not None
    for profile, least in (("block", loop.waits),
                           ("mutex", 0 if loop.has_contention else None)):
        events = result[profile]
        is_on = getattr(variant, profile) and is_contended
        if events if not is_on else least is not None and events <= least:
            sys.exit("bench: %s, %s: %d events in the %s profile" % (
                variant.name, loop.name, events, profile))


# --- pair: an uncontended lock -----------------------------------------------


def pair_loop(name, ns, kind, **how):
    """ns: approximate time of a lock and unlock without a profiler."""
    fields = {"program": "lock_pair", "go": ["pair", kind], **how}
    return Loop(name, arguments=[kind, "1"], unit="ns",
                size=lambda variant: PAIR_NS / ns / variant.cost, **fields)


def pair():
    alone = pair_loop("mutex, one thread", 4, "mutex", go=None, has_slow=False)
    alone.arguments = ["mutex", "0"]
    return measure([
        alone,
        pair_loop("mutex", 15, "mutex"),
        pair_loop("rwlock, read", 17, "rdlock", has_mutex=False),
        pair_loop("rwlock, write", 22, "wrlock", has_mutex=False),
        pair_loop("std::mutex", 15, "mutex", program="lock_std", go=None,
                  has_slow=False),
    ])


def instructions():
    """Counts the instructions of a lock and unlock. Subtracts the instructions of the
    loop around them. Runs two counts at the same time, because nothing is timed. Uses
    heap=0, because the programs run in valgrind."""
    if not has_valgrind():
        return {}
    log("locks: instructions")
    loops = (("mutex, one thread", "lock_pair", "mutex", "0"),
             ("mutex", "lock_pair", "mutex", "1"),
             ("rwlock, read", "lock_pair", "rdlock", "1"),
             ("rwlock, write", "lock_pair", "wrlock", "1"),
             ("std::mutex", "lock_std", "mutex", "1"))
    builds = ((PLAIN, "plain", ""),
              (OFF, "mprof", "block_rate=0:mutex_fraction=0"),
              (BOTH, "mprof", "block_rate=1:mutex_fraction=1"))

    def count(name, build, options, kind, sleepers):
        argv = [program("%s-%s" % (name, build)), kind, sleepers,
                str(COUNTED_PAIRS), "1"]
        return instructions_in(
            "count_" + kind, argv, mprof("heap=0:profile=0:report=0:" + options))

    def of_a_pair(name, build, options, kind, sleepers):
        pairs = 2 * COUNTED_PAIRS  # the warm-up repeat is counted, too
        return (count(name, build, options, kind, sleepers)
                - count(name, build, options, "none", sleepers)) / pairs

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = {
            title: {variant: pool.submit(of_a_pair, name, build, options, *rest)
                    for variant, build, options in builds}
            for title, name, *rest in loops}
    return {title: {variant: [count.result()] for variant, count in of.items()}
            for title, of in counts.items()}


# --- handoff: a contended lock -----------------------------------------------


def handoff_loop(name, threads, **how):
    fields = {"program": "lock_handoff", "arguments": ["mutex", str(threads)],
              "go": ["handoff", "mutex", str(threads)], **how}
    # The threads of each repeat wait for each other at a barrier and are joined. The
    # block profile must have more events than these waits, because threads also wait
    # for the lock. The rwlock loop sets waits itself, because the readers leave the
    # writer no gap, so that there may be only a few waits for the lock.
    if "waits" not in fields:
        fields["waits"] = (2 * threads + 1) * (REPEATS + 1)
    return Loop(name, size=lambda variant: CONTEST_MS, unit="per_second",
                has_contention=True, **fields)


def handoff():
    return measure([
        handoff_loop("mutex, 2 threads", 2, rounds=JUDGED_ROUNDS),
        handoff_loop("mutex, 4 threads", 4, has_slow=False),
        handoff_loop("std::mutex, 2 threads", 2, program="lock_std",
                     arguments=["handoff", "2"], go=None, has_slow=False,
                     rounds=JUDGED_ROUNDS),
        handoff_loop("rwlock, 2 readers, 1 writer", 3,
                     arguments=["rwlock", "3"], go=["handoff", "rwlock", "3"],
                     has_mutex=False, waits=0),
    ])


# --- cond: two threads that wake each other in turn --------------------------


def cond_loop(name, ns, **how):
    """ns: approximate time of an event without a profiler. Tools slow down an event less
    than a lock and unlock, so variant.cost counts at most 10."""
    events = COND_NS / ns
    return Loop(name, "lock_cond", [], ["cond"], unit="ns",
                size=lambda variant: events / min(variant.cost, 10),
                waits=int(events / 10), **how)


def cond():
    cpu = max(os.sched_getaffinity(0))
    return measure([
        cond_loop("on one processor", 2000, prefix=("taskset", "-c", str(cpu))),
        cond_loop("on any", 10000, has_slow=False),
    ])


# --- the list of all parts ---------------------------------------------------

# {name on the benchmark page: Debian package}. The page shows the package's version.
PACKAGES = {
    "linux-perf": "linux-perf",
    "lttng-ust": "liblttng-ust1",
    "lttng-tools": "lttng-tools",
    "valgrind": "valgrind",
}
PARTS = (pair, instructions, handoff, cond)
