// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges the events of all Ps into one order, as Go's readers do, for Go's
// trace formats 1.5 to 1.21. event.h explains G and P. The next event is always
// the earliest event whose required state is reached.
//
// The events of one P are in order. The order of events of different Ps follows
// from the state of each G, which is a sequence number and a status. This table
// gives the state that an event requires and the state that the event sets. seq
// is an argument of the event.
//
//   GoCreate                  G (0, dead)         -> (1, runnable)
//   GoWaiting, GoInSyscall    G (1, runnable)     -> (2, waiting)
//   GoStart                   G (seq, runnable)   -> (seq + 1, running)
//   GoBlock..., GoSysBlock    G (any, running)    -> (same, waiting)
//   GoSched, GoPreempt        G (any, running)    -> (same, runnable)
//   GoUnblock, GoSysExit      G (seq, waiting)    -> (seq + 1, runnable)
//   GCStart                   collections (seq)   -> (seq + 1)
//
// GoStartLabel has the states of GoStart, and GoSleep has those of GoBlock.
// GoStartLocal, GoUnblockLocal and GoSysExitLocal accept any sequence number
// and add 1. All other events require no state.
//
// Each stream has a cursor, and the next event of the stream is the cursor's
// head. The cursors are in a heap, ordered by the times of their heads. If a
// head requires another state of its G, the cursor moves from the heap to a
// list that belongs to this G. When the state changes, the cursors of the list
// return to the heap. So an event costs O(log streams), no matter how many
// streams wait.
//
// In format 1.5, each event has a global sequence number. So sort_streams only
// sorts the events by this number.

#include "v1_order.h"

#include "common/memory.h"
#include "report.h"
#include "trace_data.h"
#include "v1_cursor.h"
#include "v1_rules.h"
#include "v1_types.h"
#include "visitor.h"

#include <inttypes.h>
#include <stdlib.h>

enum status { DEAD, RUNNABLE, RUNNING, WAITING };
static const char *const status_names[] = {"not created", "runnable", "running",
                                           "waiting"};

enum { NO_CURSOR = -1 };

struct g_order {
  uint64_t seq;
  enum status status;
  // First cursor in the list of cursors that wait until this G changes.
  int parked;
};

struct merge {
  struct trace *trace;
  struct v1_cursor *cursors;
  int *heap;
  size_t heap_count;
  struct idmap g_ids;
  struct g_order *gs;
  size_t g_count, g_capacity;
  // Index of the entry of `gs` whose field seq counts garbage collections.
  size_t collections;
  uint64_t last_ticks;
  size_t sample; // index of the next CPU sample to deliver
  struct v1_rules *rules;
};

// For one event type: the state that the event requires, and the state that the
// event sets. Both are states of a G, or both are numbers of garbage
// collections. A type without an entry in the table requires no state.
struct transition_rule {
  // Which state the event requires and sets: the state of its own G, the state
  // of the G in its first argument, or the number of garbage collections. FREE:
  // the event requires no state.
  enum { FREE, OWN_G, FIRST_ARG, COLLECTIONS } of;
  // The sequence number that the event requires.
  enum { ANY, ZERO, ONE, ARG_0, ARG_1 } seq;
  enum status from, to;
  unsigned step; // the event adds step to the sequence number
};

static const struct transition_rule transition_rules[V1_COUNT] = {
    [V1_GoCreate] = {FIRST_ARG, ZERO, DEAD, RUNNABLE, 1},
    [V1_GoWaiting] = {OWN_G, ONE, RUNNABLE, WAITING, 1},
    [V1_GoInSyscall] = {OWN_G, ONE, RUNNABLE, WAITING, 1},
    [V1_GoStart] = {OWN_G, ARG_1, RUNNABLE, RUNNING, 1},
    [V1_GoStartLabel] = {OWN_G, ARG_1, RUNNABLE, RUNNING, 1},
    [V1_GoStartLocal] = {OWN_G, ANY, RUNNABLE, RUNNING, 1},
#define WAIT(name) [V1_##name] = {OWN_G, ANY, RUNNING, WAITING, 0},
    V1_WAITS(WAIT)
#undef WAIT
        [V1_GoSysBlock] = {OWN_G, ANY, RUNNING, WAITING, 0},
    [V1_GoSched] = {OWN_G, ANY, RUNNING, RUNNABLE, 0},
    [V1_GoPreempt] = {OWN_G, ANY, RUNNING, RUNNABLE, 0},
    [V1_GoUnblock] = {FIRST_ARG, ARG_1, WAITING, RUNNABLE, 1},
    [V1_GoSysExit] = {FIRST_ARG, ARG_1, WAITING, RUNNABLE, 1},
    [V1_GoUnblockLocal] = {FIRST_ARG, ANY, WAITING, RUNNABLE, 1},
    [V1_GoSysExitLocal] = {FIRST_ARG, ANY, WAITING, RUNNABLE, 1},
    [V1_GCStart] = {COLLECTIONS, ARG_0, DEAD, DEAD, 1},
};

