// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "task_times.h"

#include "axis.h"
#include "common/memory.h"
#include "tasks.h"
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

struct worker {
  struct list regions; // the tasks of the open regions, innermost last
  // Tasks that it has begun and not left, newest last: those that it ends, and
  // those that other threads end, which it leaves sooner.
  struct list own, lent;
  // Tasks of other threads that it will end, as a binary heap by their ends.
  struct list coming;
  struct trace_text lock, next_lock; // of the present and of the next wait
  uint64_t lock_number, next_lock_number;
  struct holder_parts held; // of the lock during the present wait
  uint64_t held_since;      // last release of the lock, or begin of the wait
  struct place at;          // of the present wait
  uint64_t wait;            // number of the present wait
  uint64_t since;           // begin of the present state
};

struct task_timeline {
  struct timeline base;
  struct axis axis;
  const struct tasks *tasks;
  struct task_times *wanted;
  size_t wanted_count;
  struct times times;
  struct worker *workers; // with the indices of times.threads
  size_t worker_count, worker_capacity;
  uint64_t waits; // number of waits so far
};

static struct task_timeline *of(struct timeline *line) {
  return (struct task_timeline *)line;
}

static void add(struct list *l, uint64_t id) {
  *APPEND(l->v, l->count, l->capacity) = id;
}

static void remove_at(struct list *l, size_t at) {
  memmove(&l->v[at], &l->v[at + 1], (--l->count - at) * sizeof *l->v);
}

static void remove_id(struct list *l, uint64_t id) {
  for (size_t i = l->count; i-- > 0;)
    if (l->v[i] == id) {
      remove_at(l, i);
      return;
    }
}

static uint64_t last(const struct list *l) {
  return l->count ? l->v[l->count - 1] : 0;
}

static struct worker *worker_of(struct task_timeline *l, uint64_t g) {
  const size_t index = (size_t)(times_of(&l->times, g) - l->times.threads);
  while (l->worker_count <= index)
    *APPEND(l->workers, l->worker_count, l->worker_capacity) =
        (struct worker){0};
  return &l->workers[index];
}

// --- the parts of the time of a task ---

// Returns the thread whose state is that of the task, or NULL.
static const struct thread_times *leader_of(struct task_timeline *l,
                                            const struct task_times *w) {
  static const unsigned char ranks[TIME_WAITS] = {
      [TIME_RUNNING] = 4, [TIME_PREEMPTED] = 3, [TIME_RUNNABLE] = 2};
  const struct thread_times *best = NULL;
  unsigned best_rank = 0;
  for (size_t i = 0; i < w->threads.count; i++) {
    const uint64_t since = worker_of(l, w->threads.v[i])->since;
    const struct thread_times *t = times_of(&l->times, w->threads.v[i]);
    const unsigned rank =
        t->kind < TIME_WAITS && ranks[t->kind] ? ranks[t->kind] : 1;
    if (t->is_alive &&
        (rank > best_rank ||
         (rank == best_rank && since > worker_of(l, best->g)->since))) {
      best = t;
      best_rank = rank;
    }
  }
  return best;
}

static bool is_wait(unsigned kind) {
  return kind >= TIME_CALL && kind != TASK_UNATTENDED;
}

static bool is_same(const struct task_part *a, const struct task_part *b) {
  return a->kind == b->kind && a->g == b->g && a->wait == b->wait &&
         a->waker == b->waker && trace_text_equal(a->lock, b->lock) &&
         place_key(&a->at) == place_key(&b->at) &&
         place_key(&a->woken_at) == place_key(&b->woken_at);
}

static void add_held(struct holder_parts *h, const struct holder_part *p) {
  for (size_t i = 0; i < h->count; i++)
    if (h->v[i].g == p->g && place_key(&h->v[i].at) == place_key(&p->at)) {
      h->v[i].ns += p->ns;
      return;
    }
  *APPEND(h->v, h->count, h->capacity) = *p;
}

static void add_all_held(struct holder_parts *to,
                         const struct holder_parts *from) {
  for (size_t i = 0; i < from->count; i++)
    add_held(to, &from->v[i]);
}

