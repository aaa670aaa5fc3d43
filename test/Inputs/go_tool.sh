#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   go_tool.sh GO ARGUMENT...
#
# Runs the go command GO. For "go tool pprof" and "go tool trace", runs the program that
# GO has built in its cache: the go command takes 0.3 s to find it.

set -eu
go=$1
shift
case ${1-}-${2-} in
tool-pprof | tool-trace)
  tool=$GOCACHE/tool-$2
  if [ ! -x "$tool" ]; then
    "$go" tool "$2" -h >/dev/null 2>&1 || : # builds the program
    ln -sfn "$("$go" tool -n "$2")" "$tool"
  fi
  shift 2
  exec "$tool" "$@"
  ;;
esac
exec "$go" "$@"
