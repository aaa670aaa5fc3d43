// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the allocation log replaces an earlier log, but no other file, and
// only its owner can read the file. If MProf cannot write the log, MProf prints
// one message and counts the missing events, and the program goes on. The test
// has paths that are no regular file, a limit on the file size, and another
// process with the same log. In one run, the program closes the log's
// descriptor and uses the number for its own file.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: echo 'export MPROF_OPTIONS=heap_rate=1:log_path=x:profile=0:alloc_log=$1; \
// RUN:   ./app $2 2>&1' > run
//
// RUN: echo mine > other && sh run other | FileCheck %s --check-prefix=OTHER
// RUN: grep -x mine other
// RUN: mkdir dir && sh run dir | FileCheck %s --check-prefix=DIR
// RUN: mkfifo fifo && sh run fifo | FileCheck %s --check-prefix=FIFO
// RUN: ln -s other link && sh run link | FileCheck %s --check-prefix=LINK
// RUN: sh run none/log | FileCheck %s --check-prefix=NONE
//
// RUN: sh run log | FileCheck %s --check-prefix=GOOD && sh run log > out
// RUN: test $(stat -c %%a log) = 600 && %mprof log --no-names log > read
// RUN: grep '^2,001 allocations' read && not grep note: read
// RUN: : > empty && sh run empty | FileCheck %s --check-prefix=GOOD
// RUN: sh run log start-another | FileCheck %s --check-prefix=TAKEN
// RUN: %mprof log --no-names log | grep '^2,001 allocations'
//
// RUN: sh -c 'ulimit -f 64; sh run full' | FileCheck %s --check-prefix=FULL
// RUN: grep ' events missing from the allocation log' x.*.txt
// RUN: %mprof log --no-names full > read && not grep '^2,001 allocations' read
//
// RUN: sh run log close | FileCheck %s --check-prefix=GOOD
// RUN: %mprof log --no-names log | grep '^2,001 allocations'
// RUN: diff /dev/null programs
// RUN: sh run log close-and-remove | FileCheck %s --check-prefix=CLOSED
// RUN: diff /dev/null programs
//
// OTHER: mprof: alloc_log: cannot overwrite a file that is not an allocation log: other; logging stops
// OTHER: mprof: wrote x.
// DIR: mprof: alloc_log: cannot open dir: is a directory; logging stops
// FIFO: mprof: alloc_log: cannot log to a path that is not a regular file: fifo; logging stops
// LINK: mprof: alloc_log: cannot open link: {{.*}}; logging stops
// NONE: mprof: alloc_log: cannot open none/log: no such file or directory; logging stops
// GOOD-NOT: alloc_log
// GOOD: mprof: wrote {{.*}} (4,001 records)
// TAKEN: mprof: alloc_log: another process logs to the same file ({{.*}}): log; logging stops
// FULL: mprof: alloc_log: cannot write to full: file too large; logging stops
// FULL-NOT: alloc_log
// FULL: log_events
// CLOSED: mprof: alloc_log: the program closed the log file, {{.*}}: log: no such file or directory; logging stops
// CLOSED: log_events 2,00

#include "records.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile p;

static void work(int n) {
  for (int i = 0; i < n; i++) {
    p = malloc(20);
    free(p);
  }
}

static void close_all(void) {
  for (int fd = 3; fd < 100; fd++)
    close(fd);
  // The files get the numbers that were free, and belong to the program.
  for (int i = 0; i < 10; i++)
    CHECK(open("programs", O_WRONLY | O_CREAT | O_TRUNC, 0600) >= 0);
}

int main(int argc, char **argv) {
  work(1000);
  if (argc > 1 && strncmp(argv[1], "close", 5) == 0) {
    if (strcmp(argv[1], "close-and-remove") == 0)
      CHECK(unlink("log") == 0);
    close_all();
  }
  if (argc > 1 && strcmp(argv[1], "start-another") == 0) {
    pid_t pid = fork();
    if (pid == 0)
      execl(argv[0], argv[0], (char *)NULL);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  work(1000);
  p = malloc(30);
  return 0;
}
