// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an open trace, one generation of the trace after the other. Merges the
// events of all threads of a generation into one order. The next event is
// always the earliest event that states_advance accepts.

#include "read.h"

#include "common/memory.h"
#include "event_types.h"
#include "report.h"
#include "scan.h"
#include "states.h"
#include "table.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdlib.h>

// --- why no event can come next ---

static void explain_g(struct states *s, const struct trace_event *ev,
                      enum g_status wanted, enum trace_rule rule) {
  uint64_t id = ev->args[0];
  const struct g_state *g = state_of_g(s, id);
  const char *text = describe(ev);
  if (g->status == G_ABSENT)
    VIOLATE(s, ev, THREAD_UNKNOWN,
            "%s: no earlier GoCreate or GoStatus event introduces G %" PRIu64,
            text, id);
  else if (g->generation != s->trace->generation)
    VIOLATE(s, ev, STATUS_MISSING,
            "%s: generation %" PRIu64 " has no GoStatus event for G %" PRIu64,
            text, s->trace->generation, id);
  else if (g->status != wanted)
    violate(s->trace, rule, ev->offset, "%s: G %" PRIu64 " is %s, not %s", text,
            id, g_status_names[g->status], g_status_names[wanted]);
  else
    VIOLATE(
        s, ev, SEQUENCE,
        "%s: the sequence number must be 1 more than the last one of G %" PRIu64
        ", which is %" PRIu64,
        text, id, g->seq);
}

static void explain_p(struct states *s, const struct trace_event *ev,
                      const char *wanted, bool right) {
  uint64_t id = ev->args[0];
  const struct p_state *p = state_of_p(s, id);
  const char *text = describe(ev);
  if (p->status == P_ABSENT || p->generation != s->trace->generation)
    VIOLATE(s, ev, STATUS_MISSING,
            "%s: generation %" PRIu64 " has no ProcStatus event for P %" PRIu64,
            text, s->trace->generation, id);
  else if (!right)
    VIOLATE(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not %s", text, id,
            p_status_names[p->status], wanted);
  else if (!is_next_in_sequence(s, p->generation, p->seq, ev->args[1]))
    VIOLATE(
        s, ev, PROC_SEQUENCE,
        "%s: the sequence number must be 1 more than the last one of P %" PRIu64
        ", which is %" PRIu64,
        text, id, p->seq);
  else
    VIOLATE(s, ev, CONTEXT, "%s: the kernel thread already has P %" PRIu64,
            text, state_of_m(s, ev->m)->p);
}

// Reports why event ev cannot come next. Call this function if states_advance
// has returned false for ev and for the next events of all other threads.
static void explain(struct states *s, const struct trace_event *ev) {
  switch (ev->type) {
  case EV_ProcStart:
    explain_p(s, ev, p_status_names[P_IDLE],
              state_of_p(s, ev->args[0])->status == P_IDLE);
    break;
  case EV_ProcSteal: {
    enum p_status status = state_of_p(s, ev->args[0])->status;
    explain_p(s, ev, p_status_names[P_IN_CALL],
              status == P_IN_CALL || status == P_ABANDONED);
    break;
  }
  case EV_GoStart:
    explain_g(s, ev, G_RUNNABLE, TRACE_RULE_START_RUNNABLE);
    break;
  case EV_GoUnblock:
  case EV_GoSwitch:
  case EV_GoSwitchDestroy:
    explain_g(s, ev, G_WAITING, TRACE_RULE_UNBLOCK_WAITING);
    break;
  case EV_GoSyscallEndBlocked:
    VIOLATE(s, ev, CALL_STATE,
            "%s: no ProcSteal event has taken the processor (P) from the "
            "kernel thread",
            describe(ev));
    break;
  default:
    VIOLATE(s, ev, GC_SEQUENCE,
            "%s: the number must be 1 more than that of the last garbage "
            "collection event, which is %" PRIu64,
            describe(ev), s->collection_seq);
    break;
  }
}

// --- the order of the events ---

struct cursor {
  const struct stream *stream;
  size_t batch;
  const uint8_t *at, *end;
  uint64_t ticks;
  struct trace_event head;
};

struct merge {
  struct trace *trace;
  struct states *state;
  struct cursor *cursors;
  size_t *heap, *set_aside; // indices into cursors
  size_t heap_count;
  size_t sample;
  bool failed; // the rest of the trace cannot be read
};

static bool next_event(struct merge *m, struct cursor *c) {
  struct trace *t = m->trace;
  while (c->at == c->end) {
    if (c->batch == c->stream->count)
      return false;
    const struct batch *batch = &c->stream->batches[c->batch++];
    c->at = t->data + batch->start;
    c->end = t->data + batch->end;
    c->ticks = batch->ticks;
  }
  if (!scan_event(t, &c->at, c->end, &c->head)) {
    m->failed = true;
    return false;
  }
  c->ticks += c->head.ticks;
  c->head.ticks = c->ticks;
  c->head.m = c->stream->id;
  return true;
}

