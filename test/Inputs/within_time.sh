#!/bin/bash
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: within_time.sh SECONDS SCRIPT
#
# Runs a test's SCRIPT with bash. Ends the test after SECONDS, and at its end what it
# has started and not ended, so that neither stops the whole run.

seconds=$1
shift
# lit waits until the output ends, so a process that has left the test's process group
# must not have it.
export WITHIN_TIME_$$=1
dir=$(mktemp -d) || exit 1
end() {
  kill -KILL -- -"$group" 2>/dev/null
  # Processes in groups of their own.
  if [ "$1" -eq 137 ]; then
    grep -lsz "^WITHIN_TIME_$$=" /proc/[0-9]*/environ | cut -d/ -f3 |
      xargs -r kill -KILL 2>/dev/null
  fi
  cat "$dir/out"
  cat "$dir/err" >&2
  rm -rf "$dir"
  exit "$1"
}
# The script gets a process group of its own, and takes SIGINT as before. sh would need
# a terminal for this.
set -m
timeout --foreground --signal=KILL "$seconds" bash "$@" >"$dir/out" 2>"$dir/err" &
group=$!
trap 'end 137' HUP INT TERM
wait "$group"
status=$?
# timeout ends itself by the signal.
if [ "$status" -eq 137 ]; then
  echo "The test needed more than $seconds seconds, or was killed." >>"$dir/err"
fi
end "$status"
