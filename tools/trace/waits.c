// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "waits.h"

#include "axis.h"
#include "common/hash_bytes.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "timeline.h"
#include "times.h"

#include <stdlib.h>
#include <string.h>

struct thread {
  struct trace_text lock; // of the next wait
  bool waits;
  struct wait wait; // the current wait; only valid if waits is true
};

enum { CHARGES_MAX = 1 << 16, PENDING = 256 };

struct pending {
  struct wait wait;
  uint64_t id; // result of charge_id for the end of the wait
};

struct wait_timeline {
  struct timeline base;
  struct axis axis;
  uint64_t ticks; // time of the present event
  const char *reason;
  struct trace_window window;
  uint64_t count, total;
  struct times times;
  struct thread *threads; // with the indices of times.threads
  size_t thread_count, thread_capacity;
  struct wait *longest; // the longest waits, longest first
  size_t longest_count, longest_max;
  struct idmap end_ids; // maps the result of end_key to an index in `ends`
  struct wait_end *ends;
  size_t end_count, end_capacity;
  // Maps the result of place_key to an index in `holders`.
  struct idmap holder_ids;
  struct holder *holders;
  size_t holder_count, holder_capacity;
  // The results of charge_id for the latest charges. (A charge is the time that
  // threads have waited for a released lock.) When `charges` has CHARGES_MAX
  // ids, the map becomes `older`, and the ids that were in `older` are dropped.
  struct idmap charges, older;
  // A ring of the latest waits that other threads have ended. A wait stays here
  // for a while, because it is not yet known whether it was a wait for a lock.
  // If it was, an event with the charge of the lock's release may follow.
  struct pending pending[PENDING];
  size_t pending_count;
};

static struct thread *thread_of(struct wait_timeline *l, uint64_t g) {
  const size_t index = (size_t)(times_of(&l->times, g) - l->times.threads);
  while (l->thread_count <= index)
    *APPEND(l->threads, l->thread_count, l->thread_capacity) =
        (struct thread){0};
  return &l->threads[index];
}

// Returns the key of the group (struct wait_end) to which a wait belongs.
static uint64_t end_key(const struct wait *w) {
  return w->end == WAIT_WOKEN ? place_key(&w->woken_at) : w->end;
}

// Returns a number that a release and the waits that it ends have in common:
// all these events have the same time and the same stack.
static uint64_t charge_id(const struct wait_timeline *l,
                          const struct place *p) {
  return hash_bytes(place_key(p), &l->ticks, sizeof l->ticks);
}

static void count_end(struct wait_timeline *l, const struct wait *w) {
  uint64_t key = end_key(w);
  const size_t index = idmap_get(&l->end_ids, key, l->end_count);
  if (index == l->end_count)
    *APPEND(l->ends, l->end_count, l->end_capacity) =
        (struct wait_end){.example = *w};
  struct wait_end *end = &l->ends[index];
  end->count++;
  end->total += w->length;
  if (w->length > end->longest)
    end->longest = w->length;
}

// Counts the end of a wait, unless the wait was for a lock. A wait for a lock
// is already counted with the release of the lock (timeline_charge).
static void settle(struct wait_timeline *l, const struct pending *p) {
  size_t index;
  if (!idmap_find(&l->charges, p->id, &index) &&
      !idmap_find(&l->older, p->id, &index))
    count_end(l, &p->wait);
}

static void add_charge(struct wait_timeline *l, uint64_t id) {
  if (l->charges.count == CHARGES_MAX) {
    idmap_clear(&l->older);
    l->older = l->charges;
    l->charges = (struct idmap){0};
  }
  idmap_get(&l->charges, id, 0);
}

static void hold_back(struct wait_timeline *l, const struct wait *w) {
  struct pending *p = &l->pending[l->pending_count % PENDING];
  if (l->pending_count++ >= PENDING)
    settle(l, p);
  *p = (struct pending){*w, charge_id(l, &w->woken_at)};
}

