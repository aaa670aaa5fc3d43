// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of threads that were created and have not begun to run; see
// thread_starts.h. The records are stored in chunks of memory that are never
// unmapped.

#include "thread_stacks/thread_starts.h"

#include "lock_wait/contention.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_memory.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/thread_noting.h"
#include "trace_hooks/trace_hooks.h"

#define CHUNK_BYTES 16384u

struct chunk {
  struct chunk *next;
  struct mprof_thread_start v[];
};
enum {
  PER_CHUNK =
      (CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct mprof_thread_start)
};

static struct {
  struct mprof_lock lock; // starts_lock; guards both lists
  struct mprof_thread_start *unused;
  // A forked copy of the process reads this list without the lock, because no
  // other thread runs in the copy.
  struct chunk *_Atomic chunks;
} starts = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STARTS)};

// The field arg of a record may be the only pointer to a block of the program.
// LeakSanitizer must scan the chunks, so that it does not report this block as
// a leak.
extern void __lsan_register_root_region(const void *p, size_t len)
    __attribute__((weak));

static void add_chunk_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_STARTS));
  struct chunk *c = mprof_os_map(CHUNK_BYTES);
  if (!c)
    return;
  if (__lsan_register_root_region)
    __lsan_register_root_region(c, CHUNK_BYTES);
  for (size_t i = 0; i < PER_CHUNK; i++) {
    c->v[i].next = starts.unused;
    starts.unused = &c->v[i];
  }
  c->next = starts.chunks;
  starts.chunks = c;
}

struct mprof_thread_start *mprof_thread_start_new(void) {
  mprof_lock_acquire(&starts.lock);
  if (!starts.unused)
    add_chunk_locked();
  struct mprof_thread_start *s = starts.unused;
  if (s)
    starts.unused = s->next;
  mprof_lock_release(&starts.lock);
  if (s)
    *s = (struct mprof_thread_start){.virtuals = NULL};
  else
    mprof_stat_add(MPROF_STAT_no_memory, 1);
  return s;
}

void mprof_thread_start_free(struct mprof_thread_start *s) {
  mprof_lock_acquire(&starts.lock);
  s->arg = NULL;
  s->next = starts.unused;
  starts.unused = s;
  mprof_lock_release(&starts.lock);
}

void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg) {
  for (const struct chunk *c = starts.chunks; c; c = c->next)
    for (size_t i = 0; i < PER_CHUNK; i++)
      if (c->v[i].arg)
        fn(&c->v[i], arg);
}

void mprof_thread_starts_reset(void) { mprof_lock_reset(&starts.lock); }

void mprof_thread_begin(struct mprof_thread_start *s, bool is_done) {
  // The labels must be set first, because mprof_thread_self copies them into
  // the thread's new record.
  mprof_thread_set_labels(s->labels);
  if (!mprof_guard_enter())
    return;
  struct mprof_thread *t = mprof_thread_self(false);
  if (t) {
    mprof_lock_acquire(&mprof_registry_lock);
    t->created = s->bucket;
    t->runs = s->runs;
    mprof_lock_release(&mprof_registry_lock);
    if (atomic_load(&mprof_contention.notes_waits))
      mprof_thread_is_noting(t);
  }
  if (mprof_unlikely(s->trace_g != 0))
    mprof_trace_hooks.created(s->trace_g, s->trace_start, s->trace_session);
  if (is_done)
    mprof_thread_start_free(s);
  mprof_guard_leave();
}
