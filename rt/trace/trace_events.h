// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the records of waits, wakes, threads and the heap into the calling
// thread's row. The hooks of trace_hooks.h lead here. The callers decide what
// is an event; these functions only record it. Call all functions with the
// guard set. They do nothing if the thread gets no row.

#ifndef MPROF_RT_TRACE_TRACE_EVENTS_H
#define MPROF_RT_TRACE_TRACE_EVENTS_H

#include "trace/trace_types.h"
#include "trace_hooks/trace_hooks.h"

struct mprof_bucket;
struct mprof_wait;

// Prepares for a session that begins.
void mprof_trace_events_init(void);
// Records the begin of wait w, and writes to w what its end needs. is_call: the
// wait is a call that may be short, so it is recorded at its end.
void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call);
// Records the end of wait w. how: enum mprof_outcome. now: time of the clock.
// mark: of the release that ended the wait; may have no buffer. If w began
// before the session, this only makes the thread known to the session.
void mprof_trace_wait_end(const struct mprof_wait *w, unsigned how,
                          uint64_t now, const struct mprof_trace_mark *mark);
// Prepares for a release: takes the stack and enters the calling thread's row.
// Call it before the lock of the table of waiters is taken, which tells whether
// any thread waits. If w->row is NULL afterwards, the release is not in the
// trace; otherwise call mprof_trace_leave after the release is recorded. op,
// frame: as of mprof_wait_begin.
void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame);
// Records a release for which a thread waits, between the two calls. now: time
// of the clock up to which the waiters were charged. Returns the mark for the
// woken thread.
struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now);
// Ends the release, if the waker has a row: leaves the row.
void mprof_trace_release_end(void);
// Returns the handle of a stack that has only the start function fn; 0 if fn is
// 0 or there is no memory.
uint32_t mprof_trace_start_of(uintptr_t fn);
// Records that the calling thread is about to create a thread. fn: start
// function, 0 if unknown; frame: frame address of the caller. Returns the new
// thread's number, 0 if it has none; *start receives the handle of its start
// function's stack.
uint64_t mprof_trace_create(uintptr_t fn, uintptr_t frame, uint32_t *start);
// Records the end of the calling thread, whose row is r, and leaves a mark for
// the thread that joins it.
void mprof_trace_put_end(struct mprof_trace_row *r);
// Resets the lock of the marks of ended threads in a forked child.
void mprof_trace_ended_reset(void);

// Updates the bytes in use after a counted block of bucket b was allocated or
// freed: the block's size, scaled to the blocks that it stands for. Makes a
// record if the bytes have changed enough since the last one.
void mprof_trace_heap(const struct mprof_bucket *b, bool is_free);
// Sets the bytes in use when a session begins.
void mprof_trace_heap_init(int64_t bytes);
// Records the begin or the end of a garbage collection. Do not call it while
// other threads are stopped.
void mprof_trace_gc(bool is_end);
// Returns whether the calling thread runs, as far as the trace knows; false in
// a signal handler that has interrupted a wait. frame: frame address of the
// caller. If it shows that the wait was left by a jump, first ends the wait, at
// time now of the clock.
bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame, uint64_t now);

#endif // MPROF_RT_TRACE_TRACE_EVENTS_H
