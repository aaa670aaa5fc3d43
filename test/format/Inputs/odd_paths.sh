#!/bin/bash
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: odd_paths.sh SOURCE MPROF_CLANG...
# Compiles SOURCE to a library and a program in directories with unusual names,
# runs the programs, and prints their reports.

set -eu
source=$1
shift
base=$PWD
for name in plain 'a"b' "a'b\"c" $'a\nb' 'a\012b' a:b a:x86_64; do
  mkdir "$base/$name"
  cd "$base/$name"
  cp "$source" odd_paths.c
  "$@" -fmprof -g -O1 -fPIC -shared -DLIBRARY odd_paths.c -o libodd.so
  "$@" -fmprof -g -O1 odd_paths.c libodd.so -o app
  MPROF_OPTIONS=heap_rate=1:log_path="x" LD_LIBRARY_PATH=. timeout 600 ./app
  printf 'directory %q\n' "$name"
  cat x.*.txt
done