static void settle_all(struct wait_timeline *l) {
  size_t n = l->pending_count, first = n < PENDING ? 0 : n - PENDING;
  for (size_t i = first; i < n; i++)
    settle(l, &l->pending[i % PENDING]);
}

// Inserts the wait into the list of the longest waits if the wait is long
// enough. Of two waits of the same length, the wait that ended earlier comes
// first.
static void keep_longest(struct wait_timeline *l, const struct wait *w) {
  size_t at = l->longest_count;
  while (at && l->longest[at - 1].length < w->length)
    at--;
  if (at == l->longest_max)
    return;
  if (l->longest_count < l->longest_max)
    l->longest_count++;
  memmove(&l->longest[at + 1], &l->longest[at],
          (l->longest_count - at - 1) * sizeof *w);
  l->longest[at] = *w;
}

// The present time, or the nearest time in the window.
static uint64_t clipped_now(const struct wait_timeline *l) {
  return trace_window_clip(l->window, l->axis.now);
}

static void end_wait(struct wait_timeline *l, struct thread *t) {
  struct wait *w = &t->wait;
  if (!t->waits)
    return;
  t->waits = false;
  const uint64_t start = trace_window_clip(l->window, w->start),
                 then = clipped_now(l);
  // The wait is outside of the window.
  if (then <= start && (w->start != start || l->axis.now != then))
    return;
  w->start = start;
  w->length = then > start ? then - start : 0;
  l->count++;
  l->total += w->length;
  if (w->end == WAIT_WOKEN)
    hold_back(l, w);
  else
    count_end(l, w);
  keep_longest(l, w);
}

static const struct timeline_sink sink; // at the end of this file

struct timeline *waits_begin(const struct trace *trace, const char *reason,
                             size_t longest, struct trace_window window) {
  struct wait_timeline *l = zeroed(1, sizeof *l);
  l->base.sink = &sink;
  l->axis.trace = trace;
  l->reason = reason;
  l->window = window;
  l->longest_max = longest;
  l->longest = zeroed(longest, sizeof *l->longest);
  return &l->base;
}

// Compares two groups of waits for qsort. The group with the larger total comes
// first. If the totals are equal, the group whose first wait began earlier
// comes first.
static int by_total(const void *a, const void *b) {
  const struct wait_end *x = a, *y = b;
  if (x->total != y->total)
    return x->total < y->total ? 1 : -1;
  uint64_t xs = x->example.start, ys = y->example.start;
  return xs < ys ? -1 : xs > ys;
}

// Compares two source lines for qsort. The line with the larger total comes
// first. If the totals are equal, the line whose first release was earlier
// comes first.
static int by_charge(const void *a, const void *b) {
  const struct holder *x = a, *y = b;
  if (x->total != y->total)
    return x->total < y->total ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

struct waits waits_end(struct timeline *line) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  for (size_t i = 0; i < l->thread_count; i++) {
    struct thread *t = &l->threads[i];
    t->wait.end = WAIT_OPEN;
    end_wait(l, t);
  }
  settle_all(l);
  times_count(&l->times, clipped_now(l));
  if (l->end_count)
    qsort(l->ends, l->end_count, sizeof *l->ends, by_total);
  if (l->holder_count)
    qsort(l->holders, l->holder_count, sizeof *l->holders, by_charge);
  return (struct waits){
      l->count,       l->total,     clipped_now(l) - l->window.from,
      &l->times,      l->longest,   l->longest_count,
      l->ends,        l->end_count, l->holders,
      l->holder_count};
}

struct trace_text waits_thread_name(struct timeline *line, uint64_t g) {
  return times_of(&((struct wait_timeline *)line)->times, g)->name;
}

void waits_free(struct timeline *line) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  times_clear(&l->times);
  idmap_clear(&l->end_ids);
  idmap_clear(&l->holder_ids);
  idmap_clear(&l->charges);
  idmap_clear(&l->older);
  free(l->threads);
  free(l->longest);
  free(l->ends);
  free(l->holders);
  free(l);
}

