# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the profile locks with the profiles block and mutex of the same process.

The delays of the rows of each waiter must add up to its delay in the block
profile, to the nanosecond. Those of each release must add up to its delay in the
mutex profile, up to the rounding of each row to a nanosecond. Prints the sums.
Rows without a waiter fail. Usage: lock_margins.py BLOCK MUTEX LOCKS [KIND...],
with the kinds of the waits that the block profile has (default: all of locks).
"""

import collections
import sys

import mprof_read

RELEASED, NONE, TAKEN = "[released in]", "[no release]", "[taken in]"
MADE = "[lock made in]"
KINDS = ["mutex", "rwlock", "spin", "user"]


class Reader:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.profile = mprof_read.Profile(f.read())

    def samples(self):
        raw, text = self.profile.raw, self.profile.text
        for s in raw.sample:
            labels = {text(x.key): text(x.str) if x.str else x.num for x in s.label}
            stack = []
            for i in s.location_id:
                location = raw.location[i - 1]
                is_pseudo = (
                    text(raw.mapping[location.mapping_id - 1].filename) == "[mprof]"
                )
                line = location.line[0] if location.line else None
                stack.append(
                    text(raw.function[line.function_id - 1].name)
                    if is_pseudo
                    else location.address
                )
            yield labels, stack, s.value[-1]


def sums_of(path, kinds):
    sums = collections.Counter()
    for labels, stack, delay in Reader(path).samples():
        if labels["kind"] in kinds:
            sums[tuple(stack)] += delay
    return sums


def main():
    block_path, mutex_path, locks_path, *kinds = sys.argv[1:]
    block, mutex = sums_of(block_path, kinds or KINDS), sums_of(mutex_path, KINDS)
    waiters, releases, rows = (collections.Counter() for _ in range(3))
    for labels, stack, delay in Reader(locks_path).samples():
        at = next(i for i, frame in enumerate(stack) if frame in (RELEASED, NONE))
        waiter, rest = tuple(stack[:at]), stack[at + 1 :]
        assert waiter != ("[unknown waiter]",), (labels, delay)
        if not kinds or labels["kind"] in kinds:
            waiters[waiter] += delay
        if stack[at] == RELEASED:
            ends = [i for i, frame in enumerate(rest) if frame in (TAKEN, MADE)]
            release = tuple(rest[: ends[0]] if ends else rest)
            releases[release] += delay
            rows[release] += 1
    for name, want, got, slack in (
        ("block", block, waiters, lambda _: 0),
        ("mutex", mutex, releases, lambda stack: rows[stack]),
    ):
        print(name, len(want), "stacks", sum(want.values()), "ns")
        for stack in {**want, **got}:
            if abs(want[stack] - got[stack]) > slack(stack):
                frames = [hex(x) if isinstance(x, int) else x for x in stack]
                print("differs:", want[stack], got[stack], *frames)
                sys.exit(1)


if __name__ == "__main__":
    main()
