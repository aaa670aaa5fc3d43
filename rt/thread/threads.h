// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of threads. It has a record for each thread that has had an
// event. The record also points to the buffers for the thread's events. The
// buffers are too large for the stack, since a thread's whole stack may be only
// 16 KiB. Records are reused but never freed.
// (Go: m, as far as profiles use it)

#ifndef MPROF_RT_THREAD_THREADS_H
#define MPROF_RT_THREAD_THREADS_H

#include "sys/lock.h"
#include "sys/tls.h"
#include "unwind/unwind_fp.h"

struct mprof_bucket;
struct mprof_caller;
struct mprof_holds;

// Number of entries of each per-thread cache of buckets. The caches have the
// buckets of the thread's last events. If a repeated event finds its bucket
// there, its stack need not be hashed.
#define MPROF_RECENT 256

// The buffers of a thread. They are allocated at the thread's first sample,
// since many threads have no sample.
struct mprof_scratch {
  // Two caches of buckets. `recent` is indexed by caller, frame and size, and
  // `same` is indexed by stack and size.
  struct mprof_bucket *recent[MPROF_RECENT];
  struct mprof_bucket *same[MPROF_RECENT];
  // root: address of the outermost frame of the thread's last complete stack;
  // 0: no complete stack yet. above_root: the word in that frame where other
  // frames have the caller's frame address. See bucket_at.c.
  uintptr_t root, above_root;
  uint32_t depth;   // stack_depth
  mprof_pc stack[]; // depth entries, then depth more for lock_profile
};
static inline mprof_pc *mprof_scratch_lock_stack(struct mprof_scratch *s) {
  return s->stack + s->depth;
}

// The last counted (sampled) block that the thread has allocated; see heapx.c.
struct mprof_heapx_last {
  const void *ptr;   // NULL: no such block, or it was freed
  int64_t countdown; // the thread's countdown at the allocation
  uint64_t mark;     // the mark of its address at that time; see heapx.c
};

// The record of a thread. Only the thread itself uses a field, unless the
// field's comment names a lock or other threads.
struct mprof_thread {
  struct mprof_thread *next, *prev; // guarded by registry_lock
  int tid;                          // guarded by registry_lock
  // Address of the thread's __mprof_heap_countdown. NULL: the end of the thread
  // may go unreported, so the address could become invalid. Guarded by
  // registry_lock.
  int64_t *countdown;
  // Epoch of the sampling rate with which the thread drew its last countdown.
  // Other threads read it.
  _Atomic uint64_t rate_epoch;
  struct mprof_stack_range range;
  struct mprof_scratch *scratch;
  // Bucket of the stack that created the thread. NULL: the runtime did not see
  // the creation. Guarded by registry_lock.
  struct mprof_bucket *created;
  // Address of the thread's start function; 0: unknown. Guarded by
  // registry_lock.
  uintptr_t runs;
  uint16_t shard;               // see counts.h; guarded by registry_lock
  struct mprof_heapx_last last; // used only with the option heapx
  // Not 0 while the thread is writing a trace record. Other threads read this
  // field.
  atomic_uint in_trace;
  bool has_left_trace; // left a trace record by longjmp; guarded by trace_lock
  // The state of the thread's present wait (thread_wait.h), which threads that
  // collect stacks read and change. While the thread waits, the word is the
  // address of its struct mprof_wait, and the reader's flags are in the low
  // bits. Otherwise it is MPROF_WAIT_ASKED or 0.
  _Atomic uintptr_t wait;
  // A round is one collection of the stacks of all threads. These fields are
  // the number of the last round that includes this thread, and the thread's
  // slot in that round. The thread that runs the round writes them under
  // registry_lock, before the round becomes active.
  atomic_uint round;
  atomic_uint slot;
  _Atomic uint16_t labels; // copy of mprof_tls.labels for other threads
  // Whether the thread records each wait that it begins in the word wait.
  // Written by the thread itself, read by others.
  atomic_bool is_noting;
  // While the thread searches for stuck threads: the registers and frame
  // address that the thread had when it called the runtime. Otherwise NULL. The
  // search scans this state and not the runtime's own frames and registers,
  // because they contain addresses that the search must not find. Other threads
  // read it.
  const struct mprof_caller *_Atomic inside;
  unsigned inside_depth;
  // Whether the thread is in a system call of the runtime that is repeated
  // after a signal. Other threads read it.
  atomic_bool may_be_interrupted;
  uintptr_t pthread;         // the thread's pthread_t; guarded by registry_lock
  struct mprof_holds *holds; // NULL at first; only the thread writes it
};