static void add_part(struct task_times *w, const struct task_part *part) {
  for (size_t i = 0; i < w->part_count; i++)
    if (is_same(&w->parts[i], part)) {
      w->parts[i].ns += part->ns;
      w->parts[i].count += part->count;
      add_all_held(&w->parts[i].held, &part->held);
      return;
    }
  struct task_part *p = APPEND(w->parts, w->part_count, w->part_capacity);
  *p = *part;
  p->held = (struct holder_parts){0};
  add_all_held(&p->held, &part->held);
}

// Returns the part in which thread g runs, or NULL.
static struct task_part *running_part(struct task_times *w, uint64_t g) {
  for (size_t i = 0; i < w->part_count; i++)
    if (w->parts[i].kind == TIME_RUNNING && w->parts[i].g == g)
      return &w->parts[i];
  return NULL;
}

// Counts the time of the task up to now.
static void count(struct task_timeline *l, struct task_times *w) {
  const uint64_t now = l->axis.now;
  if (!w->is_open || now <= w->until)
    return;
  struct task_part part = {.kind = TASK_UNATTENDED, .ns = now - w->until};
  const struct thread_times *t = leader_of(l, w);
  w->until = now;
  if (t) {
    part.kind = t->kind;
    part.g = t->g;
  }
  if (is_wait(part.kind)) {
    const struct worker *worker = worker_of(l, part.g);
    part.at = worker->at;
    part.lock = worker->lock;
    part.wait = worker->wait;
  }
  add_part(w, &part);
  if (part.kind != TIME_RUNNING)
    return;
  struct task_part *p = running_part(w, part.g);
  const uint64_t since = worker_of(l, part.g)->since;
  if (p->run_since != since)
    p->run_ns = 0;
  p->run_since = since;
  p->run_ns += part.ns;
}

// Merges the parts of a wait that has ended with those of earlier waits that
// were alike.
static void settle(struct task_times *w, uint64_t wait, uint64_t waker,
                   const struct place *woken_at,
                   const struct holder_parts *held) {
  for (size_t i = 0; i < w->part_count; i++) {
    struct task_part part = w->parts[i];
    if (part.wait != wait)
      continue;
    part.wait = 0;
    part.count = 1;
    part.waker = waker;
    part.woken_at = *woken_at;
    part.held = *held;
    w->parts[i] = w->parts[--w->part_count];
    add_part(w, &part);
    return;
  }
}

static bool has_thread(const struct task_times *w, uint64_t g) {
  for (size_t i = 0; i < w->threads.count; i++)
    if (w->threads.v[i] == g)
      return true;
  return false;
}

static void set_state(struct task_timeline *l, uint64_t g,
                      enum thread_state state, struct trace_text reason,
                      uint64_t stack, uint64_t waker,
                      const struct place *woken_at) {
  for (size_t i = 0; i < l->wanted_count; i++)
    if (has_thread(&l->wanted[i], g))
      count(l, &l->wanted[i]);
  struct worker *worker = worker_of(l, g);
  if (worker->wait)
    for (size_t i = 0; i < l->wanted_count; i++)
      settle(&l->wanted[i], worker->wait, waker, woken_at, &worker->held);
  const bool waits = state == THREAD_BLOCKED || state == THREAD_IN_CALL;
  worker->wait = waits ? ++l->waits : 0;
  worker->at = waits ? place_of(l->axis.trace, stack) : (struct place){0};
  worker->lock = state == THREAD_BLOCKED ? worker->next_lock : TEXT("");
  worker->next_lock = TEXT("");
  worker->lock_number = state == THREAD_BLOCKED ? worker->next_lock_number : 0;
  worker->next_lock_number = 0;
  worker->held.count = 0;
  worker->held_since = l->axis.now;
  worker->since = l->axis.now;
  times_state(&l->times, g, l->axis.now, state, reason);
}

// --- which threads work for a task ---

static uint64_t end_of(const struct task_timeline *l, uint64_t id) {
  return task_find(l->tasks, id)->end;
}

