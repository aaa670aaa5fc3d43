// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of open tasks, and the slow tasks; see trace.h.

#include "trace/trace.h"

#include "options/flags.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "trace/trace_events.h"

enum { SLOTS = 4096, PROBES = 16 };

// An open task. The thread that sets the field task from 0 owns the slot until
// it sets the field to 0 again, but a task may be replaced at any time.
struct slot {
  _Atomic uint64_t task, ticks; // task 0: the slot is free
  _Atomic uint32_t name;
};

// NULL: the option is off. Set before other threads record events.
static struct slot *slots;

static struct {
  struct mprof_lock lock;
  struct mprof_slow_tasks found; // guarded by lock
} slow = {.lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE_BUF)};

void mprof_slow_tasks_init(void) {
  if (mprof_flags.trace_slow_task != 0 && slots == NULL)
    slots = mprof_os_map(SLOTS * sizeof(*slots));
}

uint64_t mprof_slow_task_limit(void) {
  return mprof_flags.trace_slow_task * mprof_trace_frequency() / 1000;
}

static struct slot *slot_of(uint64_t task, unsigned probe) {
  return &slots[(task + probe) % SLOTS];
}

void mprof_slow_task_begin(uint64_t task, uint32_t name, uint64_t ticks) {
  if (mprof_likely(slots == NULL))
    return;
  struct slot *s = NULL;
  for (unsigned i = 0; i < PROBES && s == NULL; i++) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&slot_of(task, i)->task, &none, task))
      s = slot_of(task, i);
  }
  if (s == NULL) {
    mprof_stat_add(MPROF_STAT_slow_lost, 1);
    s = slot_of(task, 0);
  }
  atomic_store_explicit(&s->ticks, ticks, memory_order_relaxed);
  atomic_store_explicit(&s->name, name, memory_order_relaxed);
  atomic_store_explicit(&s->task, task, memory_order_release);
}

static void note(uint64_t task, uint32_t name, uint64_t begin, uint64_t took) {
  mprof_lock_acquire(&slow.lock);
  struct mprof_slow_tasks *f = &slow.found;
  if (f->count++ == 0)
    *f = (struct mprof_slow_tasks){1, task, took, name, begin};
  else if (begin < f->begin)
    f->begin = begin;
  mprof_lock_release(&slow.lock);
  mprof_own_wake(MPROF_OWN_SNAPSHOTS);
}

void mprof_slow_task_end(uint64_t task, uint64_t ticks) {
  if (mprof_likely(slots == NULL))
    return;
  for (unsigned i = 0; i < PROBES; i++) {
    struct slot *s = slot_of(task, i);
    if (atomic_load_explicit(&s->task, memory_order_acquire) != task)
      continue;
    const uint64_t begin = atomic_load(&s->ticks);
    const uint32_t name = atomic_load(&s->name);
    uint64_t own = task;
    // Ignores the task if another one has replaced it meanwhile.
    if (atomic_compare_exchange_strong(&s->task, &own, 0) && ticks > begin &&
        ticks - begin > mprof_slow_task_limit())
      note(task, name, begin, ticks - begin);
    return;
  }
}

bool mprof_slow_tasks_has_news(void) {
  mprof_lock_acquire(&slow.lock);
  const bool has_news = slow.found.count != 0;
  mprof_lock_release(&slow.lock);
  return has_news;
}

struct mprof_slow_tasks mprof_slow_tasks_take(void) {
  mprof_lock_acquire(&slow.lock);
  const struct mprof_slow_tasks found = slow.found;
  slow.found = (struct mprof_slow_tasks){0};
  mprof_lock_release(&slow.lock);
  return found;
}

void mprof_slow_tasks_reset(void) {
  mprof_lock_reset(&slow.lock);
  slow.found = (struct mprof_slow_tasks){0};
}
