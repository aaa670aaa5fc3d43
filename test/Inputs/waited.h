// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for end-to-end tests of the block and mutex profiles. One thread
// waits for another in functions of the test. Each function has a section of
// its own, so that stacks tell the functions apart without symbols. The records
// are compared with the bounds of the time that the wait can have lasted.

#ifndef MPROF_TEST_INPUTS_WAITED_H
#define MPROF_TEST_INPUTS_WAITED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sync-observe.h"

#include <mprof/mprof.h>

// The runtime's table of waiters: not 0 while a thread waits for an object that
// hashes to the word.
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    uint32_t __mprof_waiters[1024];
// Flags of a word, which say nothing about waiters.
#define WAITED_FLAGS (3u << 29) // MPROF_WAITER_FLAGS

static inline uint32_t waited_word(const void *object) {
  return __atomic_load_n(&__mprof_waiters[(uintptr_t)object >> 6 & 1023],
                         __ATOMIC_RELAXED);
}
static inline int is_waited_for(const void *object) {
  return (waited_word(object) & ~WAITED_FLAGS) != 0;
}
static inline void until_waited_for(const void *object) {
  for (int i = 0; i < 1200000 && !is_waited_for(object); i++)
    pause_us(100);
  NEED(is_waited_for(object));
}

// --- functions that the records tell apart ---

struct code {
  const char *name;
  uintptr_t begin, end;
};
// Stands before a definition; CODE(name) is then the range of its code.
#define OWN_CODE(name) __attribute__((noinline, section("code_" #name)))
#define DECLARE_CODE(name)                                                     \
  extern char __start_code_##name[], __stop_code_##name[]
#define CODE(name)                                                             \
  {#name, (uintptr_t)__start_code_##name, (uintptr_t)__stop_code_##name}

static inline int is_in(const struct code *c, uintptr_t pc) {
  return pc > c->begin && pc <= c->end;
}

// --- records ---

typedef int profile(struct mprof_block_record *records, size_t len, size_t *n);

struct waited {
  unsigned records;
  long long count;
  double seconds;
  uintptr_t leaf; // of the last record found
};

enum { ANYWHERE = 0, SECOND = 1 };

// Sums up the records that have an address of c in their stack: as the second
// frame, behind the hooked function, or anywhere.
static inline struct waited waited_in(profile *get, const struct code *c,
                                      int at) {
  static struct mprof_block_record records[4096];
  struct waited w = {0, 0, 0, 0};
  size_t n;
  NEED(get(records, 4096, &n) == 0);
  for (size_t i = 0; i < n; i++) {
    int found = 0;
    for (int k = 1; k < MPROF_RECORD_STACK; k++)
      if ((at == ANYWHERE || k == at) && is_in(c, records[i].stack0[k]))
        found = 1;
    if (!found)
      continue;
    w.records++;
    w.count += records[i].count;
    w.seconds += (double)records[i].cycles / (double)mprof_ticks_per_second();
    w.leaf = records[i].stack0[0];
  }
  return w;
}

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// The expected record. If count is 0, no record is expected. If op is NULL, the
// record may be of any hooked function.
struct expected {
  long long count;
  const void *op;
  double least, most; // seconds
};

static int failures;

static inline void check_waited(const char *what, const char *where,
                                struct waited w, struct expected e) {
  // The clock of the runtime is right within 1 %.
  int ok = w.count == e.count && w.records == (e.count != 0);
  if (e.count != 0)
    ok = ok && w.seconds >= e.least * 0.99 && w.seconds <= e.most * 1.01 + 1e-4;
  if (e.count != 0 && e.op)
    ok = ok && w.leaf == (uintptr_t)e.op + 1;
  if (ok)
    return;
  failures++;
  fprintf(stderr,
          "%s: %s: %u records, count %lld, %.6f s, leaf %#lx; expected count "
          "%lld, %.6f to %.6f s, leaf %#lx\n",
          what, where, w.records, w.count, w.seconds, (unsigned long)w.leaf,
          e.count, e.least, e.most, (unsigned long)e.op + 1);
}

// --- a thread that waits, and another that ends the wait ---

struct contest {
  const char *name;
  void (*take)(void); // called by the main thread; may be NULL
  void (*wait)(void *);
  void (*release)(void);
  const void *object;               // key in the table of waiters, or NULL
  long number;                      // of the system call of the waiter
  const void *wait_op, *release_op; // hooked functions; NULL: no record
  struct code waiter, releaser;
};

// Shortest time that a wait is made to last, in milliseconds.
enum { HOLD_MS = 15 };

static inline void run_contest(const struct contest *c, int at) {
  struct thread t;
  if (c->take)
    c->take();
  double first = now();
  start(&t, c->wait, NULL);
  if (c->object)
    until_waited_for(c->object);
  else
    until_blocked(t.tid, c->number, NULL, 0);
  double least = now();
  usleep(HOLD_MS * 1000);
  least = now() - least;
  c->release();
  double most = now() - first;
  finish(&t);
  if (!c->object) // the wait lasts until the waiter runs again
    most = now() - first;
  const int any = at == ANYWHERE; // the library chooses the hooked function
  struct expected wait = {c->wait_op != NULL, any ? NULL : c->wait_op, least,
                          most};
  struct expected release = {c->release_op != NULL, any ? NULL : c->release_op,
                             least, most};
  check_waited(c->name, "block", waited_in(mprof_block_profile, &c->waiter, at),
               wait);
  check_waited(c->name, "mutex",
               waited_in(mprof_mutex_profile, &c->releaser, at), release);
  if (c->object && is_waited_for(c->object)) {
    fprintf(stderr, "%s: somebody is left in the table\n", c->name);
    failures++;
  }
}

#endif // MPROF_TEST_INPUTS_WAITED_H
