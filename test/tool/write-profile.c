// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a profile that the tool reads and writes again says the same to pprof
// as before, and to the tool. Writing replaces a file only as a whole, and
// keeps its mode and the links to it.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined \
// RUN:   -fno-sanitize-recover=undefined -I%src/tools/mprof -I%src/tools -I%rt %s \
// RUN:   %tools_fuzzed -lz -o copy
// RUN: export ASAN_OPTIONS=detect_leaks=0
// RUN: %mprof_clangxx -fmprof -O1 -g1 %S/Inputs/stacks.cpp -o stacks
// RUN: %run{heap_rate=1:block_rate=1:mutex_fraction=1:log_path=p:report=0} ./stacks
//
// RUN: raw() { %go tool pprof -raw $1 2>/dev/null; }
// RUN: n=0; for f in p.*.pb.gz; do ./copy $f out.pb.gz || exit 1; \
// RUN:   raw $f > a; raw out.pb.gz > b; test -s a && diff a b || exit 1; \
// RUN:   ./copy $f again.pb.gz && cmp out.pb.gz again.pb.gz || exit 1; \
// RUN:   n=$((n+1)); done; test $n -ge 3
// RUN: gzip -t out.pb.gz
//
// RUN: echo old > target && chmod 640 target && ln -s target link
// RUN: ./copy out.pb.gz link && test -L link && cmp target out.pb.gz
// RUN: stat -c %%a target | grep -x 640
// RUN: (umask 022 && ./copy out.pb.gz new) && stat -c %%a new | grep -x 644
// RUN: ./copy out.pb.gz - | cmp - out.pb.gz
// RUN: mkfifo pipe && (cat pipe > through & ./copy out.pb.gz pipe; wait)
// RUN: cmp through out.pb.gz
// RUN: not ./copy out.pb.gz none/x 2>&1 | grep -x 'none/x: No such file or directory'
// RUN: not ./copy out.pb.gz . 2>&1 | grep -x '.: Is a directory'
// RUN: ls | not grep 'link\.\|target\.\|new\.'

#include "files/read_profile.h"
#include "files/write_profile.h"

#include <stdio.h>

int main(int argc, char **argv) {
  struct profile *p = profile_new();
  const char *error = argc == 3 ? read_profile_file(p, argv[1]) : "usage";
  // What nothing refers to must not reach the file.
  const struct function unused = {.name = profile_text(p, "unused string")};
  profile_function(p, &unused);
  if (!error)
    error = write_profile_file(p, argv[2]);
  if (error)
    fprintf(stderr, "%s: %s\n", argv[2], error);
  return error != NULL;
}
