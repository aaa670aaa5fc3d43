// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads Go's trace formats 1.22 and later, one generation of the trace after
// the other. Merges the events of all threads of a generation into one order.
// The next event is always the earliest event that v2_advance accepts.

#include "v2_order.h"

#include "common/memory.h"
#include "report.h"
#include "table.h"
#include "trace_data.h"
#include "v2_advance.h"
#include "v2_explain.h"
#include "v2_scan.h"
#include "v2_state.h"
#include "visitor.h"

#include <inttypes.h>
#include <stdlib.h>

struct cursor {
  const struct stream *stream;
  size_t batch;
  const uint8_t *at, *end;
  uint64_t ticks;
  struct trace_event head;
};

struct merge {
  struct trace *trace;
  struct v2_state *state;
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
  if (!v2_decode(t, &c->at, c->end, &c->head)) {
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
    taken = v2_advance(m->state, &c->head);
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
      v2_explain(m->state, &m->cursors[m->set_aside[i]].head);
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

static bool merge_generation(struct trace *t, struct v2_state *state) {
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
  v2_begin_generation(state);
  while (m.heap_count && !m.failed)
    if (!step(&m))
      m.failed = true;
  deliver_samples(&m, UINT64_MAX);
  free(m.cursors);
  free(m.heap);
  free(m.set_aside);
  return !m.failed;
}

void v2_read(struct trace *t) {
  const uint8_t *at = t->data + TRACE_HEADER_SIZE;
  if (t->size == TRACE_HEADER_SIZE)
    violate(t, TRACE_RULE_NO_EVENTS, t->size, "the trace has no event");
  struct v2_state *state = v2_state_new(t);
  while (at < t->data + t->size)
    if (!v2_scan_generation(t, &at) || !merge_generation(t, state))
      break;
  v2_state_free(state);
}
