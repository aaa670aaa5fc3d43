// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a seccomp filter refuses the calls that start mprof, the
// profile is written without names, and one message says so. If it refuses
// close_range, there are names, and mprof gets none of the program's
// descriptors.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: for calls in execve clone socketpair; do \
// RUN:   %run{heap_rate=1:log_path=$calls:symbolizer_cache=0} ./app $calls 2> $calls.err && \
// RUN:   ls $calls.*.heap.pb.gz && not grep 'in allocate' $calls.*.txt && \
// RUN:   grep -c 'without names' $calls.err | grep -qx 1 || exit 1; \
// RUN: done
//
// RUN: %run{heap_rate=1:log_path=own:symbolizer_cache=0} ./app close_range 2> own.err
// RUN: grep 'in allocate .*seccomp-refused-names.c:' own.*.txt
// RUN: printf '#!/bin/sh\nls -l /proc/$$/fd > fds\nexec %build/bin/mprof "$@"\n' > mprof
// RUN: chmod +x mprof
// RUN: %run{heap_rate=1:log_path=named:symbolizer_cache=0:external_symbolizer_path=./mprof} \
// RUN:   ./app close_range 2> named.err
// RUN: grep 'in allocate .*seccomp-refused-names.c:' named.*.txt
// RUN: grep -q ' 0 -> ' fds && not grep leaked fds

#include "check.h"
#include "refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int number;
} calls[] = {{"execve", SYS_execve},
             {"clone", SYS_clone},
             {"socketpair", SYS_socketpair},
             {"close_range", SYS_close_range}};

static void *volatile sink;

__attribute__((noinline)) static void allocate(void) { sink = malloc(401); }

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  for (int i = 0; i < 300; i++)
    CHECK(open("leaked", O_RDWR | O_CREAT, 0600) >= 0);
  allocate();
  for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
    if (strcmp(argv[1], calls[k].name) == 0)
      refuse_call(calls[k].number, ENOSYS);
  return 0;
}
