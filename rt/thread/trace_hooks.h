// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rooms below the trace tell it. The trace lies above them, so it sets
// these pointers when the runtime starts; the rooms call them while a session
// is on.

#ifndef MPROF_RT_THREAD_TRACE_HOOKS_H
#define MPROF_RT_THREAD_TRACE_HOOKS_H

#include "sys/base.h"
#include "sys/tls.h"
#include "thread/threads.h"

struct mprof_bucket;
struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_wait;

// 0: none. All waits look at it, so its address is not looked up.
extern atomic_uint mprof_trace_session __attribute__((visibility("hidden")));
static inline bool mprof_trace_is_on(void) {
  return atomic_load_explicit(&mprof_trace_session, memory_order_relaxed) != 0;
}

// Ticks of the trace. (Go: traceTickDiv)
#define MPROF_TRACE_TICK_DIV 64u

// A time of the clock as the trace has it. 0 has a meaning of its own in the
// format.
static inline uint64_t mprof_trace_ticks(uint64_t now) {
  const uint64_t t = now / MPROF_TRACE_TICK_DIV;
  return t != 0 ? t : 1;
}

static inline void mprof_trace_leave(void) {
  atomic_store_explicit(&mprof_tls.self->in_trace, 0, memory_order_release);
}

// Where a release has left room for the thread that it will turn out to have
// woken; see trace_buf.h.
struct mprof_trace_mark {
  struct mprof_trace_buf *buf; // NULL: none
  uint32_t generation;
  uint32_t offset; // of the slot in data, whose address is a multiple of 8
  uint32_t session;
  uint32_t stack;
  uint64_t ticks;
};

struct mprof_trace_waker {
  struct mprof_trace_row *row;
  uint32_t stack;
};

// The begin or the end of a region of the calling thread.
struct mprof_trace_phase {
  const char *name;
  uint64_t when; // of the clock
  bool is_end;
};

struct mprof_trace_hooks {
  // The calling thread has other labels now.
  void (*labels)(uintptr_t frame);
  // The first call in a new thread, which was created as number g of a session.
  void (*created)(uint64_t g, uint32_t start, unsigned session);
  // The calling thread ends.
  void (*thread_end)(void);
  // See trace_events.h.
  void (*wait_begin)(struct mprof_wait *w, bool is_call);
  void (*wait_end)(const struct mprof_wait *w, unsigned how, uint64_t now,
                   const struct mprof_trace_mark *mark);
  void (*release_begin)(struct mprof_trace_waker *w, uintptr_t op,
                        uintptr_t frame);
  struct mprof_trace_mark (*put_wake)(const struct mprof_trace_waker *w,
                                      uint64_t now);
  void (*heap)(const struct mprof_bucket *b, bool is_free);
  void (*gc)(bool is_end);
  // See trace_user.h.
  void (*phases)(const struct mprof_trace_phase *v, size_t n);
};
// Written once at start, before any session.
extern struct mprof_trace_hooks mprof_trace_hooks;

#endif // MPROF_RT_THREAD_TRACE_HOOKS_H
