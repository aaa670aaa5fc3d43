// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with log_path=/dev/null, a process writes no file and no message at
// exit, and none at a signal.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/run && cd %t.dir/run
// RUN: %mprof_clang -fmprof -O1 %s -o ../app
// RUN: run() { MPROF_OPTIONS=heap_rate=1:trace=1:stuck=1:dump_on_signal=terminate:log_path=$1 \
// RUN:   sh -c 'echo $$ > ../pid; exec ../app '$2 2> ../err; }
// RUN: for end in exit signal; do run /dev/null $end; test ! -s ../err && \
// RUN:   ls -A | not grep . && ls /dev | not grep "null[.]$(cat ../pid)[.]" || exit 1; done
//
// Another path gets files in both cases.
// RUN: for end in exit signal; do run x $end; grep wrote ../err && \
// RUN:   ls x.$(cat ../pid).heap.pb.gz x.$(cat ../pid).trace || exit 1; done

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

int main(int argc, char **argv) {
  kept = malloc(100);
  if (argc > 1 && strcmp(argv[1], "signal") == 0)
    raise(SIGTERM);
  return 0;
}
