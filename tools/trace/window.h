// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a trace that the options --from and --to select. Times are
// nanoseconds since the first event.

#ifndef MPROF_TRACE_WINDOW_H
#define MPROF_TRACE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_window {
  uint64_t from, to;
};

// The window that contains every event.
static const struct trace_window trace_window_all = {0, UINT64_MAX};

// Parses the arguments of --from and --to, of which each may be NULL. On
// failure, returns false and writes a message of one line into error.
bool trace_window_parse(struct trace_window *window, const char *from,
                        const char *to, char *error, size_t size);

static inline bool trace_window_is_all(struct trace_window w) {
  return w.from == 0 && w.to == UINT64_MAX;
}

static inline bool trace_window_has(struct trace_window w, uint64_t time) {
  return w.from <= time && time <= w.to;
}

// Returns the time in the window that is nearest to `time`.
static inline uint64_t trace_window_clip(struct trace_window w, uint64_t time) {
  if (time < w.from)
    return w.from;
  return time < w.to ? time : w.to;
}

#endif