static void line_at(struct timeline *line, uint64_t ticks) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  axis_at(&l->axis, ticks);
  l->ticks = ticks;
}

static void line_create(struct timeline *line, uint64_t g, uint64_t by,
                        uint64_t start_stack) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  (void)by;
  times_create(&l->times, l->axis.trace, g, start_stack);
}

static void line_kernel_thread(struct timeline *line, uint64_t g, uint64_t m) {
  times_of(&((struct wait_timeline *)line)->times, g)->tid = m;
}

static void line_name(struct timeline *line, uint64_t g,
                      struct trace_text name) {
  times_of(&((struct wait_timeline *)line)->times, g)->name = name;
}

static void line_state(struct timeline *line, uint64_t g,
                       enum thread_state state, struct trace_text reason,
                       uint64_t stack) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  struct thread *t = thread_of(l, g);
  times_state(&l->times, g, clipped_now(l), state, reason);
  const struct trace_text lock = state == THREAD_BLOCKED ? t->lock : TEXT("");
  t->lock = TEXT("");
  t->wait.end = WAIT_BY_ITSELF;
  end_wait(l, t);
  if (state == THREAD_IN_CALL)
    reason = TEXT("system call");
  else if (state != THREAD_BLOCKED)
    return;
  t->waits = !l->reason || trace_text_is(reason, l->reason);
  t->wait = (struct wait){.g = g,
                          .reason = reason,
                          .lock = lock,
                          .at = place_of(l->axis.trace, stack),
                          .start = l->axis.now};
}

static void line_unblock(struct timeline *line, uint64_t g, uint64_t by,
                         uint64_t stack) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  struct thread *t = thread_of(l, g);
  struct wait *w = &t->wait;
  times_state(&l->times, g, clipped_now(l), THREAD_RUNNABLE, TEXT(""));
  w->waker = by;
  w->woken_at = place_of(l->axis.trace, stack);
  w->end = w->waker || w->woken_at.pc ? WAIT_WOKEN : WAIT_BY_ITSELF;
  end_wait(l, t);
}

static void line_stopped(struct timeline *line, uint64_t g, bool is_preempted,
                         uint64_t ns) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  times_stopped(&l->times, g, clipped_now(l),
                is_preempted ? TIME_PREEMPTED : TIME_OFF_CPU, ns);
}

static void line_lock(struct timeline *line, uint64_t g, struct trace_text name,
                      uint64_t number) {
  (void)number;
  thread_of((struct wait_timeline *)line, g)->lock = name;
}

static void line_sample(struct timeline *line, uint64_t g, uint64_t stack) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  if (g && trace_window_has(l->window, l->axis.now))
    times_sample(&l->times, l->axis.trace, g, stack);
}

static void line_charge(struct timeline *line, uint64_t g, uint64_t ns,
                        uint64_t stack, uint64_t lock) {
  struct wait_timeline *l = (struct wait_timeline *)line;
  const struct place at = place_of(l->axis.trace, stack);
  const uint64_t key = place_key(&at), id = charge_id(l, &at);
  (void)g, (void)lock;
  // All waits for locks have the reason "sync". So ignore charges if only waits
  // with another reason are collected.
  if ((l->reason && strcmp(l->reason, "sync") != 0) ||
      !trace_window_has(l->window, l->axis.now))
    return;
  add_charge(l, id);
  const size_t index = idmap_get(&l->holder_ids, key, l->holder_count);
  if (index == l->holder_count)
    *APPEND(l->holders, l->holder_count, l->holder_capacity) =
        (struct holder){.at = at, .first = l->axis.now};
  struct holder *h = &l->holders[index];
  h->count++;
  h->total += ns;
  if (ns > h->longest)
    h->longest = ns;
}

static const struct timeline_sink sink = {
    .at = line_at,
    .create = line_create,
    .kernel_thread = line_kernel_thread,
    .name = line_name,
    .state = line_state,
    .unblock = line_unblock,
    .lock = line_lock,
    .sample = line_sample,
    .charge = line_charge,
    .stopped = line_stopped,
};
