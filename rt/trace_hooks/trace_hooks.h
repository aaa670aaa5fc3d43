// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface by which lower modules (threads, waits, heap events) report to
// the execution trace. The trace depends on these modules, so they cannot call
// it directly. It sets these function pointers at start; the modules call them
// while a session is on.

#ifndef MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
#define MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H

#include "sys/base.h"
#include "sys/tls.h"

struct mprof_bucket;
struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_wait;

// Number of the trace session; 0: none. Every wait reads it. Hidden visibility
// avoids a lookup of its address.
extern atomic_uint mprof_trace_session __attribute__((visibility("hidden")));
static inline bool mprof_trace_is_on(void) {
  return atomic_load_explicit(&mprof_trace_session, memory_order_relaxed) != 0;
}

// Clock ticks in a tick of the trace. (Go: traceTickDiv)
#define MPROF_TRACE_TICK_DIV 64u

// Returns a time of the clock in the trace's ticks. Never 0, which has another
// meaning in the format.
static inline uint64_t mprof_trace_ticks(uint64_t now) {
  const uint64_t t = now / MPROF_TRACE_TICK_DIV;
  return t != 0 ? t : 1;
}

// The place in a releaser's row where a thread that turns out to be woken by
// the release can write its number; see trace_buf.h.
struct mprof_trace_mark {
  struct mprof_trace_buf *buf; // NULL: none
  uint32_t generation;
  uint32_t offset; // of the slot in buf->data; the address is a multiple of 8
  uint32_t session;
  uint32_t stack;
  uint64_t ticks;
};

// The thread that is about to release an object, and its stack in the trace.
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
  // Reports that the calling thread's labels have changed.
  void (*labels)(uintptr_t frame);
  // Reports a new thread, in its first call. The thread was created as number g
  // of the session.
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
                                      uint64_t now);
  // After the release that release_begin began, if the waker has a row.
  void (*release_end)(void);
  void (*heap)(const struct mprof_bucket *b, bool is_free);
  void (*gc)(bool is_end);
  // See trace_user.h.
  void (*phases)(const struct mprof_trace_phase *v, size_t n);
};
// The hooks, written once at start, before any session.
extern struct mprof_trace_hooks mprof_trace_hooks;

#endif // MPROF_RT_TRACE_HOOKS_TRACE_HOOKS_H
