// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the stacks of all threads for the profiles, and copies them into the
// program's records.
// (Go: GoroutineProfile)

#include "snapshot/group_threads.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "snapshot/stack_groups.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/caller.h"
#include "sys/flags.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <string.h>

// --- equal stacks ---

static bool is_equal(const struct mprof_thread_slot *x,
                     const struct mprof_thread_slot *y) {
  return x->source == y->source && x->grade == y->grade &&
         x->stack.hash == y->stack.hash && x->stack.end == y->stack.end &&
         x->stack.labels == y->stack.labels &&
         x->stack.object == y->stack.object &&
         x->stack.stack_len == y->stack.stack_len &&
         memcmp(x->stack.stack, y->stack.stack,
                x->stack.stack_len * sizeof(mprof_pc)) == 0;
}

static bool comes_by_stack(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  if (x->stack.hash != y->stack.hash)
    return x->stack.hash < y->stack.hash;
  if (x->stack.labels != y->stack.labels)
    return x->stack.labels < y->stack.labels;
  if (x->stack.object != y->stack.object)
    return x->stack.object < y->stack.object;
  if (x->source != y->source)
    return x->source < y->source;
  return x->grade < y->grade;
}

static bool join_equal(void *into, const void *next) {
  struct mprof_thread_slot *x = into;
  if (!is_equal(x, next))
    return false;
  x->count++;
  return true;
}

static bool has_more_threads(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  return x->count != y->count ? x->count > y->count : comes_by_stack(x, y);
}

void mprof_thread_stacks_group(struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->len; i++) {
    struct mprof_bucket *b = &s->v[i]->stack;
    b->hash = mprof_bucket_hash(b->stack, b->stack_len, 0);
  }
  s->len =
      mprof_join_neighbours((void **)s->v, s->len, comes_by_stack, join_equal);
  mprof_sort((void **)s->v, s->len, has_more_threads);
}

// --- records ---

extern void __msan_unpoison(const volatile void *p, size_t len)
    __attribute__((weak));

// Tells MemorySanitizer that the program's memory has been written.
static void unpoison(const volatile void *p, size_t len) {
  if (__msan_unpoison)
    __msan_unpoison(p, len);
}

// Fills one record for each stack, or none if there are more stacks than len.
static int fill(struct mprof_stack_record *records, size_t len,
                const struct mprof_thread_stacks *s) {
  if (s->len > len)
    return -ERANGE;
  memset(records, 0, s->len * sizeof(*records));
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_bucket *b = &s->v[i]->stack;
    size_t n = b->stack_len;
    if (n > MPROF_RECORD_STACK)
      n = MPROF_RECORD_STACK;
    memcpy(records[i].stack0, b->stack, n * sizeof(b->stack[0]));
  }
  unpoison(records, s->len * sizeof(*records));
  return 0;
}

// Returns 0 with the guard set, or -errno without it.
static int enter(size_t *n) {
  *n = 0;
  unpoison(n, sizeof(*n));
  if (!mprof_init_ready() || !mprof_process_is_own())
    return -ENOSYS;
  return mprof_guard_enter() ? 0 : -EBUSY;
}

MPROF_PUBLIC int mprof_thread_profile(struct mprof_stack_record *records,
                                      size_t len, size_t *n) {
  int error = enter(n);
  if (error != 0)
    return -error;
  struct mprof_thread_stacks s;
  error = mprof_thread_stacks_take(&s, (uintptr_t)__builtin_frame_address(0),
                                   len, mprof_flags.threads_stop);
  *n = s.threads;
  if (error == 0)
    error = fill(records, len, &s);
  mprof_thread_stacks_free(&s);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC int mprof_thread_leak_profile(struct mprof_stack_record *records,
                                           size_t len, size_t *n) {
  int error = enter(n);
  if (error != 0)
    return -error;
  struct mprof_caller caller;
  MPROF_CALLER(&caller);
  mprof_stuck_enter(&caller);
  struct mprof_stuck g;
  error = mprof_stuck_take(&g, &caller, 0);
  *n = g.stacks.threads;
  if (error == 0)
    error = fill(records, len, &g.stacks);
  mprof_stuck_free(&g);
  mprof_stuck_leave();
  mprof_guard_leave();
  return -error;
}
