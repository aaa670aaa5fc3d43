// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the file of the option persist is removed at the end of the process,
// unless persist_keep=1. An existing file is never changed: the next free
// number is appended to the path. If the file cannot be made or cannot grow,
// the program runs as without the option, a message says so, and mprof recover
// says what is missing. The file also grows after the program has closed all
// descriptors and changed its directory. A child of fork and exec leaves no
// file.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/disk %t.dir/closed && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run_quiet{persist=p} ./app && test ! -e p
// RUN: %run_quiet{persist=p:persist_keep=1:heap_rate=1} ./app && test -e p
// RUN: test $(stat -c %%a p) = 600
// RUN: %mprof recover p > out && grep -q '^p.heap.pb.gz: ' out
//
// RUN: echo mine > there && ln -s nowhere there.1
// RUN: %run{persist=there:persist_keep=1:report=0} ./app 2> err
// RUN: grep 'persist: the path exists, .*; this process uses there.2$' err
// RUN: grep -x mine there && test -e there.2 && test ! -e nowhere
//
// RUN: %run{persist=none/p:report=0} ./app 2> err
// RUN: grep 'persist: cannot make none/p: .*; a killed process will leave' err
//
// RUN: %run{persist=p:heap_rate=1:report=0:profile=0} not --crash ./app kill 2> err
// RUN: %mprof recover p.1 > out && grep "p.1.heap.pb.gz: 2000[0-9] stacks" out
// RUN: cd closed && %run_quiet{persist=%t.dir/c:heap_rate=1} \
// RUN:   not --crash ../app close kill && cd ..
// RUN: %mprof recover c 2> err > out && test ! -s err && grep ": 2000[0-9] stacks" out
//
// RUN: sh -c 'ulimit -f 4000; MPROF_OPTIONS=persist=f:heap_rate=1 not --crash \
// RUN:   ./app kill' 2> err
// RUN: grep 'persist: cannot write to .*/f: .*; the file lacks what follows' err
// RUN: %mprof recover f 2> err > out && grep 'the file could not grow' err
// RUN: grep '[0-9]\{4\} stacks' out
// RUN: sh -c 'ulimit -f 0; MPROF_OPTIONS=persist=g:report=0:profile=0 ./app' 2>&1 \
// RUN:   | cat > err
// RUN: grep 'persist: cannot write to .*/g: .*; a killed process will leave' err
// RUN: test ! -e g
//
// RUN: %run{persist=e.%%p:heap_rate=1:report=0} not --crash ./app exec kill \
// RUN:   2> err; ls e.* | count 1

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

// Makes as many stacks as i has values.
__attribute__((noinline)) static void deep(unsigned i, unsigned bits) {
  if (bits == 0)
    kept = malloc(10);
  else if (i & 1)
    deep(i >> 1, bits - 1);
  else
    deep(i >> 1, bits - 1);
  __asm__ volatile("");
}

static void close_all(void) {
  for (int i = 3; i < 2000; i++)
    close(i);
  if (chdir("/") != 0)
    abort();
}

static void run_child(void) {
  if (fork() == 0) {
    execl("/bin/true", "true", (char *)0);
    _exit(1);
  }
  wait(NULL);
}

int main(int argc, char **argv) {
  kept = malloc(1);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "close") == 0)
      close_all();
    if (strcmp(argv[i], "exec") == 0)
      run_child();
  }
  if (argc > 1)
    for (unsigned i = 0; i < 20000; i++)
      kept = malloc(8 + i);
  deep(5, 4);
  if (argc > 1)
    kill(getpid(), SIGKILL);
  return 0;
}
