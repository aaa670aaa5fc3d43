# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a timeline that mprof trace json wrote as text without times.

Each thread is a heading, and each slice of its row a line, in the order of
time. Equal neighbours are one line:

    run G3:
      running
      blocked: sync, woken by G1 at FUNCTION < CALLER, stack FUNCTION < CALLER

A runnable thread is left out, since it depends on the ticks between events
whether there is a slice for it. The script also checks that the timeline is well
formed, as test/format/Inputs/timeline.py describes.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "format", "Inputs"))
from timeline import Timeline


def joined(stack):
    return stack.replace("\n", " < ")


def slice_text(event):
    args, text = event["args"], event["name"]
    if "woken by" in args:
        text += ", woken by " + args["woken by"].split(" ")[-1]
    if "woken at" in args:
        text += " at " + joined(args["woken at"])
    if "stack" in args:
        text += ", stack " + joined(args["stack"])
    return text


def print_row(row):
    last = None
    for _, _, event in sorted(row, key=lambda r: (r[0], -r[1])):
        if event["name"] == "runnable":
            continue
        text = slice_text(event)
        if text != last:
            print("  " + text)
        last = text


def main():
    line = Timeline(sys.argv[1]).check()
    for thread, name in sorted(line.names.items()):
        print(name.split(" tid ")[0] + ":")
        print_row(line.rows.get(thread, []))


if __name__ == "__main__":
    main()
