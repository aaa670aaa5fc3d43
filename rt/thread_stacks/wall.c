// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples all threads for the wall profile; see thread_stacks.h.
//
// Values of a sample:
// - wall: the time since the previous round. A thread that lives shorter than
//   this time is seen with a probability that makes up for it.
// - cpu: the processor time that a running thread has used since its last
//   sample in which it ran. A thread that is seen for the first time has no
//   such sample; its sample has the wall time as processor time. The sum is
//   exact. On a busy machine, the shares are those of the places where threads
//   wait for a processor.
//
// At the moment of a sample, the sampler itself may have taken the processor
// from a thread. So the times of the kernel decide which part of a sample is
// running, and which part is runnable, that is, waiting for a processor.
//
// The pauses between the rounds are random. Otherwise a program that does
// something at a fixed rate could do it in each round, or in none.

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "sys/stats.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/unwind.h"

#include <errno.h>

static struct {
  atomic_uint hz;        // the option wall_rate; 0: off
  atomic_uint requests;  // number of requests that need the profile
  atomic_bool has_ended; // mprof_wall_stop was called last
} wall;

// --- what is known of a thread since the previous round ---

struct known {
  int tid; // 0: the entry of the table is unused
  // The bucket of the thread's sample, if the thread waited; otherwise NULL.
  struct mprof_bucket *bucket;
  // The noted wait of this sample: its address and begin. 0: the wait was not
  // noted, and ran_asleep is the processor time that the thread had used when
  // it was asleep; 0: unknown.
  uintptr_t wait;
  uint64_t start;
  uint64_t ran_asleep;
  // Times of the kernel when the thread was last seen running, or for the first
  // time.
  struct mprof_proc_times base;
};

// A hash table by thread id. Only the caller of mprof_wall_round uses it.
struct table {
  struct known *v;
  size_t size; // number of entries; a power of two
};

static struct {
  struct table threads; // of the previous round
  uint64_t last;        // time of the previous round, ticks
} seen;

static struct known *place(const struct table *t, int tid) {
  size_t i = (uint32_t)tid * 2654435761u & (t->size - 1);
  while (t->v[i].tid != 0 && t->v[i].tid != tid)
    i = (i + 1) & (t->size - 1);
  return &t->v[i];
}

// Returns what was known of the thread in the previous round, or NULL.
static const struct known *find(int tid) {
  const struct known *k = seen.threads.v ? place(&seen.threads, tid) : NULL;
  return k && k->tid == tid ? k : NULL;
}

static void drop(struct table *t) {
  if (t->v)
    mprof_os_unmap(t->v, t->size * sizeof(*t->v));
  *t = (struct table){0};
}

static int make(struct table *t, size_t threads) {
  for (t->size = 64; t->size < 2 * threads; t->size *= 2)
    ;
  t->v = mprof_os_map(t->size * sizeof(*t->v));
  return t->v ? 0 : -ENOMEM;
}

static void forget(void) {
  drop(&seen.threads);
  seen.last = mprof_clock_now();
}

// --- threads that have not run since the previous round ---
//
// A thread that is still in the same wait has the same stack.

static bool is_same_wait(const struct mprof_thread_slot *slot, uintptr_t at,
                         uint64_t start) {
  const struct known *k = find(slot->tid);
  return k && k->bucket && k->wait == at && k->start == start &&
         mprof_bucket_gone(k->bucket) == 0;
}

static bool has_not_run(const struct mprof_thread_slot *slot) {
  const struct known *k = find(slot->tid);
  return k && k->bucket && k->ran_asleep != 0 &&
         mprof_sys_thread_ran_ns(slot->tid) == k->ran_asleep &&
         mprof_bucket_gone(k->bucket) == 0;
}

// --- states ---

static enum mprof_kind state_in_kernel(char state, int syscall) {
  return state == 'R'                    ? MPROF_STATE_running
         : state == 'T' || state == 't'  ? MPROF_STATE_stopped
         : syscall == MPROF_SYSCALL_NONE ? MPROF_STATE_fault
         : syscall >= 0                  ? mprof_kind_of_syscall(syscall)
                                         : MPROF_STATE_waiting;
}

