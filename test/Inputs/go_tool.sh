#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   go_tool.sh GO ARGUMENT...
#
# Runs the go command GO. For "go tool pprof" and "go tool trace", runs the program that
# GO has built in its cache or has beside it: the go command takes 0.3 s to find it.
# go tool trace always opens a socket, by default at localhost, which a system may not
# know.

set -eu
go=$1
shift
case ${1-}-${2-} in
tool-pprof | tool-trace)
  mkdir -p "$MPROF_TEST_MADE"
  # Another Go at the same path is another file.
  tool=$MPROF_TEST_MADE/go-$2-$(stat -L -c %d-%i-%Y "$go")
  if [ ! -x "$tool" ]; then
    "$go" tool "$2" -h >/dev/null 2>&1 || : # builds the program
    ln -sfn "$("$go" tool -n "$2")" "$tool"
  fi
  kind=$2
  shift 2
  if [ "$kind" = trace ]; then
    exec "$tool" -http=127.0.0.1:0 "$@"
  fi
  exec "$tool" "$@"
  ;;
esac
exec "$go" "$@"
