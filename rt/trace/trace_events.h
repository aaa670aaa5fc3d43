// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of waits, wakers, threads and the heap; what the entries call, with
// the guard set.

#ifndef MPROF_RT_TRACE_TRACE_EVENTS_H
#define MPROF_RT_TRACE_TRACE_EVENTS_H

#include "thread/trace_hooks.h"
#include "trace/trace_types.h"

struct mprof_bucket;
struct mprof_wait;

// When a session begins.
void mprof_trace_events_init(void);
// A wait begins; w keeps what its end needs.
void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call);
// It ends: mark says who released last since it began. One that began before
// the session makes its thread come into it.
void mprof_trace_wait_end(const struct mprof_wait *w, unsigned how,
                          uint64_t now, const struct mprof_trace_mark *mark);
// Before a release that somebody may wait for, who is found under a lock:
// enters the caller's row, and takes its stack. No row: the release is not in
// the trace; else it is to be left after.
void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame);
// In between: somebody does wait; now is the time of the clock that it is
// charged for.
struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now);
// The stack of a function that a thread runs, 0 for none.
uint32_t mprof_trace_start_of(uintptr_t fn);
// A thread is about to be created: its number, 0 if it has none, and in *start
// the stack of what it will run.
uint64_t mprof_trace_create(uintptr_t fn, uintptr_t frame, uint32_t *start);
// The records of that, with a mark for whoever joins it.
void mprof_trace_put_end(struct mprof_trace_row *r);
// In a forked child: no thread has ended.
void mprof_trace_ended_reset(void);

// A counted block of b was allocated or freed: its bytes, with those that it
// stands for, are so many more or fewer in use.
void mprof_trace_heap(const struct mprof_bucket *b, bool is_free);
// What is in use when a session begins.
void mprof_trace_heap_init(int64_t bytes);
// A collection begins or ends. Not while other threads are stopped.
void mprof_trace_gc(bool is_end);
// Whether the thread runs, as far as the trace knows, at a frame now; if that
// shows that a wait was left, this one is given up.
bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame, uint64_t now);

#endif // MPROF_RT_TRACE_TRACE_EVENTS_H
