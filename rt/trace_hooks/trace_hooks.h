// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface through which the modules for threads, waits and the heap
// report events to the execution trace. The trace depends on these modules, so
// these modules must not call the trace's functions directly. Instead, the
// trace sets function pointers at program start, and the modules call the
// pointers during a trace session.

#ifndef MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
#define MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H

#include "sys/arch.h"
#include "sys/base.h"
#include "sys/tls.h"

struct mprof_bucket;
struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_wait;

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

// A mark links a wake-up to the release that caused it. The mark refers to an
// empty slot in a trace record of the releasing thread. When the woken thread
// runs, it writes its own number into the slot; see trace_buf.h.
struct mprof_trace_mark {
  struct mprof_trace_buf *buf; // buffer that contains the slot; NULL: no mark
  uint32_t generation;
  uint32_t offset; // position of the slot in buf->data; the slot is 8-aligned
  uint32_t session;
  uint32_t stack;
  uint64_t ticks;
};

// A thread that is about to release an object: its row, which is the list of
// its trace buffers, and the handle of its stack in the trace.
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

struct mprof_trace_hooks {
  // Reports that the labels of the calling thread have changed. frame: frame
  // address of the caller.
  void (*labels)(uintptr_t frame);
  // Reports that the calling thread has just started. g: number that the thread
  // got at its creation. session: number of the trace session at that time.
  // start: handle of a stack that shows the thread's start function.
  void (*created)(uint64_t g, uint32_t start, unsigned session);
  // Reports the end of the calling thread.
  void (*thread_end)(void);
  // Each hook from wait_begin to gc is set to a function that is declared and
  // explained in trace_events.h. For example, wait_begin is set to
  // mprof_trace_wait_begin.
  void (*wait_begin)(struct mprof_wait *w, bool is_call);
  void (*wait_end)(const struct mprof_wait *w, unsigned how, uint64_t now,
                   const struct mprof_trace_mark *mark);
  void (*release_begin)(struct mprof_trace_waker *w, uintptr_t op,
                        uintptr_t frame);
  struct mprof_trace_mark (*put_wake)(const struct mprof_trace_waker *w,
                                      uint64_t now, uint64_t charge);
  // Ends the recording that release_begin has begun. Call only if release_begin
  // has set the field `row` of its argument to a value other than NULL.
  void (*release_end)(void);
  void (*heap)(const struct mprof_bucket *b, bool is_free);
  void (*gc)(bool is_end);
  // Adds the n elements of v, each of which is the start or the end of a
  // region; see mprof_trace_phases in trace_user.h.
  void (*phases)(const struct mprof_trace_phase *v, size_t n);
};
// The hooks. mprof_trace_hooks_init sets them once at program start, before
// other threads can use the runtime.
extern MPROF_HIDDEN struct mprof_trace_hooks mprof_trace_hooks;

#endif // MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