// The transition_rule of one event, with the values of the event's arguments.
struct transition {
  bool free; // the event requires no state
  uint64_t g;
  bool any_seq, collections;
  uint64_t seq;
  enum status from, to;
  unsigned step;
};

static struct transition transition_of(const struct trace_event *ev) {
  const struct transition_rule *rule = &transition_rules[ev->type];
  const uint64_t seqs[] = {[ANY] = 0,
                           [ZERO] = 0,
                           [ONE] = 1,
                           [ARG_0] = ev->args[0],
                           [ARG_1] = ev->args[1]};
  return (struct transition){.free = rule->of == FREE,
                             .g = rule->of == OWN_G ? ev->g : ev->args[0],
                             .any_seq = rule->seq == ANY,
                             .collections = rule->of == COLLECTIONS,
                             .seq = seqs[rule->seq],
                             .from = rule->from,
                             .to = rule->to,
                             .step = rule->step};
}

static struct g_order *g_order_of(struct merge *m,
                                  const struct transition *need) {
  size_t index = m->collections;
  if (!need->collections && !idmap_find(&m->g_ids, need->g, &index)) {
    index = m->g_count;
    idmap_add(&m->g_ids, need->g, index);
    *APPEND(m->gs, m->g_count, m->g_capacity) =
        (struct g_order){.parked = NO_CURSOR};
  }
  return &m->gs[index];
}

static bool is_ready(const struct g_order *g, const struct transition *need) {
  return g->status == need->from && (need->any_seq || g->seq == need->seq);
}

// Reports why event ev cannot come next. Call this when no event is left that
// could set the state that ev requires.
static void explain(struct merge *m, const struct trace_event *ev) {
  struct transition need = transition_of(ev);
  const struct g_order *g = g_order_of(m, &need);
  struct trace *t = m->trace;
  const char *text = describe(t, ev);
  if (need.collections) {
    violate(t, TRACE_RULE_GC_SEQUENCE, ev->offset,
            "%s: the next garbage collection must have number %" PRIu64, text,
            g->seq);
  } else if (need.from == RUNNING) {
    if (!need.g)
      violate(t, TRACE_RULE_NOT_RUNNING, ev->offset,
              "%s: the processor (P) runs no thread (G)", text);
    else
      violate(t, TRACE_RULE_NOT_RUNNING, ev->offset, "%s: G %" PRIu64 " is %s",
              text, need.g, status_names[g->status]);
  } else if (need.from == DEAD) {
    violate(t, TRACE_RULE_THREAD_REUSED, ev->offset,
            "%s: G %" PRIu64 " already exists", text, need.g);
  } else if (g->status == DEAD) {
    violate(t, TRACE_RULE_THREAD_UNKNOWN, ev->offset,
            "%s: no GoCreate event creates G %" PRIu64, text, need.g);
  } else if (g->status != need.from) {
    enum trace_rule rule = TRACE_RULE_SNAPSHOT_STATE;
    if (need.from == WAITING)
      rule = ev->type == V1_GoUnblock || ev->type == V1_GoUnblockLocal
                 ? TRACE_RULE_UNBLOCK_WAITING
                 : TRACE_RULE_EXIT_WAITING;
    else if (need.to == RUNNING)
      rule = TRACE_RULE_START_RUNNABLE;
    violate(t, rule, ev->offset, "%s: G %" PRIu64 " is %s, not %s", text,
            need.g, status_names[g->status], status_names[need.from]);
  } else if (need.to == WAITING) {
    violate(t, TRACE_RULE_SNAPSHOT_STATE, ev->offset,
            "%s: G %" PRIu64
            " has other events between its GoCreate and this event",
            text, need.g);
  } else {
    violate(t, TRACE_RULE_SEQUENCE, ev->offset,
            "%s: the next sequence number of G %" PRIu64 " must be %" PRIu64
            ", not %" PRIu64,
            text, need.g, g->seq, need.seq);
  }
}