static void add_coming(const struct task_timeline *l, struct list *heap,
                       uint64_t id) {
  const uint64_t end = end_of(l, id);
  add(heap, id);
  size_t at = heap->count - 1;
  for (; at && end_of(l, heap->v[(at - 1) / 2]) > end; at = (at - 1) / 2)
    heap->v[at] = heap->v[(at - 1) / 2];
  heap->v[at] = id;
}

// Removes the task that ends first.
static void remove_first(const struct task_timeline *l, struct list *heap) {
  const uint64_t id = heap->v[--heap->count], end = end_of(l, id);
  size_t at = 0;
  for (size_t next; (next = 2 * at + 1) < heap->count; at = next) {
    if (next + 1 < heap->count &&
        end_of(l, heap->v[next + 1]) < end_of(l, heap->v[next]))
      next++;
    if (end_of(l, heap->v[next]) >= end)
      break;
    heap->v[at] = heap->v[next];
  }
  heap->v[at] = id;
}

// Returns the task for which a thread works; 0: none. It ends the coming tasks
// one after the other.
static uint64_t task_of(const struct task_timeline *l, const struct worker *w) {
  for (size_t i = w->regions.count; i-- > 0;)
    if (w->regions.v[i])
      return w->regions.v[i];
  const struct task *own = task_find(l->tasks, last(&w->own)),
                    *lent = task_find(l->tasks, last(&w->lent));
  if (own || lent) // in the order in which they began
    return own > lent ? own->id : lent->id;
  return w->coming.count ? w->coming.v[0] : 0;
}

// Adds thread g to the tasks for which it works now, and removes it from the
// others.
static void assign(struct task_timeline *l, uint64_t g) {
  const uint64_t id = task_of(l, worker_of(l, g));
  for (size_t i = 0; i < l->wanted_count; i++) {
    struct task_times *w = &l->wanted[i];
    const bool works = w->is_open && task_is_part(l->tasks, id, w->task->id);
    if (works == has_thread(w, g))
      continue;
    count(l, w);
    if (works)
      add(&w->threads, g);
    else
      remove_id(&w->threads, g);
  }
}

static bool is_ended_by_another(const struct task *t) {
  return t->end_g != t->begin_g;
}

// Thread g begins a task, so it no longer works for its earlier tasks that
// other threads end, unless the new task is a part of them.
static void leave_earlier(struct task_timeline *l, uint64_t g, uint64_t id) {
  struct list *lent = &worker_of(l, g)->lent;
  for (size_t i = lent->count; i-- > 0;)
    if (!task_is_part(l->tasks, id, lent->v[i]))
      remove_at(lent, i);
}

static void open_wanted(struct task_timeline *l, uint64_t id) {
  for (size_t i = 0; i < l->wanted_count; i++)
    if (l->wanted[i].task->id == id) {
      l->wanted[i].is_open = true;
      l->wanted[i].until = l->axis.now;
    }
}

static void close_wanted(struct task_timeline *l, uint64_t id) {
  for (size_t i = 0; i < l->wanted_count; i++)
    if (l->wanted[i].task->id == id) {
      count(l, &l->wanted[i]);
      l->wanted[i].is_open = false;
      l->wanted[i].threads.count = 0;
    }
}

// --- the calls of the timeline ---

static void line_at(struct timeline *line, uint64_t ticks) {
  axis_at(&of(line)->axis, ticks);
}

static void line_create(struct timeline *line, uint64_t g, uint64_t by,
                        uint64_t start_stack) {
  (void)by;
  times_create(&of(line)->times, of(line)->axis.trace, g, start_stack);
}

static void line_name(struct timeline *line, uint64_t g,
                      struct trace_text name) {
  times_of(&of(line)->times, g)->name = name;
}

static void line_state(struct timeline *line, uint64_t g,
                       enum thread_state state, struct trace_text reason,
                       uint64_t stack) {
  set_state(of(line), g, state, reason, stack, 0, &(struct place){0});
}

