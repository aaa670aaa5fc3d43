// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of threads. The runtime keeps a record for each thread that has
// made an event. It links the thread into the registry and holds the buffers
// for its events. The buffers cannot lie in a hook's frame, since a thread's
// whole stack may be 16 KiB. Records are reused but never freed.
// (Go: m, as far as profiles use it)

#ifndef MPROF_RT_THREAD_THREADS_H
#define MPROF_RT_THREAD_THREADS_H

#include "sys/lock.h"
#include "sys/tls.h"
#include "unwind/unwind_fp.h"

struct mprof_bucket;
struct mprof_caller;
struct mprof_holds;

// Size of the caches of buckets that the thread's last events had. A hit avoids
// hashing the stack of a repeated event.
#define MPROF_RECENT 256

// The thread's buffers. They are made at its first sample, since many threads
// have no sample.
struct mprof_scratch {
  struct mprof_bucket *recent[MPROF_RECENT]; // by caller, frame and size
  struct mprof_bucket *same[MPROF_RECENT];   // by stack and size
  // Frame in which the thread's complete stacks end, and the word that it holds
  // in place of a caller's frame address; 0 before the first. See bucket_at.c.
  uintptr_t root, above_root;
  uint32_t depth;   // stack_depth
  mprof_pc stack[]; // depth entries, then as many for lock_profile
};
static inline mprof_pc *mprof_scratch_lock_stack(struct mprof_scratch *s) {
  return s->stack + s->depth;
}

// The last counted block that the thread has allocated; see heapx.c.
struct mprof_heapx_last {
  const void *ptr;   // NULL: no such block, or it no longer exists
  int64_t countdown; // the thread's countdown at the allocation
  uint64_t mark;     // the address's mark at the allocation
};

// The record of a thread. A field whose comment names no lock or other thread
// is used only by the thread itself.
struct mprof_thread {
  struct mprof_thread *next, *prev; // guarded by registry_lock
  int tid;                          // guarded by registry_lock
  // Address of the thread's __mprof_heap_countdown. NULL if the end of the
  // thread may not be reported. Guarded by registry_lock.
  int64_t *countdown;
  // Epoch of the rate for which the thread drew its last countdown.
  _Atomic uint64_t rate_epoch;
  struct mprof_stack_range range;
  struct mprof_scratch *scratch;
  // Bucket of the stack that created the thread, NULL if the creation was not
  // seen. Guarded by registry_lock.
  struct mprof_bucket *created;
  // Start function of the thread, 0 if unknown. Guarded by registry_lock.
  uintptr_t runs;
  uint16_t shard;               // see counts.h; guarded by registry_lock
  struct mprof_heapx_last last; // used with the option heapx
  // Whether the thread is making a record of the trace. Atomic.
  atomic_uint in_trace;
  bool has_left_trace; // left a record by longjmp; guarded by trace_lock
  // The thread's note for the stacks of all threads (thread_wait.h). It is the
  // address of the struct mprof_wait in which the thread is, with bits of
  // readers; or MPROF_WAIT_ASKED; or 0.
  _Atomic uintptr_t wait;
  // The last round of collecting stacks that includes the thread, and the
  // thread's slot in it. The round's owner writes them under registry_lock,
  // before the round becomes active.
  atomic_uint round;
  atomic_uint slot;
  _Atomic uint16_t labels; // copy of mprof_tls.labels for other threads
  // Whether waits that begin now are noted. Written by the thread.
  atomic_bool is_noting;
  // Set while the thread looks for stuck threads, else NULL: the registers and
  // frame that it had when it called the runtime. The runtime's own frames and
  // registers then hold addresses that the search must not find.
  const struct mprof_caller *_Atomic inside;
  unsigned inside_depth;
  // Whether the thread is in a system call of the runtime that is repeated
  // after a signal.
  atomic_bool may_be_interrupted;
  uintptr_t pthread;         // its pthread_t; guarded by registry_lock
  struct mprof_holds *holds; // NULL at first; written by the thread
};

// Sets the calling thread's labels, in the record, too.
static inline void mprof_thread_set_labels(uint16_t labels) {
  mprof_tls.labels = labels;
  if (mprof_tls.self)
    atomic_store_explicit(&mprof_tls.self->labels, mprof_tls.labels,
                          memory_order_relaxed);
}

// Return the calling thread's record, with scratch if need_scratch. Return NULL
// if there is no memory. Call with the guard set.
struct mprof_thread *mprof_thread_make(bool need_scratch);
static inline struct mprof_thread *mprof_thread_self(bool need_scratch) {
  struct mprof_thread *t = mprof_tls.self;
  return mprof_likely(t && (t->scratch || !need_scratch))
             ? t
             : mprof_thread_make(need_scratch);
}

// Says whether the calling thread is in a system call of the runtime that is
// repeated after a signal. Then the thread may be asked for its stack.
static inline void mprof_thread_set_interruptible(bool is) {
  if (mprof_tls.self)
    atomic_store(&mprof_tls.self->may_be_interrupted, is);
}

// A thread as mprof_threads_list shows it.
struct mprof_thread_info {
  int tid;
  const struct mprof_bucket *created; // NULL if the creation was not seen
  uintptr_t runs;                     // the thread's start function; 0: unknown
};
// Stores the first cap live threads, newest first, in v. Returns the number of
// all live threads. Call with the guard set.
size_t mprof_threads_list(struct mprof_thread_info *v, size_t cap);

// Calls fn for each live thread, newest first. Call with registry_lock held.
void mprof_threads_each(void (*fn)(struct mprof_thread *t, void *arg),
                        void *arg);

// Waits until no thread is making a record of the trace. Sets has_left_trace of
// threads that still seem to make one after a second. Call with registry_lock
// held, when no thread can begin a record.
void mprof_threads_leave_trace(void);

// Stores 0 in the countdown of every thread. Returns when each thread has seen
// the 0 or has drawn a countdown for rate_epoch. Call with registry_lock held.
void mprof_threads_interrupt(uint64_t rate_epoch);

// Returns the next random number of the calling thread. (Go: cheaprand64) The
// first state comes from the kernel, or from the option seed and the order of
// the threads.
uint64_t mprof_thread_random(void);

// Makes the pthread key whose destructor reports the ends of threads. At start.
void mprof_threads_init(void);
// Forgets all threads, in a forked child. The calling thread is the only one
// left, and gets a new record.
void mprof_threads_reset(void);

extern struct mprof_lock mprof_registry_lock;

// Hooks for collecting the stacks of all threads (thread_stacks.h), which
// depends on this module. Written once at start.
extern struct mprof_thread_observer {
  // A thread is about to enter the list. Called under registry_lock.
  void (*entered_locked)(struct mprof_thread *t);
  // The calling thread ends and is about to leave the list.
  void (*ending)(const struct mprof_thread *t);
} mprof_thread_observer;

#endif // MPROF_RT_THREAD_THREADS_H
