// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if MPROF_OPTIONS is set, one line at exit names the files that were
// written, or says why none could be written. The program's exit status does
// not change.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: %run{heap=1} ./app 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: {{^}}mprof: wrote mprof.app.[[PID:[0-9]+]].heap.pb.gz (3 samples, 2 stacks) and mprof.app.[[PID]].txt; incomplete: no_memory 5; code without MProf is not counted: link with -fmprof or mprof-program.cfg{{$}}
// BOTH-NEXT: exit code 7
// RUN: gzip -t mprof.app.*.heap.pb.gz && grep -q SUMMARY mprof.app.*.txt
//
// RUN: %run{format=1:report=0:log_path=x.%%p} ./app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEXT
// TEXT: mprof: wrote x.[[PID:[0-9]+]].heap.txt (3 samples, 2 stacks); incomplete
// RUN: grep -q 'heap profile: 3: 300' x.*.heap.txt
//
// RUN: %run{profile=0:log_path=only} ./app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT
// REPORT: mprof: wrote only.[[PID:[0-9]+]].txt (3 samples, 2 stacks); incomplete
//
// RUN: %run_quiet ./app 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: mprof:
// NONE: exit code 7
//
// RUN: %run{log_path=/proc/missing/a.%%p} ./app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// MISSING: mprof: cannot write /proc/missing/a.[[PID:[0-9]+]].heap.pb.gz: no such file or directory (the directory is missing and cannot be made)
// MISSING-NEXT: mprof: cannot write /proc/missing/a.[[PID]].txt: no such file or directory
// MISSING-NEXT: exit code 7
//
// RUN: %run{log_path=stderr} ./app 2>&1 | FileCheck %s --check-prefix=STDERR
// STDERR: heap report
// STDERR: SUMMARY: MProf: 300 bytes
// STDERR-NEXT: exit code 7
//
// RUN: %run{heap=0} ./app 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: (0 samples: heap=0) and
//
// RUN: %run{heap=1} ./app blind 2>&1 | FileCheck %s --check-prefix=BLIND
// RUN: %run{log_path=stderr} ./app blind 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BLIND
// BLIND-NOT: mprof: cannot
// BLIND: mprof: wrote nothing: cannot read /proc/self/maps: too many open files
// BLIND-NOT: mprof:
// BLIND: exit code 7
//
// RUN: ./app other && test -e other && test ! -s other

#include "bucket/bucket.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void count_block(mprof_pc pc) {
  struct mprof_bucket_key key = {.stack = &pc,
                                 .stack_len = 1,
                                 .type = MPROF_BUCKET_MEM,
                                 .size = 100,
                                 .rate = 1};
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  mprof_guard_leave();
  CHECK(b != NULL);
  atomic_fetch_add(&b->mem.shared[0].allocs, 1);
}

int main(int argc, char **argv) {
  pid_t pid = fork();
  if (pid == 0) {
    CHECK(mprof_process_ready());
    if (mprof_flags.heap) {
      count_block((mprof_pc)main + 1);
      count_block((mprof_pc)main + 1);
      count_block((mprof_pc)main + 2);
    }
    mprof_stat_add(MPROF_STAT_no_memory, 5);
    if (argc > 1 && strcmp(argv[1], "blind") == 0) {
      const struct rlimit none = {0, 0}; // as without /proc
      CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    } else if (argc > 1) // another file takes the number of stderr
      CHECK(dup2(open("other", O_CREAT | O_WRONLY, 0600), 2) == 2);
    exit(7);
  }
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  printf("exit code %d\n", WEXITSTATUS(status));
  fflush(stdout);
  _exit(0);
}
