// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds records of waits, wake-ups, threads and the heap to the row (list of
// record buffers) of the calling thread. These functions are the hooks of
// trace_hooks.h. The callers decide which events are recorded. Call all
// functions with the recursion guard set. The functions record nothing if the
// thread cannot get a row.

#ifndef MPROF_RT_TRACE_TRACE_EVENTS_H
#define MPROF_RT_TRACE_TRACE_EVENTS_H

#include "thread/threads.h"
#include "trace/trace_rows.h"
#include "trace_hooks/trace_hooks.h"

struct mprof_bucket;
struct mprof_wait;

// Initializes this module when a session begins.
void mprof_trace_events_init(void);
// Records that the calling thread begins wait w, and stores in w the data that
// mprof_trace_wait_end needs. is_call: w is a call that may be short, such as a
// read. In this case, the record is added only when the call ends.
void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call);
// Records the end of wait w. how: enum mprof_outcome. now: time of the clock.
// mark: identifies the release that ended the wait; mark->buf is NULL if this
// release is unknown. If w began before the session, the function only adds the
// thread to the session.
void mprof_trace_wait_end(const struct mprof_wait *w, unsigned how,
                          uint64_t now, const struct mprof_trace_mark *mark);
// Prepares the record of a release. Sets *w to the stack and the row (list of
// record buffers) of the calling thread. The arguments `op` and `frame` select
// the frames of the stack; see mprof_trace_stack in trace_rows.h. If w->row is
// NULL after this call, the release is not recorded. Otherwise the caller must
// call mprof_trace_leave later. Call this function before acquiring the
// lock of the table of waiters, because the function may acquire other locks.
void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame);
// Records the release of an object for which a thread waits. Call this between
// mprof_trace_release_begin and mprof_trace_leave. now: time of the
// release. charge: ticks that the waiters have waited for a lock; 0: the object
// is not a lock. Returns the mark that links the wake-up of the waiting thread
// to this release.
struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now, uint64_t charge);
// Records that the calling thread is about to create a thread. runs: the
// function of the new thread; frame: frame address of the caller. Returns the
// number of the new thread, or 0 if the creation could not be recorded. *start
// receives the handle of the start stack, or of the caller's stack if
// runs->start is 0.
uint64_t mprof_trace_create(const struct mprof_thread_runs *runs,
                            uintptr_t frame, uint32_t *start);
// Records the end of the calling thread. r: the thread's row (list of record
// buffers). Also stores a mark (a reference to a record of the end). By the
// mark, the trace links a later pthread_join of this thread to the end.
void mprof_trace_put_end(struct mprof_trace_row *r);
// Resets the state in a forked child. Does not free the memory of the list of
// existing threads.
void mprof_trace_events_reset(void);

// Updates the number of heap bytes in use after a sampled block of bucket b was
// allocated, or freed if is_free. The size of the block is scaled up to all
// blocks that the sample represents. Adds a record if the number has changed by
// at least the option trace_heap_kb since the last record.
void mprof_trace_heap(const struct mprof_bucket *b, bool is_free);
// Sets the number of heap bytes in use when a session begins.
void mprof_trace_heap_init(int64_t bytes);
// Records the start or the end of a garbage collection. Do not call this while
// the collector has stopped the other threads.
void mprof_trace_gc(bool is_end);
// Returns whether the calling thread runs, that is, whether its last wait in
// the trace has ended. r: the thread's row (list of record buffers). Returns
// false in a signal handler that has interrupted a wait. If `frame` shows that
// a longjmp or an exception has left the wait, first records the end of the
// wait and then returns true. frame: frame address of the caller; now: time of
// the clock.
bool mprof_trace_runs(struct mprof_trace_row *r, uintptr_t frame, uint64_t now);

// --- threads that existed when the session began ---
//
// Call these functions with trace_lock held.

// Creates the list of existing threads. Adds a PRE record for each of them to
// row r, which belongs to the thread that starts the session. If a thread
// begins or ends during this call, the list may be wrong about the thread. The
// error does no harm, because the thread adds its own records. Returns 0 or
// -ENOMEM.
int mprof_trace_existing_put(struct mprof_trace_row *r);
// Removes thread tid from the list. Returns the state that the thread had when
// the session began, or MPROF_TRACE_FROM_UNKNOWN if the thread is not on the
// list. *g receives the number of the thread, and *start the handle of the
// stack of its start function.
enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start);
// Frees the list of existing threads at the end of the session.
void mprof_trace_existing_drop(void);

#endif // MPROF_RT_TRACE_TRACE_EVENTS_H
