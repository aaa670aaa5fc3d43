// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that misuses locks gets the same results with and without
// MProf. If the misuse kills the program, the program dies of the same signal.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: -- normal
// CHECK: another's, pthread_mutex_unlock(m): 0
// CHECK: pthread_mutex_lock of no memory: died of signal 11, at the object
// CHECK: sem_post of no memory: died of signal 11, at the object
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>

static pthread_mutex_t the_mutex;
static pthread_mutex_t *const m = &the_mutex;

static void unlock(void *who) { SHOW_AS(who, pthread_mutex_unlock(m)); }
static void unlock_quietly(void *unused) {
  (void)unused;
  NEED(pthread_mutex_unlock(m) == 0);
}
static void try(void *who) { SHOW_AS(who, pthread_mutex_trylock(m)); }
static void lock_and_unlock(void *who) {
  SHOW_AS(who, pthread_mutex_lock(m));
  SHOW_AS(who, pthread_mutex_unlock(m));
}

static void make(int type) {
  pthread_mutexattr_t a;
  NEED(pthread_mutexattr_init(&a) == 0);
  NEED(pthread_mutexattr_settype(&a, type) == 0);
  memset(m, 0, sizeof(*m));
  NEED(pthread_mutex_init(m, &a) == 0);
  pthread_mutexattr_destroy(&a);
}

// Mutexes that do not know their owner can be unlocked by any thread.
static void misuse(const char *name, int type) {
  say("-- %s", name);
  make(type);
  NEED(pthread_mutex_lock(m) == 0);
  elsewhere(unlock, "another's");
  try("unlocked by another");
  unlock("");
  SHOW(pthread_mutex_destroy(m));

  // Another thread unlocks the mutex while a third thread waits for it.
  make(type);
  struct thread t;
  NEED(pthread_mutex_lock(m) == 0);
  start_waiting(&t, lock_and_unlock, "waited", m, sizeof(*m));
  NEED(pthread_mutex_unlock(m) == 0);
  finish(&t);
  NEED(pthread_mutex_lock(m) == 0);
  start_waiting(&t, lock_and_unlock, "waited for another's unlock", m,
                sizeof(*m));
  elsewhere(unlock_quietly, NULL);
  finish(&t);

  // A mutex that is not locked is unlocked.
  make(type);
  unlock("not held");
  try("not held");
  unlock("");
  unlock("not held");
  SHOW(pthread_mutex_destroy(m));

  // The mutex is destroyed while a thread waits. That thread goes on
  // afterwards.
  make(type);
  NEED(pthread_mutex_lock(m) == 0);
  start_waiting(&t, lock_and_unlock, "waited", m, sizeof(*m));
  SHOW(pthread_mutex_destroy(m));
  unlock_quietly(NULL);
  finish(&t);
  SHOW(pthread_mutex_destroy(m));

  // The owner has ended. Another thread unlocks the mutex, which is a mistake
  // but succeeds.
  make(type);
  elsewhere(try, "to end");
  try("owner ended");
  unlock("owner ended");
  try("owner ended");
}

// A child uses a page without permission and reports where the fault was.
static void *page;
static int report_to;

static void report_fault(int sig, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t at = (uintptr_t)info->si_addr, start = (uintptr_t)page;
  const char *where = at - start < 4096 ? "at the object\n" : "elsewhere\n";
  if (write(report_to, where, strlen(where)) < 0)
    _exit(1);
  signal(sig, SIG_DFL); // the repeated access is fatal
}

static void die_in(const char *name, void (*act)(void *), int protection) {
  int said[2];
  NEED(pipe(said) == 0);
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
              -1, 0);
  NEED(page != MAP_FAILED);
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0) {
    struct sigaction sa;
    memset(&sa, 0, sizeof(sa));
    sa.sa_sigaction = report_fault;
    sa.sa_flags = SA_SIGINFO;
    NEED(sigaction(SIGSEGV, &sa, NULL) == 0);
    NEED(mprotect(page, 4096, protection) == 0);
    report_to = said[1];
    errno = UNTOUCHED;
    act(page);
    _exit(errno == UNTOUCHED ? 0 : errno);
  }
  close(said[1]);
  char text[100];
  ssize_t n, got = 0;
  while ((n = read(said[0], text + got, sizeof(text) - 1 - got)) > 0)
    got += n;
  close(said[0]);
  text[got] = '\0';
  text[strcspn(text, "\n")] = '\0';
  int status;
  NEED(waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status))
    say("%s: died of signal %d, %s", name, WTERMSIG(status), text);
  else
    say("%s: lived, errno %s", name, error_name(WEXITSTATUS(status)));
  munmap(page, 4096);
}

static const struct timespec past = {1, 0};

static void *stay(void *unused) {
  for (;;)
    pause();
  return unused;
}

#define ACT(function, call)                                                    \
  static void function(void *p) { (void)(call); }