static bool is_earlier(const struct merge *m, int a, int b) {
  uint64_t x = m->cursors[a].head.ticks, y = m->cursors[b].head.ticks;
  return x != y ? x < y : a < b;
}

static void sift_down(struct merge *m, size_t i) {
  for (;;) {
    size_t least = i;
    for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < m->heap_count; k++)
      if (is_earlier(m, m->heap[k], m->heap[least]))
        least = k;
    if (least == i)
      return;
    int moved = m->heap[i];
    m->heap[i] = m->heap[least];
    m->heap[least] = moved;
    i = least;
  }
}

static void push(struct merge *m, int cursor) {
  size_t i = m->heap_count++;
  m->heap[i] = cursor;
  while (i && is_earlier(m, m->heap[i], m->heap[(i - 1) / 2])) {
    int moved = m->heap[i];
    m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[(i - 1) / 2] = moved;
    i = (i - 1) / 2;
  }
}

static void pop(struct merge *m) {
  m->heap[0] = m->heap[--m->heap_count];
  sift_down(m, 0);
}

static void deliver(struct merge *m, struct trace_event *ev) {
  struct trace *t = m->trace;
  if (ev->ticks > INT64_MAX) {
    violate(t, TRACE_RULE_TICK_RANGE, ev->offset,
            "%s: the tick has more than 63 bits", describe(t, ev));
  } else if (ev->ticks < m->last_ticks) {
    violate(
        t, TRACE_RULE_TIME_ORDER, ev->offset,
        "%s: an event that comes before this event has the later tick %" PRIu64,
        describe(t, ev), m->last_ticks);
  } else {
    m->last_ticks = ev->ticks;
  }
  // GoStartLocal and the other Local types differ from the plain types only in
  // how they are ordered. The order is known here, so use the plain types from
  // now on.
  if (ev->type == V1_GoStartLocal)
    ev->type = V1_GoStart;
  else if (ev->type == V1_GoUnblockLocal)
    ev->type = V1_GoUnblock;
  else if (ev->type == V1_GoSysExitLocal)
    ev->type = V1_GoSysExit;
  v1_rules_event(m->rules, ev);
  if (t->visitor->event)
    t->visitor->event(t->visitor->context, ev);
}

static void deliver_samples(struct merge *m, uint64_t until) {
  struct trace *t = m->trace;
  while (m->sample < t->sample_count && t->samples[m->sample].ticks <= until)
    deliver(m, &t->samples[m->sample++]);
}

static int compare_events(const void *a, const void *b) {
  const struct trace_event *x = a, *y = b;
  if (x->ticks != y->ticks)
    return x->ticks < y->ticks ? -1 : 1;
  return x->offset < y->offset ? -1 : 1;
}

static int compare_offsets_by_time(const void *a, const void *b) {
  return compare_events(&(*(const struct v1_cursor *const *)a)->head,
                        &(*(const struct v1_cursor *const *)b)->head);
}

// Reports, for each stream that has events left, the rule that the next event
// of the stream breaks.
static void explain_parked(struct merge *m) {
  struct trace *t = m->trace;
  if (t->is_cut)
    return; // the events that they wait for may be missing
  const struct v1_cursor **waiting = zeroed(t->stream_count, sizeof *waiting);
  size_t count = 0;
  for (size_t i = 0; i < m->g_count; i++)
    for (int c = m->gs[i].parked; c != NO_CURSOR; c = m->cursors[c].next_parked)
      waiting[count++] = &m->cursors[c];
  // Report the earliest event first, because this event is the likeliest cause.
  // The other events may only wait for the earliest one.
  qsort(waiting, count, sizeof *waiting, compare_offsets_by_time);
  for (size_t i = 0; i < count; i++)
    explain(m, &waiting[i]->head);
  free(waiting);
}

