// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges short neighbouring intervals of a thread, so that the page of a large
// trace stays small. A merged interval has the sums of the times in each state.

#ifndef MPROF_TOOL_TRACE_MERGE_H
#define MPROF_TOOL_TRACE_MERGE_H

#include "html/stream.h"

#include <stdbool.h>

// The bits of a change that hold the state, beside the number of the reason.
// The state STATE_MERGED follows those of enum thread_state.
enum { STATE_BITS = 3, STATE_MERGED = 5 };

// The ends of those waits of a thread that are not merged, in order.
struct wait_ends {
  uint64_t *times;
  size_t count, capacity;
  size_t next; // the first end that is not before the latest arrow
};

// Merges intervals shorter than `shortest`, until the merged one is as long.
// changes: `count` changes, of which each has the time since the last change,
// the reason and the state, and the difference of the stack. A merged one has
// also the number of its intervals and the times that it ran, waited and was
// runnable. end: the end of the last interval. Appends the changes to `out` and
// the ends of the waits to `ends`; both may be NULL. Returns the number of
// changes.
size_t merge_changes(const struct stream *changes, size_t count, uint64_t end,
                     uint64_t shortest, struct stream *out,
                     struct wait_ends *ends);

// Keeps the arrows that create a thread, or end a wait in `ends`, which is an
// array with an element for each thread. Replaces the arrows, and returns their
// number.
size_t merge_arrows(struct stream *arrows, size_t count,
                    struct wait_ends *ends);

// Keeps at most about one point of a curve for each `shortest` nanoseconds, the
// highest. points: `count` points, of which each has the time since the last
// point and the difference of the value. Replaces the points, and returns their
// number.
size_t merge_points(struct stream *points, size_t count, uint64_t shortest);

#endif
