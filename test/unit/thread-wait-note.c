// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each thread records its current wait for the threads profile. Waits
// nest, and a wait that was left by longjmp is forgotten. A thread that has
// been sent the signal for its stack begins no wait before the signal has come,
// unless the thread blocks the signal. A thread whose wait is held by a reader
// does not return from the wait. A thread does not end while its stack is read.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct mprof_thread *self(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(false);
  mprof_guard_leave();
  return t;
}

#define BEGIN(w)                                                               \
  do {                                                                         \
    *(w) = (struct mprof_wait){.op = (uintptr_t)begin_at,                      \
                               .frame = (uintptr_t)__builtin_frame_address(0), \
                               .kind = MPROF_KIND_sem,                         \
                               .start = 1};                                    \
    begin_at(w);                                                               \
  } while (0)

static void begin_at(struct mprof_wait *w) {
  mprof_guard_enter();
  mprof_wait_note(w);
  mprof_guard_leave();
}

__attribute__((noinline)) static void leave_one(int depth) {
  struct mprof_wait w;
  volatile char room[256];
  room[0] = (char)depth;
  if (depth > 0) {
    leave_one(depth - 1);
    room[1] = room[0];
    return;
  }
  BEGIN(&w);
  CHECK_EQ(atomic_load(&self()->wait), (uintptr_t)&w);
}

__attribute__((noinline)) static void inner(const struct mprof_wait *outer) {
  struct mprof_wait w;
  struct mprof_thread *t = self();
  BEGIN(&w);
  CHECK_EQ(atomic_load(&t->wait), (uintptr_t)&w);
  CHECK_EQ(w.outer, (uintptr_t)outer);
  mprof_wait_note_end(&w);
  CHECK_EQ(atomic_load(&t->wait), (uintptr_t)outer);
}

static void test_nesting(void) {
  struct mprof_wait w;
  BEGIN(&w);
  CHECK_EQ(w.outer, 0);
  inner(&w);
  mprof_wait_note_end(&w);
  CHECK_EQ(atomic_load(&self()->wait), 0);
  leave_one(4);
  CHECK(atomic_load(&self()->wait) != 0);
  BEGIN(&w);
  CHECK_EQ(w.outer, 0);
  mprof_wait_note_end(&w);
  CHECK_EQ(atomic_load(&self()->wait), 0);
}

static void test_claim(void) {
  struct mprof_wait w;
  struct mprof_thread *t = self();
  BEGIN(&w);
  atomic_fetch_or(&t->wait, MPROF_WAIT_READ);
  mprof_wait_note_end(&w);
  CHECK_EQ(atomic_load(&t->wait), 0);
}

// --- with a second thread ---

static struct mprof_thread *other;
static atomic_int step;

static void until(int n) {
  while (atomic_load(&step) < n)
    usleep(100);
}

static void begin_and_end(void) {
  struct mprof_wait w;
  BEGIN(&w);
  atomic_store(&step, 2);
  until(3);
  mprof_wait_note_end(&w);
  atomic_store(&step, 4);
}

static void *wait_when_asked(void *blocks) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, mprof_ask_signal());
  if (blocks)
    pthread_sigmask(SIG_BLOCK, &set, NULL);
  other = self();
  atomic_store(&other->wait, MPROF_WAIT_ASKED);
  atomic_store(&step, 1);
  begin_and_end();
  return NULL;
}

static void *wait_until_let_go(void *arg) {
  other = self();
  begin_and_end();
  return arg;
}

// Checks that the other thread does not reach step n within 20 ms.
static void check_stays_below(int n) {
  usleep(20000);
  CHECK(atomic_load(&step) < n);
}

static void test_asked(void) {
  pthread_t t;
  atomic_store(&step, 0);
  pthread_create(&t, NULL, wait_when_asked, NULL);
  until(1);
  check_stays_below(2);
  CHECK_EQ(atomic_load(&other->wait), MPROF_WAIT_ASKED);
  atomic_store(&other->wait, 0); // as the signal handler does
  until(2);
  CHECK(atomic_load(&other->wait) != 0);
  atomic_store(&step, 3);
  pthread_join(t, NULL);

  atomic_store(&step, 0);
  pthread_create(&t, NULL, wait_when_asked, &step);
  until(2);
  atomic_store(&step, 3);
  pthread_join(t, NULL);
}

static void test_held(void) {
  pthread_t t;
  atomic_store(&step, 0);
  pthread_create(&t, NULL, wait_until_let_go, NULL);
  until(2);
  atomic_fetch_or(&other->wait, MPROF_WAIT_HELD);
  atomic_store(&step, 3);
  check_stays_below(4);
  atomic_fetch_and(&other->wait, ~MPROF_WAIT_HELD);
  until(4);
  pthread_join(t, NULL);
}

static void *end_at_once(void *arg) {
  other = self();
  atomic_store(&mprof_round.reading, other);
  atomic_store(&step, 1);
  return arg;
}

static atomic_int has_ended;
static void *join(void *t) {
  pthread_join(*(pthread_t *)t, NULL);
  atomic_store(&has_ended, 1);
  return NULL;
}

static void test_end(void) {
  pthread_t t, joiner;
  atomic_store(&step, 0);
  pthread_create(&t, NULL, end_at_once, NULL);
  pthread_create(&joiner, NULL, join, &t);
  until(1);
  usleep(20000);
  CHECK_EQ(atomic_load(&has_ended), 0);
  atomic_store(&mprof_round.reading, NULL);
  pthread_join(joiner, NULL);
}

int main(void) {
  test_nesting();
  test_claim();
  test_asked();
  test_held();
  test_end();
  return 0;
}
