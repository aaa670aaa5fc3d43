// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: flock, lockf and all commands of fcntl give the same results and the
// same errno with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -pthread -D_FILE_OFFSET_BITS=64 \
// RUN:   -I%src/test/Inputs %s -o app64
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app64 > on64.txt
// RUN: diff plain.txt on64.txt
//
// CHECK: -- flock
// CHECK: flock(b, LOCK_EX | LOCK_NB): -1, errno EAGAIN
// CHECK: interrupted, flock(b, LOCK_EX): -1, errno EINTR
// CHECK: waited, flock(b, LOCK_EX): 0
// CHECK: -- fcntl
// CHECK: fcntl(b, F_OFD_SETLK, &l): -1, errno EAGAIN
// CHECK: fcntl(a, F_SETLKW, &l): -1, errno EDEADLK
// CHECK: the child waited, fcntl(a, F_SETLKW, &l): 0
// CHECK: -- lockf
// CHECK: lockf(a, F_TEST, 10): -1, errno EACCES
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int a, b; // one file, opened twice

static struct flock lock_of(short type, off_t start, off_t len) {
  struct flock l;
  memset(&l, 0, sizeof(l));
  l.l_type = type;
  l.l_whence = SEEK_SET;
  l.l_start = start;
  l.l_len = len;
  return l;
}

static volatile int handled;
static void handle(int sig) { handled += sig == SIGUSR1; }
static void handle_with(int flags) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  sa.sa_flags = flags;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
}

static void lock_file(void *who) {
  SHOW_NUMBER_AS(who, flock(b, LOCK_EX));
  if (strcmp(who, "interrupted") != 0)
    SHOW_NUMBER_AS(who, flock(b, LOCK_UN));
}
static void share_file(void *who) {
  SHOW_NUMBER_AS(who, flock(b, LOCK_SH));
  SHOW_NUMBER_AS(who, flock(b, LOCK_UN));
}