static void line_unblock(struct timeline *line, uint64_t g, uint64_t by,
                         uint64_t stack) {
  struct task_timeline *l = of(line);
  const struct place woken_at = place_of(l->axis.trace, stack);
  set_state(l, g, THREAD_RUNNABLE, TEXT(""), 0, by, &woken_at);
  if (!by)
    return;
  struct list *lent = &worker_of(l, by)->lent;
  for (size_t i = lent->count; i-- > 0;)
    if (task_find(l->tasks, lent->v[i])->end_g == g)
      remove_at(lent, i);
  assign(l, by);
}

static void line_task_begin(struct timeline *line, uint64_t g, uint64_t id,
                            uint64_t parent, struct trace_text name) {
  struct task_timeline *l = of(line);
  const struct task *t = task_find(l->tasks, id);
  (void)parent, (void)name;
  if (!t || t->begin_g != g || t->begin != l->axis.now)
    return;
  leave_earlier(l, g, id);
  struct worker *w = worker_of(l, g);
  add(is_ended_by_another(t) ? &w->lent : &w->own, id);
  open_wanted(l, id);
  assign(l, g);
  if (!is_ended_by_another(t) || !t->end_g || t->has_region)
    return;
  add_coming(l, &worker_of(l, t->end_g)->coming, id);
  assign(l, t->end_g);
}

static void line_task_end(struct timeline *line, uint64_t g, uint64_t id) {
  struct task_timeline *l = of(line);
  const struct task *t = task_find(l->tasks, id);
  close_wanted(l, id);
  if (t) {
    struct worker *w = worker_of(l, t->begin_g);
    remove_id(is_ended_by_another(t) ? &w->lent : &w->own, id);
    assign(l, t->begin_g);
  }
  struct list *coming = &worker_of(l, g)->coming;
  while (coming->count && end_of(l, coming->v[0]) <= l->axis.now)
    remove_first(l, coming);
  assign(l, g);
}

static void line_region_begin(struct timeline *line, uint64_t g,
                              struct trace_text name, uint64_t id,
                              uint64_t stack) {
  struct task_timeline *l = of(line);
  const struct task *t = task_find(l->tasks, id);
  (void)name, (void)stack;
  add(&worker_of(l, g)->regions, id);
  assign(l, g);
  if (t && t->begin_g != g && is_ended_by_another(t)) {
    remove_id(&worker_of(l, t->begin_g)->lent, id);
    assign(l, t->begin_g);
  }
}

static void line_region_end(struct timeline *line, uint64_t g) {
  struct task_timeline *l = of(line);
  struct worker *w = worker_of(l, g);
  if (w->regions.count)
    w->regions.count--;
  assign(l, g);
}

// The thread does not know when it had no processor. So each task for which it
// has run since its last wait gets a share, also if the task has ended.
static void line_stopped(struct timeline *line, uint64_t g, bool is_preempted,
                         uint64_t ns) {
  struct task_timeline *l = of(line);
  const uint64_t since = worker_of(l, g)->since, now = l->axis.now;
  for (size_t i = 0; i < l->wanted_count; i++) {
    struct task_times *w = &l->wanted[i];
    if (has_thread(w, g))
      count(l, w);
    struct task_part *p = running_part(w, g);
    if (!p || p->run_since != since || now <= since)
      continue;
    struct task_part part = {
        .kind = is_preempted ? TIME_PREEMPTED : TIME_OFF_CPU,
        .g = g,
        .ns = (uint64_t)((unsigned __int128)ns * p->run_ns / (now - since))};
    if (part.ns > p->ns)
      part.ns = p->ns;
    p->ns -= part.ns;
    if (part.ns)
      add_part(w, &part);
  }
}

static void line_lock(struct timeline *line, uint64_t g, struct trace_text name,
                      uint64_t number) {
  struct worker *worker = worker_of(of(line), g);
  worker->next_lock = name;
  worker->next_lock_number = number;
}

// A release of a lock. A thread that waited for the lock has waited for this
// holder since the release before it.
static void line_charge(struct timeline *line, uint64_t g, uint64_t ns,
                        uint64_t stack, uint64_t lock) {
  struct task_timeline *l = of(line);
  (void)ns;
  for (size_t i = 0; i < l->wanted_count && lock; i++)
    for (size_t k = 0; k < l->wanted[i].threads.count; k++) {
      struct worker *w = worker_of(l, l->wanted[i].threads.v[k]);
      if (w->lock_number != lock || l->axis.now <= w->held_since)
        continue;
      add_held(&w->held,
               &(struct holder_part){g, place_of(l->axis.trace, stack),
                                     l->axis.now - w->held_since});
      w->held_since = l->axis.now;
    }
}

