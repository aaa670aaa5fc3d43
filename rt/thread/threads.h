// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of threads. It has a struct mprof_thread for each thread that
// has had an event. The struct points to the buffers for the thread's events.
// The buffers are too large for the stack, because a thread's whole stack may
// have only 16 KiB. Structs are reused but never freed. (Go: m, as far as
// profiles use it)

#ifndef MPROF_RT_THREAD_THREADS_H
#define MPROF_RT_THREAD_THREADS_H

#include "sys/base.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "unwind/unwind.h"

struct mprof_bucket;
struct mprof_caller;
struct mprof_holds;
struct mprof_thread_order;

// A shard is a small number that selects the counters in which a thread counts
// its events (counts.h). Each of the shards 1 to MPROF_OWN_SHARDS belongs to
// one thread at a time. If all of these are taken, further threads share the
// next MPROF_COMMON_SHARDS shards, and increment the counters atomically. 0
// means that the thread has no shard.
#define MPROF_OWN_SHARDS 105u
#define MPROF_COMMON_SHARDS 15u

// Number of entries of a thread's cache of stacks.
#define MPROF_KNOWN 256
// Number of entries of a thread's cache of buckets with these stacks: at first,
// and at most. The cache grows by a factor of MPROF_SIZED_GROWTH when more than
// one of MPROF_SIZED_ROOM entries is in use. Most threads of a program with
// thousands of threads need few entries.
#define MPROF_SIZED_MIN 32
#define MPROF_SIZED_MAX 2048
#define MPROF_SIZED_GROWTH 4
#define MPROF_SIZED_ROOM 8

// An entry of a thread's cache of buckets with the stacks of known[]. The first
// three fields are handles (persistent.h), so that an entry has 16 bytes.
struct mprof_sized {
  uint32_t known;  // the bucket in known[]; 0: the entry is unused
  uint32_t bucket; // a bucket with the same stack
  // The thread's cell (bucket.h) in `bucket`, if `bucket` differs from `known`
  // only in its size, which is `size`. Otherwise 0.
  uint32_t cell;
  uint32_t size;
};

// The buffers of a thread. They are allocated at the thread's first sample,
// because many threads have no sample.
struct mprof_scratch {
  // Buckets whose slots tell a stack, by call site and caller's frame address.
  // See bucket.c.
  struct mprof_bucket *known[MPROF_KNOWN];
  struct mprof_sized few[MPROF_SIZED_MIN]; // see `sized` of struct mprof_thread
  uint32_t depth;                          // value of the option stack_depth
  // `depth` entries for the stacks of events, then `depth` entries for the
  // stacks of the lock profile.
  mprof_pc stack[];
};
static inline mprof_pc *mprof_scratch_lock_stack(struct mprof_scratch *s) {
  return s->stack + s->depth;
}

// The last sampled block that the thread has allocated. Used by heapx.c.
struct mprof_heapx_last {
  const void *ptr;   // NULL: no sampled block, or the block was freed
  int64_t countdown; // the thread's sampling countdown at the allocation
  // Value that the slot for ptr in the table marks[] (heapx.c) had at the
  // allocation. The slot changes if another thread frees the block.
  uint64_t mark;
};

// What is known about the function that a thread runs.
struct mprof_thread_runs {
  uintptr_t start; // address of the start function; 0: unknown
  // A std::thread of libc++ has a start function that calls what the program
  // has passed to the thread. This field is the address of a function, if the
  // position of the passed object contains such an address; 0: it does not. The
  // object may be larger than the address, for example a lambda that has
  // captured a function. The name of `start` contains the type of the object.
  uintptr_t passed;
};

// What the CPU profile has got from a timer. Other threads read it.
struct mprof_cpu_seen {
  uint64_t first_ns; // the thread's processor time at the first period's end
  _Atomic uint64_t periods; // number of periods that signals have told
  // Number of further periods that are in the profile already, because the
  // thread blocks the signal that will tell them.
  _Atomic uint64_t early;
};

