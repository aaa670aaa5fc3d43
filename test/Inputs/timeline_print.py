# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a timeline that mprof trace json wrote as text without times.

Each thread is a heading, and each slice of its row a line, in the order of
time. Equal neighbours are one line:

    run G3:
      running
      blocked: sync, woken by G1 at FUNCTION < CALLER, stack FUNCTION < CALLER

A runnable thread is left out, since it depends on the ticks between events
whether there is a slice for it. The stack of a wait that began before the trace
is left out, since only the format 1.23 has it. The script also checks that the
timeline is well formed, as test/format/Inputs/timeline.py describes.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "format", "Inputs"))
from timeline import Timeline


def joined(stack):
    return stack.replace("\n", " < ")


def slice_text(event, states):
    args, text = event["args"], event["name"]
    has_frames = not states and "since before" not in text
    if "woken by" in args:
        text += ", woken by " + args["woken by"].split(" ")[-1]
    if has_frames and "woken at" in args:
        text += " at " + joined(args["woken at"])
    if has_frames and "stack" in args:
        text += ", stack " + joined(args["stack"])
    return text


def print_row(row, states):
    last = None
    for _, _, event in sorted(row, key=lambda r: (r[0], -r[1])):
        if event["name"] == "runnable":
            continue
        if states and event["cat"] != "state":
            continue
        text = slice_text(event, states)
        if text != last:
            print("  " + text)
        last = text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", action="store_true",
                        help="print states and wakers only, neither regions "
                        "nor names nor stacks, which the format 1.5 lacks")
    parser.add_argument("json")
    args = parser.parse_args()
    line = Timeline(args.json).check()
    for thread, name in sorted(line.names.items()):
        name = name.split(" tid ")[0]
        print((name.split(" ")[-1] if args.states else name) + ":")
        print_row(line.rows.get(thread, []), args.states)


if __name__ == "__main__":
    main()