static void use_flock(void) {
  say("-- flock");
  SHOW_NUMBER(flock(a, LOCK_SH));
  SHOW_NUMBER(flock(b, LOCK_SH));
  SHOW_NUMBER(flock(b, LOCK_EX | LOCK_NB));
  SHOW_NUMBER(flock(b, LOCK_UN));
  SHOW_NUMBER(flock(b, LOCK_EX | LOCK_NB));
  SHOW_NUMBER(flock(a, LOCK_EX)); // from a shared lock
  SHOW_NUMBER(flock(a, LOCK_EX)); // held already
  SHOW_NUMBER(flock(b, LOCK_SH | LOCK_NB));
  SHOW_NUMBER(flock(b, LOCK_UN)); // not held
  SHOW_NUMBER(flock(-1, LOCK_EX));
  SHOW_NUMBER(flock(a, 0));
  struct thread t;
  handle_with(0);
  start(&t, lock_file, "interrupted");
  until_blocked(t.tid, SYS_flock, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
  handle_with(SA_RESTART);
  handled = 0;
  start(&t, lock_file, "started again");
  until_blocked(t.tid, SYS_flock, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  while (!handled)
    usleep(100);
  until_blocked(t.tid, SYS_flock, NULL, 0);
  NEED(flock(a, LOCK_UN) == 0);
  finish(&t);
  SHOW_NUMBER(flock(a, LOCK_EX));
  start(&t, lock_file, "waited");
  until_blocked(t.tid, SYS_flock, NULL, 0);
  NEED(flock(a, LOCK_UN) == 0);
  finish(&t);
  SHOW_NUMBER(flock(a, LOCK_EX));
  start(&t, share_file, "waited");
  until_blocked(t.tid, SYS_flock, NULL, 0);
  NEED(flock(a, LOCK_SH) == 0); // from an exclusive lock
  finish(&t);
  SHOW_NUMBER(flock(a, LOCK_UN));
}

static void say_lock(const struct flock *l) {
  say("type %d, whence %d, start %ld, length %ld, pid %d", l->l_type,
      l->l_whence, (long)l->l_start, (long)l->l_len, l->l_pid != 0);
}

static void lock_own(void *who) {
  struct flock l = lock_of(F_WRLCK, 0, 10);
  SHOW_NUMBER_AS(who, fcntl(b, F_OFD_SETLKW, &l));
  if (strcmp(who, "interrupted") == 0)
    return;
  l.l_type = F_UNLCK;
  SHOW_NUMBER_AS(who, fcntl(b, F_OFD_SETLKW, &l));
}

static void use_open_file_locks(void) {
  struct flock l = lock_of(F_WRLCK, 0, 10);
  SHOW_NUMBER(fcntl(a, F_OFD_SETLK, &l));
  l = lock_of(F_RDLCK, 5, 1);
  SHOW_NUMBER(fcntl(b, F_OFD_SETLK, &l));
  SHOW_NUMBER(fcntl(b, F_OFD_GETLK, &l));
  say_lock(&l);
  l = lock_of(F_RDLCK, 10, 0);
  SHOW_NUMBER(fcntl(b, F_OFD_GETLK, &l));
  say_lock(&l);
  SHOW_NUMBER(fcntl(b, F_OFD_SETLKW, &l));
  l.l_pid = 1;
  l.l_type = F_RDLCK;
  SHOW_NUMBER(fcntl(b, F_OFD_SETLKW, &l)); // the pid must be 0
  struct thread t;
  handle_with(0);
  start(&t, lock_own, "interrupted");
  until_blocked(t.tid, SYS_fcntl, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
  start(&t, lock_own, "waited");
  until_blocked(t.tid, SYS_fcntl, NULL, 0);
  l = lock_of(F_UNLCK, 0, 0);
  NEED(fcntl(a, F_OFD_SETLK, &l) == 0);
  finish(&t);
  NEED(fcntl(b, F_OFD_SETLK, &l) == 0);
}

// Locks of processes: the child holds bytes 0 to 9 and waits for 10 to 19.
static void use_process_locks(void) {
  int ready[2];
  char c;
  NEED(pipe(ready) == 0);
  struct flock l = lock_of(F_WRLCK, 10, 10);
  SHOW_NUMBER(fcntl(a, F_SETLK, &l));
  SHOW_NUMBER(fcntl(b, F_SETLKW, &l)); // held by the same process
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    l = lock_of(F_WRLCK, 0, 10);
    NEED(fcntl(a, F_SETLKW, &l) == 0);
    l = lock_of(F_WRLCK, 10, 10);
    SHOW_NUMBER_AS("child", fcntl(a, F_SETLK, &l));
    NEED(write(ready[1], "", 1) == 1);
    SHOW_NUMBER_AS("the child waited", fcntl(a, F_SETLKW, &l));
    NEED(write(ready[1], "", 1) == 1);
    pause();
  }
  NEED(read(ready[0], &c, 1) == 1);
  until_blocked(pid, SYS_fcntl, NULL, 0);
  l = lock_of(F_RDLCK, 0, 20);
  SHOW_NUMBER(fcntl(a, F_GETLK, &l));
  say("the child's: %d", l.l_pid == pid);
  say_lock(&l);
  l = lock_of(F_WRLCK, 0, 1);
  SHOW_NUMBER(fcntl(a, F_SETLK, &l));
  SHOW_NUMBER(fcntl(a, F_SETLKW, &l)); // would wait for the child
  l = lock_of(F_UNLCK, 0, 0);
  NEED(fcntl(a, F_SETLK, &l) == 0);
  NEED(read(ready[0], &c, 1) == 1);
  l = lock_of(F_WRLCK, 10, 1);
  SHOW_NUMBER(fcntl(a, F_SETLK, &l));
  NEED(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
  SHOW_NUMBER(fcntl(a, F_SETLKW, &l));
  l = lock_of(F_UNLCK, 0, 0);
  SHOW_NUMBER(fcntl(a, F_SETLKW, &l));
  close(ready[0]), close(ready[1]);
}

static void fail_to_lock(void) {
  struct flock l = lock_of(F_WRLCK, 0, 1);
  SHOW_NUMBER(fcntl(-1, F_SETLK, &l));
  SHOW_NUMBER(fcntl(-1, F_SETLKW, &l));
  SHOW_NUMBER(fcntl(a, F_SETLKW, NULL));
  l.l_type = 77;
  SHOW_NUMBER(fcntl(a, F_SETLKW, &l));
  l = lock_of(F_WRLCK, -1, 1);
  SHOW_NUMBER(fcntl(a, F_SETLKW, &l));
  int for_reading = open("file", O_RDONLY);
  l = lock_of(F_WRLCK, 0, 1);
  SHOW_NUMBER(fcntl(for_reading, F_SETLKW, &l));
  close(for_reading);
}

// All other commands of fcntl, with each kind of argument.
static void use_commands(void) {
  say("flags %#x", fcntl(a, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
  SHOW_NUMBER(fcntl(a, F_SETFL, O_APPEND | O_NONBLOCK));
  say("flags %#x", fcntl(a, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
  SHOW_NUMBER(fcntl(a, F_SETFL, 0));
  SHOW_NUMBER(fcntl(a, F_GETFD));
  SHOW_NUMBER(fcntl(a, F_SETFD, FD_CLOEXEC));
  SHOW_NUMBER(fcntl(a, F_GETFD));
  SHOW_NUMBER(fcntl(a, F_DUPFD, 100));
  SHOW_NUMBER(fcntl(a, F_DUPFD_CLOEXEC, 100));
  SHOW_NUMBER(fcntl(100, F_GETFD));
  SHOW_NUMBER(fcntl(101, F_GETFD));
  close(100), close(101);
  SHOW_NUMBER(fcntl(100, F_GETFD));
  SHOW_NUMBER(fcntl(a, F_DUPFD, -1));
  SHOW_NUMBER(fcntl(a, F_SETOWN, getpid()));
  say("owned by this process: %d", fcntl(a, F_GETOWN) == getpid());
  SHOW_NUMBER(fcntl(a, F_SETOWN, 0));
  struct f_owner_ex owner = {F_OWNER_TID, own_tid()};
  SHOW_NUMBER(fcntl(a, F_SETOWN_EX, &owner));
  memset(&owner, 0, sizeof(owner));
  SHOW_NUMBER(fcntl(a, F_GETOWN_EX, &owner));
  say("owned by this thread: %d",
      owner.type == F_OWNER_TID && owner.pid == own_tid());
  SHOW_NUMBER(fcntl(a, F_SETSIG, SIGUSR2));
  SHOW_NUMBER(fcntl(a, F_GETSIG));
  int pipes[2];
  NEED(pipe(pipes) == 0);
  SHOW_NUMBER(fcntl(pipes[0], F_SETPIPE_SZ, 4096));
  SHOW_NUMBER(fcntl(pipes[1], F_GETPIPE_SZ));
  close(pipes[0]), close(pipes[1]);
  int memory = memfd_create("test", MFD_ALLOW_SEALING);
  SHOW_NUMBER(fcntl(memory, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK));
  SHOW_NUMBER(fcntl(memory, F_GET_SEALS));
  close(memory);
  uint64_t hint = 2;
  SHOW_NUMBER(fcntl(a, F_SET_RW_HINT, &hint));
  hint = 0;
  SHOW_NUMBER(fcntl(a, F_GET_RW_HINT, &hint));
  say("hint %d", (int)hint);
  SHOW_NUMBER(fcntl(a, 123456));
  SHOW_NUMBER(fcntl(-1, F_GETFL));
}

static void lock_section(void *who) {
  SHOW_NUMBER_AS(who, lockf(a, F_LOCK, 10));
}

static void use_lockf(void) {
  say("-- lockf");
  NEED(lseek(a, 0, SEEK_SET) == 0);
  SHOW_NUMBER(lockf(a, F_TEST, 10));
  SHOW_NUMBER(lockf(a, F_LOCK, 10));
  SHOW_NUMBER(lockf(a, F_TLOCK, 10));
  SHOW_NUMBER(lockf(a, F_TEST, 10));
  SHOW_NUMBER(lockf(a, F_ULOCK, 10));
  SHOW_NUMBER(lockf(a, 77, 10));
  SHOW_NUMBER(lockf(-1, F_LOCK, 10));
  SHOW_NUMBER(lockf(-1, F_TEST, 10));
  int ready[2];
  char c;
  NEED(pipe(ready) == 0);
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    NEED(lockf(a, F_LOCK, 10) == 0);
    NEED(write(ready[1], "", 1) == 1);
    pause();
  }
  NEED(read(ready[0], &c, 1) == 1);
  SHOW_NUMBER(lockf(a, F_TEST, 10));
  SHOW_NUMBER(lockf(a, F_TLOCK, 10));
  struct thread t;
  handle_with(0);
  start(&t, lock_section, "interrupted");
  until_blocked(t.tid, SYS_fcntl, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
  start(&t, lock_section, "waited");
  until_blocked(t.tid, SYS_fcntl, NULL, 0);
  NEED(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
  finish(&t);
  SHOW_NUMBER(lockf(a, F_ULOCK, 0));
}

int main(void) {
  a = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  b = open("file", O_RDWR);
  NEED(a >= 0 && b >= 0 && ftruncate(a, 100) == 0);
  use_flock();
  say("-- fcntl");
  use_open_file_locks();
  use_process_locks();
  fail_to_lock();
  use_commands();
  use_lockf();
  say("end");
  return 0;
}
