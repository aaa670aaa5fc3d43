// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime keeps for each thread of the program: a record with its
// place in the registry and the buffers that its events are made in. The
// buffers may not live in a hook's frame: a thread's whole stack may be 16 KiB.
// (Go: m, as far as profiles go)

#ifndef MPROF_RT_THREAD_THREADS_H
#define MPROF_RT_THREAD_THREADS_H

#include "sys/lock.h"
#include "sys/tls.h"
#include "unwind/unwind_fp.h"

struct mprof_bucket;
struct mprof_caller;
struct mprof_holds;

// Buckets that a thread's last events had; spares hashing the stack when an
// event repeats.
#define MPROF_RECENT 256

// Made at the thread's first sample, not before: many threads have none.
struct mprof_scratch {
  struct mprof_bucket *recent[MPROF_RECENT]; // by caller, frame and size
  struct mprof_bucket *same[MPROF_RECENT];   // by stack and size
  // Frame that complete stacks end with, and what it has for the next one's
  // address; 0 before the first. bucket_at.c
  uintptr_t root, above_root;
  uint32_t depth;   // stack_depth
  mprof_pc stack[]; // depth entries, then as many for lock_profile
};
static inline mprof_pc *mprof_scratch_lock_stack(struct mprof_scratch *s) {
  return s->stack + s->depth;
}

// The last block that the thread has allocated and that was counted; heapx.c.
struct mprof_heapx_last {
  const void *ptr;   // NULL: none, or it is gone
  int64_t countdown; // the thread's then
  uint64_t mark;     // the address's then
};

// Only its own thread uses a field that does not name a guard.
struct mprof_thread {
  struct mprof_thread *next, *prev; // guarded by registry_lock
  int tid;                          // guarded by registry_lock
  // The thread's __mprof_heap_countdown while its end is sure to unregister
  // it, else NULL. Guarded by registry_lock.
  int64_t *countdown;
  // Epoch of the rate that the thread drew its last countdown for.
  _Atomic uint64_t rate_epoch;
  struct mprof_stack_range range;
  struct mprof_scratch *scratch;
  // Where the thread was created, NULL if that was not seen. Guarded by
  // registry_lock.
  struct mprof_bucket *created;
  uintptr_t
      runs; // the function that it was created for, 0 if unknown; the same
  uint16_t shard;               // counts.h; guarded by registry_lock
  struct mprof_heapx_last last; // with the option heapx
  // Whether the thread makes a record of the trace; atomic.
  atomic_uint in_trace;
  bool has_left_trace; // by a longjmp out of one; guarded by trace_lock
  // For the stacks of all threads (thread_wait.c). Where the thread stands: the
  // address of the struct mprof_wait that it is in, with bits of those who read
  // it; MPROF_WAIT_ASKED; or 0.
  _Atomic uintptr_t wait;
  // The last round that it was to be in, and its slot there. Written by the
  // round's owner under registry_lock, before it is the active one.
  atomic_uint round;
  atomic_uint slot;
  _Atomic uint16_t labels; // as mprof_tls has them, for others
  // Its waits that begin now have notes. Written by the thread.
  atomic_bool is_noting;
  // While it looks for stuck threads: what it had when it called the runtime,
  // whose own frames and registers have addresses of theirs. Else NULL.
  const struct mprof_caller *_Atomic inside;
  unsigned inside_depth;
  // It is in a system call of the runtime's that begins anew after a signal.
  atomic_bool may_be_interrupted;
  uintptr_t pthread;         // its pthread_t; guarded by registry_lock
  struct mprof_holds *holds; // NULL before the first; written by the thread
};

static inline void mprof_thread_set_labels(uint16_t labels) {
  mprof_tls.labels = labels;
  if (mprof_tls.self)
    atomic_store_explicit(&mprof_tls.self->labels, mprof_tls.labels,
                          memory_order_relaxed);
}

// The calling thread's record, with scratch if asked; NULL when there is no
// memory. Call with the guard set.
struct mprof_thread *mprof_thread_make(bool need_scratch);
static inline struct mprof_thread *mprof_thread_self(bool need_scratch) {
  struct mprof_thread *t = mprof_tls.self;
  return mprof_likely(t && (t->scratch || !need_scratch))
             ? t
             : mprof_thread_make(need_scratch);
}

// Around a system call of the runtime's that begins anew after a signal: the
// calling thread may be asked for its stack meanwhile.
static inline void mprof_thread_set_interruptible(bool is) {
  if (mprof_tls.self)
    atomic_store(&mprof_tls.self->may_be_interrupted, is);
}

// A thread of the registry.
struct mprof_thread_info {
  int tid;
  const struct mprof_bucket *created; // NULL if that was not seen
  uintptr_t runs; // the function that it was created for; 0: unknown
};
// Copies the first cap of the live threads, newest first, to v, and returns how
// many there are. Call with the guard set.
size_t mprof_threads_list(struct mprof_thread_info *v, size_t cap);

// Calls fn for each live thread, newest first. Call with registry_lock held.
void mprof_threads_each(void (*fn)(struct mprof_thread *t, void *arg),
                        void *arg);

// Waits until no thread makes a record of the trace. Call with registry_lock
// held, when no new one can. Sets has_left_trace of those that it has waited
// for in vain.
void mprof_threads_leave_trace(void);

// Stores 0 as the countdown of every thread, and returns when each has seen
// it or drawn for rate_epoch. Call with registry_lock held.
void mprof_threads_interrupt(uint64_t rate_epoch);

// Next of the thread's random numbers (Go: cheaprand64); the first state comes
// from the option seed and the order of the threads, or from the kernel.
uint64_t mprof_thread_random(void);

void mprof_threads_init(void);
// In a forked child: only the calling thread is left, and has no record.
void mprof_threads_reset(void);

extern struct mprof_lock mprof_registry_lock;

// What the stacks of all threads, which lie above this room, see of the
// registry. Written once at start.
extern struct mprof_thread_observer {
  // A thread has come, and is about to enter the list. Under registry_lock.
  void (*entered_locked)(struct mprof_thread *t);
  // The calling thread ends, and is about to leave the list.
  void (*ending)(const struct mprof_thread *t);
} mprof_thread_observer;

#endif // MPROF_RT_THREAD_THREADS_H