// A sample belongs to the tasks whose row is that of the running thread.
static void line_sample(struct timeline *line, uint64_t g, uint64_t stack) {
  struct task_timeline *l = of(line);
  for (size_t i = 0; i < l->wanted_count; i++) {
    struct task_times *w = &l->wanted[i];
    const struct thread_times *t = leader_of(l, w);
    if (!t || t->g != g || t->kind != TIME_RUNNING)
      continue;
    count(l, w);
    struct task_part *p = running_part(w, g);
    if (p)
      sampled_add(&p->sampled, l->axis.trace, stack);
  }
}

static void line_message(struct timeline *line, uint64_t task,
                         struct trace_text key, struct trace_text text) {
  struct task_timeline *l = of(line);
  for (size_t i = 0; i < l->wanted_count; i++) {
    struct task_times *w = &l->wanted[i];
    if (!task_is_part(l->tasks, task, w->task->id))
      continue;
    if (w->message_count == TASK_MESSAGES)
      memmove(w->messages, w->messages + 1,
              --w->message_count * sizeof *w->messages);
    w->messages[w->message_count++] = (struct task_message){key, text};
  }
}

static const struct timeline_sink sink = {
    .at = line_at,
    .create = line_create,
    .name = line_name,
    .state = line_state,
    .unblock = line_unblock,
    .stopped = line_stopped,
    .lock = line_lock,
    .charge = line_charge,
    .sample = line_sample,
    .message = line_message,
    .task_begin = line_task_begin,
    .task_end = line_task_end,
    .region_begin = line_region_begin,
    .region_end = line_region_end,
};

struct timeline *task_times_begin(const struct trace *trace,
                                  const struct tasks *tasks,
                                  struct task_times *wanted, size_t count) {
  struct task_timeline *l = zeroed(1, sizeof *l);
  l->base.sink = &sink;
  l->axis.trace = trace;
  l->tasks = tasks;
  l->wanted = wanted;
  l->wanted_count = count;
  return &l->base;
}

// Compares two parts for qsort. The larger part comes first.
static int by_time(const void *a, const void *b) {
  const struct task_part *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? 1 : -1;
  if (x->g != y->g)
    return x->g < y->g ? -1 : 1;
  return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int by_held(const void *a, const void *b) {
  const struct holder_part *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? 1 : -1;
  return (x->g > y->g) - (x->g < y->g);
}

struct times *task_times_end(struct timeline *line) {
  struct task_timeline *l = of(line);
  for (size_t i = 0; i < l->wanted_count; i++) {
    struct task_times *w = &l->wanted[i];
    count(l, w);
    if (w->part_count)
      qsort(w->parts, w->part_count, sizeof *w->parts, by_time);
    for (size_t k = 0; k < w->part_count; k++) {
      struct holder_parts *held = &w->parts[k].held;
      sampled_sort(&w->parts[k].sampled);
      if (held->count)
        qsort(held->v, held->count, sizeof *held->v, by_held);
    }
  }
  return &l->times;
}

void task_times_free(struct timeline *line) {
  struct task_timeline *l = of(line);
  for (size_t i = 0; i < l->wanted_count; i++) {
    for (size_t k = 0; k < l->wanted[i].part_count; k++) {
      sampled_clear(&l->wanted[i].parts[k].sampled);
      free(l->wanted[i].parts[k].held.v);
    }
    free(l->wanted[i].parts);
    free(l->wanted[i].threads.v);
  }
  for (size_t i = 0; i < l->worker_count; i++) {
    free(l->workers[i].regions.v);
    free(l->workers[i].own.v);
    free(l->workers[i].lent.v);
    free(l->workers[i].coming.v);
    free(l->workers[i].held.v);
  }
  free(l->workers);
  times_clear(&l->times);
  free(l);
}
