// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a profile may be impossible to write because of the limit of file
// sizes, or because stderr is a pipe without a reader. The program still ends
// with its own exit status.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: (ulimit -f 4; %run{heap=1} ./app; echo "exit code $?") 2>&1 | FileCheck %s
// CHECK: mprof: cannot write mprof.app.{{[0-9]+}}.heap.pb.gz: file too large
// CHECK: exit code 7
// RUN: test -z "$(ls | grep pb.gz)"
//
// RUN: %run{heap=1} ./app unread && ls mprof.app.*.heap.pb.gz
// RUN: %run{log_path=stderr} ./app unread

#include "bucket/bucket.h"
#include "process/process.h"
#include "sys/tls.h"

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static void count_blocks(void) {
  CHECK(mprof_process_ready());
  for (unsigned i = 1; i <= 1000; i++) {
    mprof_pc pc = (mprof_pc)mprof_process_start + i % 8;
    struct mprof_bucket_key key = {.stack = &pc,
                                   .stack_len = 1,
                                   .type = MPROF_BUCKET_MEM,
                                   .size = i,
                                   .rate = 1};
    mprof_guard_enter();
    struct mprof_bucket *b = mprof_bucket_get(&key, true);
    mprof_guard_leave();
    CHECK(b != NULL);
    atomic_fetch_add(&b->mem.shared[0].allocs, 1);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc == 1) {
    count_blocks();
    return 7;
  }
  int fd[2], status;
  CHECK_EQ(pipe(fd), 0);
  pid_t pid = fork();
  if (pid == 0) {
    close(fd[0]);
    dup2(fd[1], 2);
    execl("./app", "app", NULL);
    _exit(1);
  }
  close(fd[0]);
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  _exit(0);
}