// Sets the calling thread's label set in both places: mprof_tls.labels and the
// thread's record, which is for other threads.
static inline void mprof_thread_set_labels(uint16_t labels) {
  mprof_tls.labels = labels;
  if (mprof_tls.self)
    atomic_store_explicit(&mprof_tls.self->labels, mprof_tls.labels,
                          memory_order_relaxed);
}

// Return the calling thread's record, which is created if needed. need_scratch:
// the field scratch must be set, too. Return NULL if there is no memory, or if
// the thread belongs to the runtime. Call with the guard set.
struct mprof_thread *mprof_thread_make(bool need_scratch);
static inline struct mprof_thread *mprof_thread_self(bool need_scratch) {
  struct mprof_thread *t = mprof_tls.self;
  return mprof_likely(t && (t->scratch || !need_scratch))
             ? t
             : mprof_thread_make(need_scratch);
}

// Records whether the calling thread is in a system call of the runtime that is
// repeated after a signal. During such a call, another thread may ask for the
// thread's stack by a signal.
static inline void mprof_thread_set_interruptible(bool is) {
  if (mprof_tls.self)
    atomic_store(&mprof_tls.self->may_be_interrupted, is);
}

// Data about a thread, as stored by mprof_threads_list.
struct mprof_thread_info {
  int tid;
  const struct mprof_bucket *created; // stack that created it; NULL: unknown
  uintptr_t runs;                     // the thread's start function; 0: unknown
};
// Stores data about the live threads in v, newest first, but about at most cap
// threads. Returns the number of all live threads. Call with the guard set.
size_t mprof_threads_list(struct mprof_thread_info *v, size_t cap);

// Calls fn for each live thread, newest first. Call with registry_lock held.
void mprof_threads_each(void (*fn)(struct mprof_thread *t, void *arg),
                        void *arg);

// Waits until no thread is writing a trace record. If a thread has not finished
// its record after a second, sets the thread's has_left_trace and does not wait
// longer for it. Call with registry_lock held, when no thread can begin a
// record.
void mprof_threads_leave_trace(void);

// Stores 0 in the countdown of every thread, so that each thread draws a new
// countdown at its next allocation. Returns when no thread can overwrite the 0
// by mistake, or has drawn a countdown for rate_epoch. Call with registry_lock
// held.
void mprof_threads_interrupt(uint64_t rate_epoch);

// Returns the next random number of the calling thread. (Go: cheaprand64) The
// initial state comes from the kernel. With the option seed, it comes from the
// seed and the thread's ordinal number.
uint64_t mprof_thread_random(void);

// Creates the pthread key whose destructor reports the end of each thread.
// Called at start.
void mprof_threads_init(void);
// Removes all threads from the registry. Called in a forked child, where only
// the calling thread exists. That thread gets a new record at its next event.
void mprof_threads_reset(void);

extern struct mprof_lock mprof_registry_lock;

// Functions that are called when threads begin and end. The module that
// collects the stacks of all threads (thread_stacks.h) sets these pointers once
// at start, because this file must not depend on that module.
extern struct mprof_thread_observer {
  // Called when thread t is about to be added to the registry. The caller holds
  // registry_lock.
  void (*entered_locked)(struct mprof_thread *t);
  // Called when the calling thread ends and is about to be removed from the
  // registry.
  void (*ending)(const struct mprof_thread *t);
} mprof_thread_observer;

#endif // MPROF_RT_THREAD_THREADS_H
