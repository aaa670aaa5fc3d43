// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "times.h"

#include "common/memory.h"
#include "event.h"
#include "short_name.h"
#include "table.h"

#include <stdlib.h>

struct thread_times *times_of(struct times *t, uint64_t g) {
  const size_t index = idmap_get(&t->ids, g, t->count);
  if (index == t->count)
    *APPEND(t->threads, t->count, t->capacity) = (struct thread_times){.g = g};
  return &t->threads[index];
}

void times_create(struct times *t, const struct trace *trace, uint64_t g,
                  uint64_t start_stack) {
  struct thread_times *thread = times_of(t, g);
  const struct trace_frame *frames;
  if (trace_stack(trace, start_stack, &frames))
    thread->name = short_name(trace_string(trace, frames[0].function));
}

static unsigned reason_kind(struct times *t, struct trace_text reason) {
  if (t->kinds < TIME_WAITS)
    t->kinds = TIME_WAITS;
  for (unsigned i = TIME_WAITS; i < t->kinds; i++)
    if (trace_text_equal(t->reasons[i], reason))
      return i;
  if (t->kinds == TIME_KINDS)
    return TIME_KINDS - 1;
  t->reasons[t->kinds] =
      t->kinds == TIME_KINDS - 1 ? TEXT("other waits") : reason;
  return t->kinds++;
}

static unsigned kind_of(struct times *t, enum thread_state state,
                        struct trace_text reason) {
  switch (state) {
  case THREAD_BLOCKED:
    return reason_kind(t, reason);
  case THREAD_IN_CALL:
    return TIME_CALL;
  case THREAD_RUNNABLE:
    return trace_text_is(reason, "preempted") ? TIME_PREEMPTED : TIME_RUNNABLE;
  case THREAD_RUNNING:
  case THREAD_ABSENT:
    break;
  }
  return TIME_RUNNING;
}

static void count(struct thread_times *thread, uint64_t now) {
  if (!thread->is_alive || now <= thread->until)
    return;
  thread->ns[thread->kind] += now - thread->until;
  thread->life += now - thread->until;
  thread->until = now;
}

void times_state(struct times *t, uint64_t g, uint64_t now,
                 enum thread_state state, struct trace_text reason) {
  const unsigned kind = kind_of(t, state, reason);
  struct thread_times *thread = times_of(t, g);
  count(thread, now);
  if (!thread->life && !thread->is_alive)
    thread->begin = now;
  if (!thread->is_alive)
    thread->until = now;
  thread->is_alive = state != THREAD_ABSENT;
  thread->kind = kind;
}

void times_stopped(struct times *t, uint64_t g, uint64_t now, unsigned kind,
                   uint64_t ns) {
  struct thread_times *thread = times_of(t, g);
  count(thread, now);
  if (ns > thread->ns[TIME_RUNNING])
    ns = thread->ns[TIME_RUNNING];
  thread->ns[TIME_RUNNING] -= ns;
  thread->ns[kind] += ns;
}

void times_sample(struct times *t, const struct trace *trace, uint64_t g,
                  uint64_t stack) {
  sampled_add(&times_of(t, g)->sampled, trace, stack);
}

void times_count(struct times *t, uint64_t now) {
  for (size_t i = 0; i < t->count; i++) {
    count(&t->threads[i], now);
    sampled_sort(&t->threads[i].sampled);
  }
}

struct trace_text times_name(const struct times *t, unsigned kind) {
  static const struct trace_text names[TIME_WAITS] = {
      [TIME_RUNNING] = {"running", 7},
      [TIME_PREEMPTED] = {"preempted", 9},
      [TIME_OFF_CPU] = {"off CPU", 7},
      [TIME_RUNNABLE] = {"runnable", 8},
      [TIME_CALL] = {"system call", 11}};
  if (kind < TIME_WAITS)
    return names[kind];
  return t->reasons[kind].length ? t->reasons[kind] : TEXT("blocked");
}

void times_clear(struct times *t) {
  idmap_clear(&t->ids);
  for (size_t i = 0; i < t->count; i++)
    sampled_clear(&t->threads[i].sampled);
  free(t->threads);
}
