// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface through which the modules for threads, waits and heap events
// report to the execution trace. The trace depends on these modules, so they
// must not call its functions directly. Instead the trace sets function
// pointers at start, and the modules call the pointers while a trace session is
// on.

#ifndef MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
#define MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H

#include "sys/base.h"
#include "sys/tls.h"

struct mprof_bucket;
struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_wait;

// Number of the current trace session; 0: no session. Every wait reads this
// variable, so it has hidden visibility, which avoids a load of its address.
extern atomic_uint mprof_trace_session __attribute__((visibility("hidden")));
static inline bool mprof_trace_is_on(void) {
  return atomic_load_explicit(&mprof_trace_session, memory_order_relaxed) != 0;
}

// Number of clock ticks in one tick of the trace. (Go: traceTickDiv)
#define MPROF_TRACE_TICK_DIV 64u

// Converts a time of the clock to ticks of the trace. Never returns 0, because
// 0 is a special value in the trace format.
static inline uint64_t mprof_trace_ticks(uint64_t now) {
  const uint64_t t = now / MPROF_TRACE_TICK_DIV;
  return t != 0 ? t : 1;
}

// A mark links a wake-up to the release that caused it. It refers to an empty
// slot in the trace row of the releasing thread. When the woken thread runs, it
// writes its thread number into the slot; see trace_buf.h.
struct mprof_trace_mark {
  struct mprof_trace_buf *buf; // NULL: no mark
  uint32_t generation;
  uint32_t offset; // of the slot in buf->data; its address is a multiple of 8
  uint32_t session;
  uint32_t stack;
  uint64_t ticks;
};

// The thread that is about to release an object, and its stack in the trace.
struct mprof_trace_waker {
  struct mprof_trace_row *row;
  uint32_t stack;
  uintptr_t frame; // frame address of the entry
};

// The begin or the end of a region in the calling thread's row of the trace,
// such as a phase of a garbage collection.
struct mprof_trace_phase {
  const char *name;
  uint64_t when; // time in clock ticks
  bool is_end;
};

struct mprof_trace_hooks {
  // Reports that the calling thread's labels have changed.
  void (*labels)(uintptr_t frame);
  // Reports that the calling thread has just started. When the thread was
  // created, trace session number `session` gave it the number g. start: the
  // stack that shows the thread's start function.
  void (*created)(uint64_t g, uint32_t start, unsigned session);
  // Reports the end of the calling thread.
  void (*thread_end)(void);
  // trace_events.h explains these functions.
  void (*wait_begin)(struct mprof_wait *w, bool is_call);
  void (*wait_end)(const struct mprof_wait *w, unsigned how, uint64_t now,
                   const struct mprof_trace_mark *mark);
  void (*release_begin)(struct mprof_trace_waker *w, uintptr_t op,
                        uintptr_t frame);
  struct mprof_trace_mark (*put_wake)(const struct mprof_trace_waker *w,
                                      uint64_t now, uint64_t charge);
  // Ends what release_begin has begun. Called after the release, and only if
  // release_begin has set waker->row.
  void (*release_end)(void);
  void (*heap)(const struct mprof_bucket *b, bool is_free);
  void (*gc)(bool is_end);
  // Records the begins and ends of regions; see trace_user.h.
  void (*phases)(const struct mprof_trace_phase *v, size_t n);
};
// The hooks. mprof_trace_hooks_init sets them once at start, before other
// threads can use the runtime.
extern struct mprof_trace_hooks mprof_trace_hooks;

#endif // MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