static enum mprof_kind state_of(const struct mprof_thread_slot *x) {
  switch ((enum mprof_stack_source)x->source) {
  case MPROF_STACK_OF_WAITING:
    return x->kind;
  case MPROF_STACK_IN_FUTEX:
    return MPROF_KIND_futex;
  case MPROF_STACK_UNREAD:
    if (x->unnoted.op != 0)
      return x->unnoted.kind;
    return state_in_kernel(x->kernel_state, x->syscall);
  case MPROF_STACK_OF_RUNNING:
    // The state when the thread was asked. A thread that had to be asked twice
    // has run in between.
    if (x->kernel_state == 'S' || x->kernel_state == 'D')
      return state_in_kernel(x->kernel_state, x->syscall);
  }
  return MPROF_STATE_running;
}

// --- samples ---

static struct mprof_bucket *bucket_of(const struct mprof_thread_slot *x,
                                      enum mprof_kind state) {
  if (x->source != MPROF_STACK_OF_WAITING)
    x->stack->stack_len =
        (uint32_t)mprof_hide_own_code(x->stack->stack, x->stack->stack_len);
  const struct mprof_bucket_key key = {.stack = x->stack->stack,
                                       .stack_len = x->stack->stack_len,
                                       .type = MPROF_BUCKET_WALL,
                                       .end = x->stack->end,
                                       .kind = (uint8_t)state,
                                       .labels = x->stack->labels,
                                       .object = x->object};
  return mprof_bucket_make(&key, NULL);
}

// Adds to the bucket a part of a sample. count: the part of one sample, in
// units of 1 / MPROF_COUNT_ONE.
static void add(struct mprof_bucket *b, uint64_t count, uint64_t ticks,
                uint64_t cpu_ns) {
  if (!b)
    return; // counted as no_memory
  atomic_fetch_add_explicit(&b->wait.count, count, memory_order_relaxed);
  atomic_fetch_add_explicit(&b->wait.cycles, ticks, memory_order_relaxed);
  atomic_fetch_add_explicit(&b->wait.cpu_ns, cpu_ns, memory_order_relaxed);
}

// Adds the sample of a thread that runs or is runnable.
// ticks: time since the previous round.
static void add_running(const struct mprof_thread_slot *x,
                        const struct known *before, struct known *k,
                        uint64_t ticks) {
  enum { LEAST_PART = 64 }; // a smaller part of a sample is no sample
  if (!mprof_proc_times(x->tid, &k->base))
    k->base = before ? before->base : (struct mprof_proc_times){0};
  struct mprof_proc_times d = k->base;
  const bool has_base = before && before->base.ran_ns <= d.ran_ns &&
                        before->base.delayed_ns <= d.delayed_ns;
  if (has_base) {
    d.ran_ns -= before->base.ran_ns;
    d.delayed_ns -= before->base.delayed_ns;
  }
  const uint64_t all = d.ran_ns + d.delayed_ns;
  const uint64_t delayed = d.delayed_ns < all / LEAST_PART ? 0 : d.delayed_ns;
  const uint64_t ready =
      delayed == 0 ? 0 : mprof_mul_div(ticks, delayed, all, 0);
  const uint64_t part =
      delayed == 0 ? 0 : mprof_mul_div(MPROF_COUNT_ONE, delayed, all, 0);
  add(bucket_of(x, MPROF_STATE_running), MPROF_COUNT_ONE - part, ticks - ready,
      has_base ? d.ran_ns : mprof_clock_ns(ticks - ready));
  if (ready != 0)
    add(bucket_of(x, MPROF_STATE_runnable), part, ready, 0);
}

// Adds the sample of a thread that waits.
static void add_waiting(const struct mprof_thread_slot *x,
                        enum mprof_kind state, const struct known *before,
                        struct known *k, uint64_t ticks) {
  if (state == MPROF_KIND_io)
    state = mprof_kind_of_file(x->fd);
  k->bucket = bucket_of(x, state);
  k->wait = x->wait;
  k->start = x->wait_start;
  if (x->source == MPROF_STACK_UNREAD)
    k->ran_asleep = x->tried_ns;
  if (before)
    k->base = before->base;
  else
    mprof_proc_times(x->tid, &k->base);
  add(k->bucket, MPROF_COUNT_ONE, ticks, 0);
}

