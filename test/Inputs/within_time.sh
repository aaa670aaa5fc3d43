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
# The script gets a process group of its own, and takes SIGINT as before. sh would need
# a terminal for this.
set -m
timeout --foreground --signal=KILL "$seconds" bash "$@" &
trap 'kill -KILL -- -$!; exit 1' HUP INT TERM
wait $!
status=$?
kill -KILL -- -$! 2>/dev/null
# timeout ends itself by the signal.
if [ "$status" -eq 137 ]; then
  echo "The test needed more than $seconds seconds, or was killed." >&2
fi
exit "$status"