// The thread's timer for the CPU profile (cpu.h), if the thread has made it
// itself.
struct mprof_thread_cpu {
  // The kernel's number of the timer + 1; 0: none. MPROF_CPU_REFUSED: the
  // kernel has refused it. The end of the profile takes it from all threads.
  atomic_uint timer_plus_1;
  struct mprof_cpu_seen seen; // written before timer_plus_1
};

#define MPROF_CPU_REFUSED UINT32_MAX

// The record of a thread. Only the thread itself uses a field, unless the
// comment on the field names a lock or other threads.
struct mprof_thread {
  struct mprof_thread *next, *prev; // guarded by registry_lock
  int tid;                          // guarded by registry_lock
  // Address of the thread's __mprof_heap_countdown. The address is invalid
  // after the thread has ended. So it is NULL if the runtime may fail to notice
  // the end of the thread. Guarded by registry_lock.
  int64_t *countdown;
  // Address of the thread's recursion guard. Valid if `countdown` is not NULL.
  // Guarded by registry_lock.
  volatile uintptr_t *guard;
  // The epoch (version number) of the sampling rate with which the thread drew
  // its last countdown. Other threads read this field.
  _Atomic uint64_t rate_epoch;
  struct mprof_stack_range range;
  struct mprof_scratch *scratch;
  // Cache of buckets that have the stack of a bucket in scratch->known[], by
  // this bucket and the size or object. It has sized_mask + 1 entries: at first
  // scratch->few, and a larger array when the thread needs more (bucket.c).
  // sized_replaced: number of entries that other buckets have replaced.
  struct mprof_sized *sized;
  uint32_t sized_mask, sized_replaced;
  // Not 0 while the thread is writing a trace record. Other threads read this
  // field.
  atomic_uint in_trace;
  // Bucket that holds the stack of the call that created the thread. NULL: the
  // runtime did not see this call. Guarded by registry_lock.
  struct mprof_bucket *created;
  struct mprof_thread_runs runs; // guarded by registry_lock
  // Number that selects the thread's counters (counts.h). Guarded by
  // registry_lock.
  uint16_t shard;
  struct mprof_heapx_last last; // used only with the option heapx
  // True: the thread has begun a trace record, but did not finish it in time.
  // Probably a longjmp has left the code that writes the record. Guarded by
  // trace_lock.
  bool has_left_trace;
  // The thread's present wait (thread_wait.h). While the thread waits, this
  // word is the address of its struct mprof_wait. Another thread that reads the
  // stack of the waiting thread sets flags in the low bits. While the thread
  // does not wait, the word is 0, or MPROF_WAIT_ASKED if another thread has
  // asked for the thread's stack by a signal.
  _Atomic uintptr_t wait;
  // A round is one collection of the stacks of all threads. `round` is the
  // number of the last round that includes this thread, and `slot` is the index
  // of the thread's stack in that round. The thread that runs the round writes
  // both fields under registry_lock, before the round becomes active.
  atomic_uint round;
  atomic_uint slot;
  _Atomic uint16_t labels; // copy of mprof_tls.labels, for other threads
  // Whether the thread stores each of its waits in the field `wait`. Written by
  // the thread itself, read by other threads.
  atomic_bool is_noting;
  // While the thread searches for stuck threads: the registers and frame
  // address that the thread had when it called the runtime. Otherwise NULL. The
  // search scans these values and not the runtime's own frames and registers,
  // which contain addresses that the search must not find. Other threads read
  // this field.
  const struct mprof_caller *_Atomic inside;
  unsigned inside_depth; // number of nested calls of mprof_stuck_enter
  // Whether the thread is in a system call that the runtime repeats after a
  // signal, so that a signal may interrupt the call. Other threads read this
  // field.
  atomic_bool may_be_interrupted;
  // Whether the thread is in the signal handler that gives its stack, where it
  // may pause (thread_stacks.h). Another thread may send it this signal again.
  atomic_bool is_in_handler;
  uintptr_t pthread; // the thread's pthread_t; guarded by registry_lock
  struct mprof_thread_cpu cpu;
  // Locks that the thread holds; NULL at first. Only the thread itself writes
  // this pointer.
  struct mprof_holds *holds;
  // Locks that the thread holds, in the order in which it took them, with the
  // stacks (lock_order.h); NULL at first. Only the thread itself uses it.
  struct mprof_thread_order *order;
};

