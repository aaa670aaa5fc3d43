// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/trace_spans.h"

#include "common/memory.h"
#include "html/stream.h"

#include <stdlib.h>

// The numbers are those of trace.js.
enum { SPAN_RANGE, SPAN_REGION, SPAN_LABEL, SPAN_MESSAGE, KIND_BITS = 2 };

static struct span *add(struct spans *s, uint64_t now, unsigned kind,
                        size_t thread, size_t name) {
  struct span *span = APPEND(s->items, s->count, s->capacity);
  *span = (struct span){.begin = now,
                        .end = now,
                        .thread = thread,
                        .name = name,
                        .kind = kind,
                        .is_open = true};
  return span;
}

static void end(struct span *span, uint64_t now) {
  span->end = now;
  span->is_open = false;
}

static struct span_thread *thread_at(struct spans *s, size_t thread) {
  while (s->thread_count <= thread)
    *APPEND(s->threads, s->thread_count, s->thread_capacity) =
        (struct span_thread){0};
  return &s->threads[thread];
}

void spans_region_begin(struct spans *s, uint64_t now, size_t thread,
                        size_t name) {
  struct span_thread *t = thread_at(s, thread);
  struct span *span = add(s, now, SPAN_REGION, thread, name);
  span->outer = t->region;
  span->depth = t->region ? s->items[t->region - 1].depth + 1 : 0;
  t->region = s->count;
}

void spans_region_end(struct spans *s, uint64_t now, size_t thread) {
  struct span_thread *t = thread_at(s, thread);
  if (!t->region) // it began before the trace
    return;
  struct span *span = &s->items[t->region - 1];
  end(span, now);
  t->region = span->outer;
}

void spans_label(struct spans *s, uint64_t now, size_t thread, size_t name) {
  struct span_thread *t = thread_at(s, thread);
  if (t->label)
    end(&s->items[t->label - 1], now);
  t->label = 0;
  if (name) {
    add(s, now, SPAN_LABEL, thread, name);
    t->label = s->count;
  }
}

void spans_message(struct spans *s, uint64_t now, size_t thread, size_t name,
                   size_t value) {
  struct span *span = add(s, now, SPAN_MESSAGE, thread, name);
  span->value = value;
  span->is_open = false;
}

void spans_range_begin(struct spans *s, uint64_t now, enum range_kind kind,
                       uint64_t id, size_t name) {
  size_t index;
  if (!idmap_find(&s->ids[kind], id, &index)) {
    index = s->range_count;
    idmap_add(&s->ids[kind], id, index);
    *APPEND(s->ranges, s->range_count, s->range_capacity) = 0;
  } else if (s->items[s->ranges[index]].is_open) {
    return;
  }
  s->ranges[index] = s->count;
  add(s, now, SPAN_RANGE, 0, name);
}

void spans_range_end(struct spans *s, uint64_t now, enum range_kind kind,
                     uint64_t id) {
  size_t index;
  if (idmap_find(&s->ids[kind], id, &index) &&
      s->items[s->ranges[index]].is_open)
    end(&s->items[s->ranges[index]], now);
}

// The row of a thread in which a span is drawn, among ROWS. Deep regions share
// one.
enum { DEEP = 3, ROWS = DEEP + 1 + SPAN_MESSAGE + 1 };
static size_t row_of(const struct span *span) {
  const unsigned depth = span->depth < DEEP ? span->depth : DEEP;
  return span->thread * ROWS +
         (span->kind == SPAN_REGION ? SPAN_MESSAGE + 1 + depth : span->kind);
}

// Allocates a number for each row.
static uint64_t *rows_of(const struct spans *s) {
  size_t threads = 1;
  for (size_t i = 0; i < s->count; i++)
    if (s->items[i].thread >= threads)
      threads = s->items[i].thread + 1;
  return zeroed(threads * ROWS, sizeof(uint64_t));
}

size_t spans_write(const struct spans *s, struct trace_window window,
                   uint64_t shortest, FILE *out) {
  struct stream stream = {0};
  uint64_t last = window.from, *kept = rows_of(s); // of a row: its latest end
  size_t count = 0;
  for (size_t i = 0; i < s->count; i++) {
    const struct span *span = &s->items[i];
    const uint64_t then = span->is_open ? window.to : span->end;
    if (then < window.from || span->begin > window.to)
      continue;
    const uint64_t begin = trace_window_clip(window, span->begin),
                   end = trace_window_clip(window, then);
    uint64_t *row = &kept[row_of(span)];
    if (end - begin < shortest && *row && begin < *row + shortest)
      continue;
    *row = end;
    count++;
    if (!out)
      continue;
    stream_put(&stream, (uint64_t)span->depth << KIND_BITS | span->kind);
    stream_put(&stream, span->thread);
    stream_put(&stream, begin - last);
    stream_put(&stream, end - begin);
    stream_put(&stream, span->name);
    stream_put(&stream, span->value);
    last = begin;
  }
  free(kept);
  if (out)
    stream_write(&stream, "spans", count, out);
  return count;
}

void spans_clear(struct spans *s) {
  free(s->items);
  free(s->threads);
  free(s->ranges);
  for (unsigned kind = 0; kind < RANGE_KINDS; kind++)
    idmap_clear(&s->ids[kind]);
}
