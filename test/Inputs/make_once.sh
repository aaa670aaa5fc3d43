#!/bin/bash
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make_once.sh OUT COMMAND...
#
# Does what "COMMAND... -o OUT" does. Runs COMMAND only once for all tests with the
# same COMMAND and OUT, and keeps its output below $MPROF_TEST_MADE until the source
# files, the headers or the build change.

set -eu
out=$1
shift
key=$(printf '%s\0' "${MPROF_CLANG-}" "$out" "$@" | sha256sum | cut -c 1-32)
made=$MPROF_TEST_MADE/$key
sources=()
for word; do
  case $word in
  *.c | *.cpp) sources+=("$word") ;;
  esac
done
inputs=${0%/*}
build=$MPROF_TEST_MADE/../..
mkdir -p "$MPROF_TEST_MADE"
{
  flock 9
  if [ ! -e "$made/$out" ] || [ -n "$(find "${sources[@]}" "$inputs" \
    "$inputs/../../include" "$build/bin" "$build/lib" -newer "$made/$out" \
    -print -quit)" ]; then
    rm -rf "$made"
    # A directory, because the compiler may write a file beside OUT
    # (link_for_emulator.sh).
    mkdir "$made"
    "$@" -o "$made/$out"
  fi
  cp -r "$made/." .
} 9>"$made.lock"
