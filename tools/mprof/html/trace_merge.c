// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/trace_merge.h"

#include "common/memory.h"
#include "trace/timeline.h"

#include <stdlib.h>

enum { STATES = 1 << STATE_BITS };

struct change {
  uint64_t time, code; // code: the reason and the state
  int64_t stack;
};

// Writes changes, each as the difference to the last one.
struct writer {
  struct stream *out;
  struct wait_ends *ends;
  size_t count;
  struct change last;
};

// Several intervals, or one, that are shorter than the limit.
struct run {
  struct change first;
  uint64_t length, count, sums[STATES];
  uint64_t longest; // the length of its longest wait
  struct change wait;
};

static unsigned state_of(struct change c) { return c.code % STATES; }

static void put(struct writer *w, struct change c, uint64_t end) {
  w->count++;
  if (w->out) {
    stream_put(w->out, c.time - w->last.time);
    stream_put(w->out, c.code);
    stream_put_signed(w->out, c.stack - w->last.stack);
    w->last = c;
  }
  if (w->ends && state_of(c) == THREAD_BLOCKED)
    *APPEND(w->ends->times, w->ends->count, w->ends->capacity) = end;
}

static void put_run(struct writer *w, struct run *run) {
  const uint64_t reason = run->wait.code - state_of(run->wait);
  if (run->count == 1)
    put(w, run->first, run->first.time + run->length);
  if (run->count > 1) {
    put(w,
        (struct change){run->first.time, reason | STATE_MERGED,
                        run->wait.stack},
        0);
    if (w->out) {
      stream_put(w->out, run->count);
      stream_put(w->out, run->sums[THREAD_RUNNING]);
      stream_put(w->out, run->sums[THREAD_BLOCKED]);
      stream_put(w->out, run->sums[THREAD_RUNNABLE]);
    }
  }
  *run = (struct run){0};
}

static void add_to_run(struct run *run, struct change c, uint64_t length) {
  const unsigned state = state_of(c);
  if (!run->count++)
    run->first = c;
  run->length += length;
  run->sums[state] += length;
  if ((state == THREAD_BLOCKED || state == THREAD_IN_CALL) &&
      length >= run->longest) {
    run->longest = length;
    run->wait = c;
  }
}

static struct change read_change(const struct stream *s, size_t *at,
                                 struct change last) {
  last.time += stream_get(s, at);
  last.code = stream_get(s, at);
  last.stack += stream_get_signed(s, at);
  return last;
}

size_t merge_changes(const struct stream *changes, size_t count, uint64_t end,
                     uint64_t shortest, struct stream *out,
                     struct wait_ends *ends) {
  struct writer w = {.out = out, .ends = ends};
  struct run run = {0};
  struct change c = {0}, next = {0};
  size_t at = 0;
  if (count)
    next = read_change(changes, &at, next);
  for (size_t i = 0; i < count; i++) {
    c = next;
    if (i + 1 < count)
      next = read_change(changes, &at, c);
    const uint64_t then = i + 1 < count ? next.time : end;
    const uint64_t length = then > c.time ? then - c.time : 0;
    if (state_of(c) == THREAD_ABSENT || length >= shortest) {
      put_run(&w, &run);
      put(&w, c, then);
      continue;
    }
    add_to_run(&run, c, length);
    if (run.length >= shortest)
      put_run(&w, &run);
  }
  put_run(&w, &run);
  return w.count;
}

// Returns whether a kept wait ends at the time. The times of the calls grow.
static bool has_end(struct wait_ends *ends, uint64_t time) {
  while (ends->next < ends->count && ends->times[ends->next] < time)
    ends->next++;
  return ends->next < ends->count && ends->times[ends->next] == time;
}

size_t merge_arrows(struct stream *arrows, size_t count,
                    struct wait_ends *ends) {
  struct stream kept = {0};
  size_t at = 0, kept_count = 0;
  uint64_t time = 0, last = 0;
  for (size_t i = 0; i < count; i++) {
    time += stream_get(arrows, &at);
    const uint64_t from = stream_get(arrows, &at), to = stream_get(arrows, &at),
                   stack = stream_get(arrows, &at);
    const bool is_create = to & 1;
    if (!is_create && !has_end(&ends[to >> 1], time))
      continue;
    stream_put(&kept, time - last);
    stream_put(&kept, from);
    stream_put(&kept, to);
    stream_put(&kept, stack);
    last = time;
    kept_count++;
  }
  free(arrows->bytes);
  *arrows = kept;
  return kept_count;
}

size_t merge_points(struct stream *points, size_t count, uint64_t shortest) {
  struct stream kept = {0};
  size_t at = 0, kept_count = 0;
  uint64_t time = 0, begin = 0, last_time = 0, highest_time = 0;
  int64_t value = 0, highest = 0, last = 0;
  for (size_t i = 0; i < count; i++) {
    time += stream_get(points, &at);
    value += stream_get_signed(points, &at);
    const bool is_first = i == 0 || time >= begin + shortest;
    if (is_first)
      begin = time;
    if (is_first || value > highest) {
      highest = value;
      highest_time = time;
    }
    size_t next = at;
    if (i + 1 < count && time + stream_get(points, &next) < begin + shortest)
      continue;
    stream_put(&kept, highest_time - last_time);
    stream_put_signed(&kept, highest - last);
    last_time = highest_time;
    last = highest;
    kept_count++;
  }
  free(points->bytes);
  *points = kept;
  return kept_count;
}
