// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profiles are written even if a seccomp filter refuses renameat2,
// fstat or the calls that replace them. MProf may then be unable to check that
// it replaces no file. The number of such checks is on stderr and in the
// report. Existing files stay as long as the kernel can tell that they exist.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: for error in EPERM ENOSYS; do \
// RUN:   for calls in renameat2 fstat "fstat newfstatat" "renameat2 linkat fstat newfstatat"; do \
// RUN:     name=$(echo $error $calls | tr ' ' .) && \
// RUN:     %run{heap_rate=1:log_path=$name} ./app $error $calls 2> $name.err && \
// RUN:     ls $name.*.heap.pb.gz $name.*.txt || exit 1; \
// RUN:   done; \
// RUN:   not grep unchecked $error.renameat2.err $error.fstat.err \
// RUN:     $error.fstat.newfstatat.err || exit 1; \
// RUN:   grep -q 'incomplete: unchecked 2' \
// RUN:     $error.renameat2.linkat.fstat.newfstatat.err || exit 1; \
// RUN: done
//
// Without any call that identifies a file, writing goes on as well.
// RUN: %run{heap_rate=1:log_path=blind} \
// RUN:   ./app EPERM renameat2 linkat fstat newfstatat statx 2> err
// RUN: ls blind.*.heap.pb.gz && grep 'incomplete: unchecked' err
// RUN: grep 'safety checks of output files skipped' blind.*.txt
//
// The name of an existing file is not used.
// RUN: %run{heap_rate=1:log_path=twice} \
// RUN:   ./app EPERM renameat2 linkat fstat newfstatat statx twice
// RUN: ls twice.*.heap.pb.gz | wc -l | grep -qx 2

#include "records.h"
#include "refuse.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  int number;
} calls[] = {{"renameat2", SYS_renameat2},
             {"linkat", SYS_linkat},
             {"fstat", SYS_fstat},
             {"newfstatat", SYS_newfstatat},
             {"statx", SYS_statx}};

static void *volatile sink;

int main(int argc, char **argv) {
  const int error = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
  sink = malloc(401);
  for (int i = 2; i < argc; i++)
    for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
      if (strcmp(argv[i], calls[k].name) == 0)
        refuse_call(calls[k].number, error);
  if (strcmp(argv[argc - 1], "twice") == 0) {
    char path[99];
    snprintf(path, sizeof(path), "twice.%d.heap.pb.gz", (int)getpid());
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fclose(f) == 0);
  }
  return 0;
}