static void merge_streams(struct merge *m) {
  struct trace *t = m->trace;
  while (m->heap_count) {
    int index = m->heap[0];
    struct v1_cursor *c = &m->cursors[index];
    struct transition need = transition_of(&c->head);
    if (!need.free) {
      struct g_order *g = g_order_of(m, &need);
      if (!is_ready(g, &need)) {
        c->next_parked = g->parked;
        g->parked = index;
        pop(m);
        continue;
      }
      g->seq = (need.any_seq ? g->seq : need.seq) + need.step;
      g->status = need.to;
    }
    deliver_samples(m, c->head.ticks);
    deliver(m, &c->head);
    if (v1_next_event(c, t))
      sift_down(m, 0);
    else
      pop(m);
    if (!need.free) {
      struct g_order *g = g_order_of(m, &need);
      int parked = g->parked;
      g->parked = NO_CURSOR;
      while (parked != NO_CURSOR) {
        int next = m->cursors[parked].next_parked;
        push(m, parked);
        parked = next;
      }
    }
  }
  explain_parked(m);
  deliver_samples(m, UINT64_MAX);
}

// An event of format 1.5 with its global sequence number.
struct sequenced {
  uint64_t seq;
  struct trace_event event;
};

static int compare_sequenced(const void *a, const void *b) {
  const struct sequenced *x = a, *y = b;
  if (x->seq != y->seq)
    return x->seq < y->seq ? -1 : 1;
  return x->event.offset < y->event.offset ? -1 : 1;
}

static void sort_streams(struct merge *m) {
  struct trace *t = m->trace;
  struct sequenced *events = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < t->stream_count; i++) {
    struct v1_cursor *c = &m->cursors[i];
    for (bool more = c->stream != NULL; more; more = v1_next_event(c, t)) {
      struct sequenced *s = APPEND(events, count, capacity);
      *s = (struct sequenced){c->head_seq, c->head};
      // GoSysExit is written late, when the thread has a P again. Its arguments
      // are the sequence number and the time at which the system call really
      // ended.
      if (c->head.type == V1_GoSysExit) {
        s->seq = c->head.args[1];
        if (c->head.args[2])
          s->event.ticks = c->head.args[2];
      }
    }
  }
  if (count)
    qsort(events, count, sizeof *events, compare_sequenced);
  for (size_t i = 0; i < count; i++) {
    if (i && events[i].seq == events[i - 1].seq)
      violate(t, TRACE_RULE_SAME_SEQUENCE, events[i].event.offset,
              "%s: the event at offset 0x%" PRIx64
              " also has sequence number %" PRIu64,
              describe(t, &events[i].event), events[i - 1].event.offset,
              events[i].seq);
    deliver(m, &events[i].event);
  }
  free(events);
}

void v1_order(struct trace *t) {
  struct merge m = {.trace = t, .rules = v1_rules_new(t)};
  m.cursors = zeroed(t->stream_count, sizeof *m.cursors);
  m.heap = zeroed(t->stream_count, sizeof *m.heap);
  m.collections = m.g_count;
  *APPEND(m.gs, m.g_count, m.g_capacity) =
      (struct g_order){.parked = NO_CURSOR};
  for (size_t i = 0; i < t->stream_count; i++) {
    m.cursors[i] = (struct v1_cursor){.stream = &t->streams[i]};
    if (!v1_next_event(&m.cursors[i], t))
      m.cursors[i].stream = NULL;
    else if (t->minor >= 7)
      push(&m, (int)i);
  }
  if (t->sample_count)
    qsort(t->samples, t->sample_count, sizeof *t->samples, compare_events);
  if (t->minor < 7)
    sort_streams(&m);
  else
    merge_streams(&m);
  v1_rules_end(m.rules);
  idmap_clear(&m.g_ids);
  free(m.cursors);
  free(m.heap);
  free(m.gs);
}