static bool is_earlier(const struct merge *m, size_t a, size_t b) {
  uint64_t x = m->cursors[a].head.ticks, y = m->cursors[b].head.ticks;
  return x != y ? x < y : a < b;
}

static void push(struct merge *m, size_t cursor) {
  size_t i = m->heap_count++;
  for (; i && is_earlier(m, cursor, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
    m->heap[i] = m->heap[(i - 1) / 2];
  m->heap[i] = cursor;
}

static size_t pop(struct merge *m) {
  size_t top = m->heap[0], last = m->heap[--m->heap_count], i = 0;
  for (;;) {
    size_t child = 2 * i + 1;
    if (child + 1 < m->heap_count &&
        is_earlier(m, m->heap[child + 1], m->heap[child]))
      child++;
    if (child >= m->heap_count || !is_earlier(m, m->heap[child], last))
      break;
    m->heap[i] = m->heap[child];
    i = child;
  }
  m->heap[i] = last;
  return top;
}

static void deliver(struct merge *m, const struct trace_event *ev) {
  struct trace *t = m->trace;
  if (ev->ticks > INT64_MAX)
    violate(t, TRACE_RULE_TICK_RANGE, ev->offset,
            "%s: the tick has more than 63 bits", describe(ev));
  if (t->visitor->event)
    t->visitor->event(t->visitor->context, ev);
}

static void deliver_samples(struct merge *m, uint64_t until) {
  struct trace *t = m->trace;
  for (; m->sample < t->sample_count && t->samples[m->sample].ticks <= until;
       m->sample++) {
    check_stack_id(t, &t->samples[m->sample], t->samples[m->sample].stack);
    deliver(m, &t->samples[m->sample]);
  }
}

// Delivers the next event to the visitor and returns true. If no event can come
// next, reports the reasons and returns false.
static bool step(struct merge *m) {
  const struct trace *t = m->trace;
  size_t aside = 0;
  bool taken = false;
  while (m->heap_count && !taken) {
    size_t index = pop(m);
    struct cursor *c = &m->cursors[index];
    taken = states_advance(m->state, &c->head);
    if (!taken) {
      m->set_aside[aside++] = index;
      continue;
    }
    deliver_samples(m, c->head.ticks);
    deliver(m, &c->head);
    if (next_event(m, c))
      push(m, index);
  }
  // After a cut, the events that the others wait for may be missing.
  if (!taken && !t->is_cut)
    for (size_t i = 0; i < aside; i++)
      explain(m->state, &m->cursors[m->set_aside[i]].head);
  for (size_t i = 0; i < aside; i++)
    push(m, m->set_aside[i]);
  return taken;
}

static int compare_samples(const void *a, const void *b) {
  const struct trace_event *x = a, *y = b;
  if (x->ticks != y->ticks)
    return x->ticks < y->ticks ? -1 : 1;
  return x->offset < y->offset ? -1 : 1;
}

static bool merge_generation(struct trace *t, struct states *state) {
  struct merge m = {.trace = t, .state = state};
  m.cursors = zeroed(t->stream_count, sizeof *m.cursors);
  m.heap = zeroed(t->stream_count, sizeof *m.heap);
  m.set_aside = zeroed(t->stream_count, sizeof *m.set_aside);
  if (t->sample_count)
    qsort(t->samples, t->sample_count, sizeof *t->samples, compare_samples);
  for (size_t i = 0; i < t->stream_count; i++) {
    m.cursors[i] = (struct cursor){.stream = &t->streams[i]};
    if (next_event(&m, &m.cursors[i]))
      push(&m, i);
  }
  states_begin_generation(state);
  while (m.heap_count && !m.failed)
    if (!step(&m))
      m.failed = true;
  deliver_samples(&m, UINT64_MAX);
  free(m.cursors);
  free(m.heap);
  free(m.set_aside);
  return !m.failed;
}

static void read_generations(struct trace *t) {
  const uint8_t *at = t->data + TRACE_HEADER_SIZE;
  if (t->size == TRACE_HEADER_SIZE)
    violate(t, TRACE_RULE_NO_EVENTS, t->size, "the trace has no event");
  struct states *state = states_new(t);
  while (at < t->data + t->size)
    if (!scan_generation(t, &at) || !merge_generation(t, state))
      break;
  states_free(state);
}

uint64_t trace_read(struct trace *t, const struct trace_visitor *visitor) {
  t->visitor = visitor;
  t->violations = 0;
  t->frequency = 0;
  t->is_cut = false;
  t->generation = 0;
  clear_tables(t);
  read_generations(t);
  return t->violations;
}