ACT(mutex_lock, pthread_mutex_lock(p))
ACT(mutex_trylock, pthread_mutex_trylock(p))
ACT(mutex_timedlock, pthread_mutex_timedlock(p, &past))
ACT(mutex_unlock, pthread_mutex_unlock(p))
ACT(rwlock_rdlock, pthread_rwlock_rdlock(p))
ACT(rwlock_wrlock, pthread_rwlock_wrlock(p))
ACT(rwlock_unlock, pthread_rwlock_unlock(p))
ACT(spin_lock, pthread_spin_lock(p))
ACT(spin_unlock, pthread_spin_unlock(p))
ACT(cond_signal, pthread_cond_signal(p))
ACT(cond_broadcast, pthread_cond_broadcast(p))
ACT(cond_timedwait, pthread_cond_timedwait(p, m, &past))
ACT(barrier_wait, pthread_barrier_wait(p))
ACT(semaphore_wait, sem_wait(p))
ACT(semaphore_timedwait, sem_timedwait(p, &past))
ACT(semaphore_post, sem_post(p))
ACT(once, pthread_once(p, abort))
ACT(c11_lock, mtx_lock(p))
ACT(c11_unlock, mtx_unlock(p))
ACT(c11_signal, cnd_signal(p))
ACT(create, pthread_create(p, NULL, stay, NULL))
ACT(read_to, read(open("/dev/zero", O_RDONLY), p, 1))
ACT(write_from, write(open("/dev/full", O_WRONLY), p, 1))
ACT(poll_at, poll(p, 1, 0))
ACT(sleep_for, nanosleep(p, NULL))
ACT(wait_to, waitpid(-1, p, WNOHANG))

static const struct {
  const char *name;
  void (*act)(void *);
} acts[] = {
    {"pthread_mutex_lock", mutex_lock},
    {"pthread_mutex_trylock", mutex_trylock},
    {"pthread_mutex_timedlock", mutex_timedlock},
    {"pthread_mutex_unlock", mutex_unlock},
    {"pthread_rwlock_rdlock", rwlock_rdlock},
    {"pthread_rwlock_wrlock", rwlock_wrlock},
    {"pthread_rwlock_unlock", rwlock_unlock},
    {"pthread_spin_lock", spin_lock},
    {"pthread_spin_unlock", spin_unlock},
    {"pthread_cond_signal", cond_signal},
    {"pthread_cond_broadcast", cond_broadcast},
    {"pthread_cond_timedwait", cond_timedwait},
    {"pthread_barrier_wait", barrier_wait},
    {"sem_wait", semaphore_wait},
    {"sem_timedwait", semaphore_timedwait},
    {"sem_post", semaphore_post},
    {"pthread_once", once},
    {"mtx_lock", c11_lock},
    {"mtx_unlock", c11_unlock},
    {"cnd_signal", c11_signal},
    {"pthread_create", create},
    {"read", read_to},
    {"write", write_from},
    {"poll", poll_at},
    {"nanosleep", sleep_for},
    {"waitpid", wait_to},
};

// A null pointer, and a lock in memory that is read-only.
static void die_of_null(void *unused) {
  (void)unused;
  page = NULL;
  pthread_mutex_t *volatile none = NULL;
  pthread_mutex_lock(none);
}
static void unlock_read_only(void *p) { pthread_mutex_unlock(p); }

// The memory is unmapped while a thread waits. The mutex is unlocked in a
// second mapping, and the woken waiter finds no memory.
static pthread_mutex_t *twin;

static void wait_for_mapped(void *p) { pthread_mutex_lock(p); }

static void unmap_under_waiter(void *unused) {
  (void)unused;
  int memory = memfd_create("test", 0);
  NEED(memory >= 0 && ftruncate(memory, 4096) == 0);
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  twin = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  NEED(page != MAP_FAILED && twin != MAP_FAILED);
  pthread_mutexattr_t a;
  NEED(pthread_mutexattr_init(&a) == 0);
  NEED(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  NEED(pthread_mutex_init(twin, &a) == 0);
  NEED(pthread_mutex_lock(twin) == 0);
  struct thread t;
  start_waiting(&t, wait_for_mapped, page, page, 4096);
  NEED(mprotect(page, 4096, PROT_NONE) == 0);
  NEED(pthread_mutex_unlock(twin) == 0);
  finish(&t);
}

int main(void) {
  misuse("normal", PTHREAD_MUTEX_NORMAL);
  misuse("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP);
  for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
    char name[60];
    snprintf(name, sizeof(name), "%s of no memory", acts[i].name);
    die_in(name, acts[i].act, PROT_NONE);
  }
  die_in("pthread_mutex_lock of memory to read", mutex_lock, PROT_READ);
  die_in("pthread_mutex_unlock of memory to read", unlock_read_only, PROT_READ);
  die_in("pthread_mutex_lock of a null pointer", die_of_null, PROT_READ);
  die_in("woken without memory", unmap_under_waiter, PROT_READ);
  say("end");
  return 0;
}