// Sets the label set of the calling thread to number `labels`. Also copies the
// number to the thread's record, where other threads can read it.
static inline void mprof_thread_set_labels(uint16_t labels) {
  mprof_tls.labels = labels;
  if (mprof_tls.self)
    atomic_store_explicit(&mprof_tls.self->labels, mprof_tls.labels,
                          memory_order_relaxed);
}

// Return the record of the calling thread, and create it if needed. If
// need_scratch is true, the field `scratch` of the result is not NULL. Return
// NULL if there is no memory, or if the thread belongs to the runtime. Also
// return NULL if the thread has no record and the runtime's data describe
// another process (mprof_process_is_own). Call with the recursion guard set.
struct mprof_thread *mprof_thread_make(bool need_scratch);
static inline struct mprof_thread *mprof_thread_self(bool need_scratch) {
  struct mprof_thread *t = mprof_tls.self;
  return mprof_likely(t && (t->scratch || !need_scratch))
             ? t
             : mprof_thread_make(need_scratch);
}

// Records whether the calling thread is in a system call that the runtime
// repeats after a signal. During such a call, another thread may ask for the
// stack of this thread by a signal.
static inline void mprof_thread_set_interruptible(bool is) {
  if (mprof_tls.self)
    atomic_store(&mprof_tls.self->may_be_interrupted, is);
}

// Called by a thread that begins (true) or ends (false), with the recursion
// guard set and without a lock. t: its record. A thread whose start the runtime
// did not see only ends. NULL: none. Set once, by cpu.c.
extern MPROF_HIDDEN void (*_Atomic mprof_thread_observer)(
    struct mprof_thread *t, bool begins);
static inline void mprof_thread_observe(struct mprof_thread *t, bool begins) {
  void (*observer)(struct mprof_thread *, bool) =
      atomic_load_explicit(&mprof_thread_observer, memory_order_relaxed);
  if (mprof_unlikely(observer != NULL))
    observer(t, begins);
}

// Data about one thread, as stored by mprof_threads_list.
struct mprof_thread_info {
  int tid;
  const struct mprof_bucket *created; // creation stack; NULL: unknown
  struct mprof_thread_runs runs;
};
// Stores data about the live threads in v, newest first, for at most cap
// threads. Returns the number of all live threads, which may exceed cap. Call
// with the recursion guard set.
size_t mprof_threads_list(struct mprof_thread_info *v, size_t cap);

// Calls fn for each live thread, newest first. Call with registry_lock held.
void mprof_threads_each(void (*fn)(struct mprof_thread *t, void *arg),
                        void *arg);
// Does the same in the opposite order. This is the order of the threads'
// begins, except that a search for ended threads moves old threads to the end.
void mprof_threads_each_oldest_first(void (*fn)(struct mprof_thread *t,
                                                void *arg),
                                     void *arg);
// Returns the number of live threads in the registry. Needs no lock, but then
// the number may be out of date.
size_t mprof_threads_number(void);

// Waits until no thread is writing a trace record. If a thread has not finished
// its record after one second, sets has_left_trace of the thread and stops
// waiting for it. Call with registry_lock held, and when no thread can begin a
// new record.
void mprof_threads_leave_trace(void);

// Stores 0 in the sampling countdown of every thread whose field `countdown` is
// not NULL, so that each thread draws a new countdown at its next allocation.
// rate_epoch: version number of the new sampling rate. A thread may overwrite
// the 0 at the same time. So this function tries again, at most 100 times,
// until no thread has a countdown > 0 that it drew for an earlier rate. Call
// with registry_lock held.
void mprof_threads_interrupt(uint64_t rate_epoch);

