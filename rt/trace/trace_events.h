// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports events to the execution trace. The rooms below the trace, such as
// those of threads, waits and the heap, may include this header and call the
// functions that it declares, although the trace uses these rooms. Call the
// functions while a session of the trace is on, with the recursion guard set.
// They record nothing if the thread cannot get a row (trace_rows.h). Other
// headers of this room declare what only the files of the trace use.

#ifndef MPROF_RT_TRACE_TRACE_EVENTS_H
#define MPROF_RT_TRACE_TRACE_EVENTS_H

#include "sys/arch.h"
#include "sys/base.h"
#include "sys/tls.h"
#include "thread/threads.h"

struct mprof_bucket;
struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_wait;

// --- the session ---

// Number of the current trace session; 0: no session. Every wait reads this
// variable. Its hidden visibility avoids a load of its address at each read.
extern MPROF_HIDDEN atomic_uint mprof_trace_session;
static inline bool mprof_trace_is_on(void) {
  return atomic_load_explicit(&mprof_trace_session, memory_order_relaxed) != 0;
}

// Returns the number of the trace's ticks per second, at least 1.
uint64_t mprof_trace_frequency(void);

// Converts a time of the clock to ticks of the trace. Never returns 0, because
// 0 has a special meaning in the trace format.
static inline uint64_t mprof_trace_ticks(uint64_t now) {
  const uint64_t t = now / MPROF_TRACE_TICK_DIV;
  return t != 0 ? t : 1;
}

// A mark links a wake-up to the release that caused it. The mark refers to the
// empty woken field of the releasing thread's WAKE record (trace_records.h).
// When the woken thread runs, it writes its own number into the field.
struct mprof_trace_mark {
  struct mprof_trace_buf *buf; // buffer with the woken field; NULL: no mark
  uint32_t generation;
  uint32_t offset; // position of the field in buf->data, 8-aligned
  uint32_t session;
  uint32_t stack;
  uint64_t ticks;
};

// A thread that is about to release an object: its row, and the handle of its
// stack in the trace.
struct mprof_trace_waker {
  struct mprof_trace_row *row;
  uint32_t stack;
  // Frame address of the runtime's function that the program has called.
  uintptr_t frame;
};

// The start or the end of a region in the trace of the calling thread. A region
// is a named time span, such as a phase of a garbage collection.
struct mprof_trace_phase {
  const char *name;
  uint64_t when; // time in clock ticks
  bool is_end;
};

// --- the access of the calling thread to its row ---

// Begins the access, to add records of `bytes` bytes. Returns the row of the
// calling thread, with room for the records. Returns NULL if there is no
// session or no memory. If there is no memory, also ends the session; but a
// flight recorder continues without this thread. Call with the recursion guard
// set.
struct mprof_trace_row *mprof_trace_enter(uint32_t bytes);
// Ends the access that mprof_trace_enter or mprof_trace_release_begin has
// begun.
static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}

// --- waits and releases ---

// Records that the calling thread begins wait w, and stores in w the data that
// mprof_trace_wait_end needs. is_call: w is a call that may be short, such as a
// read. In this case, the record is added only when the call ends. name: that
// the program has given to the object of the wait; NULL: none.
void mprof_trace_wait_begin(struct mprof_wait *w, bool is_call,
                            const char *name);
// Begins to fetch into the cache what the end of wait w will read and write.
// Call this as soon as the thread has woken up.
void mprof_trace_wait_fetch(const struct mprof_wait *w);
// Records the end of wait w. how: enum mprof_outcome. now: time of the clock.
// mark: identifies the release that ended the wait; mark->buf is NULL if this
// release is unknown. If w began before the session, the function only adds the
// thread to the session.
void mprof_trace_wait_end(const struct mprof_wait *w, unsigned how,
                          uint64_t now, const struct mprof_trace_mark *mark);
// Prepares the record of a release. Sets *w to the stack and the row of the
// calling thread. The arguments `op` and `frame` select the frames of the
// stack; see mprof_trace_stack in trace_rows.h. If w->row is NULL after this
// call, the release is not recorded. Otherwise the caller must call
// mprof_trace_leave later. Call this function before acquiring the lock of the
// table of waiters, because the function may acquire other locks.
void mprof_trace_release_begin(struct mprof_trace_waker *w, uintptr_t op,
                               uintptr_t frame);
// Records the release of an object for which a thread waits. Call this between
// mprof_trace_release_begin and mprof_trace_leave. now: time of the
// release. charge: ticks that the waiters have waited for the lock; 0: the
// object is not a lock. Returns the mark that links the wake-up of the waiting
// thread to this release.
struct mprof_trace_mark mprof_trace_put_wake(const struct mprof_trace_waker *w,
                                             uint64_t now, uintptr_t lock,
                                             uint64_t charge);

// --- threads ---

// Records that the calling thread is about to create a thread. runs: the
// function of the new thread; frame: frame address of the caller. Returns the
// number of the new thread, or 0 if the creation could not be recorded. *start
// receives the handle of the start stack, or of the caller's stack if
// runs->start is 0.
uint64_t mprof_trace_create(const struct mprof_thread_runs *runs,
                            uintptr_t frame, uint32_t *start);
// Adds the calling thread, which has just started, to the session. g: number
// that the creating thread gave to this thread. start: handle of the stack of
// the start function. session: number of the session in which the thread was
// created.
void mprof_trace_created(uint64_t g, uint32_t start, unsigned session);
// Records the end of the calling thread.
void mprof_trace_thread_end(void);
// Records the current label set of the calling thread, unless the thread is in
// a wait. frame: frame address of the caller.
void mprof_trace_labels(uintptr_t frame);

// --- samples of the CPU profile ---

// A moment of a thread in the trace.
struct mprof_trace_moment {
  uint64_t when; // time of the clock
  uint64_t g;    // number of the thread
  uint32_t row;  // number of the row
  int tid;
};
// Stores the present moment of the calling thread. Returns false if the thread
// has no row in the active session. A handler of any signal may call it.
bool mprof_trace_moment(struct mprof_trace_moment *m);
// Adds a sample with the stack of bucket b. Drops the oldest one if there are
// too many. Takes no lock.
void mprof_trace_sample(const struct mprof_trace_moment *m,
                        const struct mprof_bucket *b);

// --- the heap ---

// Updates the number of heap bytes in use after a sampled block of bucket b was
// allocated, or freed if is_free. The size of the block is scaled up to all
// blocks that the sample represents. Adds a record if the number has changed by
// at least the option trace_heap_kb since the last record.
void mprof_trace_heap(const struct mprof_bucket *b, bool is_free);
// Records the start or the end of a garbage collection. Do not call this while
// the collector has stopped the other threads.
void mprof_trace_gc(bool is_end);
// Adds n starts and ends of regions, in the order of v, to the trace of the
// calling thread. Each has a time in the past. Used for phases of a garbage
// collection, during which the thread could not add records. Call with the
// recursion guard set.
void mprof_trace_phases(const struct mprof_trace_phase *v, size_t n);

#endif // MPROF_RT_TRACE_TRACE_EVENTS_H