static void add_sample(const struct mprof_thread_slot *x, struct table *t,
                       uint64_t ticks) {
  const struct known *before = find(x->tid);
  struct known *k = place(t, x->tid);
  *k = (struct known){.tid = x->tid};
  if (x->is_known) {
    *k = *before;
    add(k->bucket, MPROF_COUNT_ONE, ticks, 0);
  } else {
    const enum mprof_kind state = state_of(x);
    if (state == MPROF_STATE_running)
      add_running(x, before, k, ticks);
    else
      add_waiting(x, state, before, k, ticks);
  }
  if (x->source == MPROF_STACK_UNREAD)
    mprof_stat_add(MPROF_STAT_wall_unread, 1);
}

int mprof_wall_round(void) {
  struct mprof_thread_stacks s;
  struct table t = {0};
  const uint64_t now = mprof_clock_now();
  int error = mprof_thread_stacks_sample(
      &s, &(struct mprof_same_stack){is_same_wait, has_not_run});
  if (error == 0)
    error = make(&t, s.len);
  if (error == 0) {
    for (size_t i = 0; i < s.len; i++)
      add_sample(s.v[i], &t, now - seen.last);
    drop(&seen.threads);
    seen.threads = t;
    seen.last = now;
  }
  mprof_thread_stacks_free(&s);
  return error;
}

// --- the sampler ---

uint64_t mprof_wall_rate(void) {
  const unsigned hz = atomic_load(&wall.hz);
  if (atomic_load(&wall.has_ended))
    return 0;
  return hz == 0 && atomic_load(&wall.requests) != 0 ? MPROF_WALL_RATE : hz;
}

// Returns between a half and three halves of the time between two rounds.
static uint64_t pause_ms(uint64_t hz) {
  const uint64_t ms = 1000 / hz;
  return ms / 2 + mprof_sys_random() % (ms + 1);
}

static void sample(void) {
  for (bool is_on = false;;) {
    const unsigned news = mprof_own_news(MPROF_OWN_WALL);
    const uint64_t hz = mprof_wall_rate();
    if (hz != 0 && !is_on)
      forget();
    is_on = hz != 0;
    mprof_own_wait(MPROF_OWN_WALL, news, is_on ? pause_ms(hz) : UINT64_MAX);
    if (is_on && mprof_own_news(MPROF_OWN_WALL) == news)
      mprof_wall_round();
  }
}

static int start(void) {
  return mprof_own_start(MPROF_OWN_WALL, "mprof-wall", sample);
}

int mprof_wall_set_rate(uint64_t hz) {
  const bool was_on = atomic_exchange(&wall.hz, (unsigned)hz) != 0;
  atomic_store(&wall.has_ended, false);
  if (was_on || hz != 0)
    mprof_own_wake(MPROF_OWN_WALL);
  return hz != 0 ? start() : 0;
}

int mprof_wall_hold(void) {
  atomic_fetch_add(&wall.requests, 1);
  mprof_own_wake(MPROF_OWN_WALL);
  const int error = start();
  if (error != 0)
    atomic_fetch_sub(&wall.requests, 1);
  return error;
}

void mprof_wall_let_go(void) {
  atomic_fetch_sub(&wall.requests, 1);
  mprof_own_wake(MPROF_OWN_WALL);
}

void mprof_wall_stop(void) {
  if (mprof_wall_rate() == 0)
    return;
  atomic_store(&wall.has_ended, true);
  mprof_own_wake(MPROF_OWN_WALL);
}

void mprof_wall_reset(void) {
  atomic_store(&wall.hz, 0);
  atomic_store(&wall.requests, 0);
  atomic_store(&wall.has_ended, false);
  // The parent's sampler may have been changing the table.
  seen.threads = (struct table){0};
}