// Returns the next random number of the calling thread. (Go: cheaprand64) The
// generator starts from a random number of the kernel. With the option seed, it
// starts from the seed and the ordinal number of the thread.
uint64_t mprof_thread_random(void);

// Creates the pthread key whose destructor removes an ending thread from the
// registry. Called at program start.
void mprof_threads_init(void);
// Removes all threads from the registry. Called in a forked child, where only
// the calling thread exists. The calling thread gets a new record at its next
// event.
void mprof_threads_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_registry_lock;

// Keeps all registered threads out of the runtime until mprof_threads_let_in:
// their events are dropped and counted as lost, as those of a signal handler
// that has interrupted the runtime. Waits for a second at most for threads that
// are inside. Returns with registry_lock held. For a change of the runtime's
// memory that no thread may see; call it in a thread of the runtime.
void mprof_threads_keep_out(void);
// Ends this, and releases registry_lock.
void mprof_threads_let_in(void);

// --- the runtime's own threads, which no profile shows ---
//
// They block all signals but libc's own, and their recursion guard is set for
// their whole life, so that no action of theirs is recorded.

enum mprof_own {
  MPROF_OWN_WATCH,     // watch.c
  MPROF_OWN_HTTP,      // http/server.c
  MPROF_OWN_SNAPSHOTS, // watch.c
  MPROF_OWN_CONTROL,   // http/server.c
  MPROF_OWN_PERSIST,   // watch.c
  MPROF_OWN_CPU,       // cpu/cpu.c
  MPROF_OWN_WALL,      // thread_stacks/wall.c
  MPROF_OWN_EMULATOR,  // no thread of the runtime, but of an emulator of
                       // processors that runs the program (proc_threads.h)
  MPROF_OWNS
};
// Their thread ids; 0: the thread does not run. Written by the thread itself.
extern MPROF_HIDDEN atomic_int mprof_own_threads[MPROF_OWNS];

static inline bool mprof_is_own_thread(int tid) {
  for (int i = 0; i < MPROF_OWNS; i++)
    if (tid ==
        atomic_load_explicit(&mprof_own_threads[i], memory_order_relaxed))
      return true;
  return false;
}
// What the calls between mprof_own_call_begin and mprof_own_call_end allocate
// is no event of the thread, whose countdown to the next sample stays as it is.
// For functions of libc that allocate memory for the runtime. Call with the
// recursion guard set.
struct mprof_own_call {
  bool is_own;
  uint64_t rate_epoch;
  int64_t countdown;
};
struct mprof_own_call mprof_own_call_begin(void);
void mprof_own_call_end(const struct mprof_own_call *before);
// Starts the thread, unless it runs. A thread that was told to end and has not
// ended yet calls `run` once more. name: at most 15 bytes, and static. Call
// with the recursion guard set. Returns 0 or -errno.
int mprof_own_start(enum mprof_own own, const char *name, void (*run)(void));
// Returns whether the thread was started and has not ended.
bool mprof_own_runs(enum mprof_own own);
// Wakes the thread. Signal safe.
void mprof_own_wake(enum mprof_own own);
// Tells the thread to end, if it runs, and wakes it.
void mprof_own_stop(enum mprof_own own);
bool mprof_own_is_stopped(enum mprof_own own);
// For the thread itself: sleeps until it is woken, at most `ms` milliseconds;
// UINT64_MAX: without a limit.
// news: what mprof_own_news has returned before the thread has looked whether
// there is work. Returns false if the thread has to end.
unsigned mprof_own_news(enum mprof_own own);
bool mprof_own_wait(enum mprof_own own, unsigned news, uint64_t ms);
// Called by the thread itself, if others learn of its end before `run` returns.
void mprof_own_end(enum mprof_own own);
// Returns the mask of signals that a thread of the runtime blocks: all but
// those that libc keeps for itself. libc sends one of them to each thread when
// the program calls setuid, and waits until each thread has changed its user
// id.
uint64_t mprof_own_thread_mask(void);

#endif // MPROF_RT_THREAD_THREADS_H
