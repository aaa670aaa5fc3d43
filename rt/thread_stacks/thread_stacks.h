// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the stacks of all threads. One collection is called a round, and the
// thread that runs the round is the reader. Each thread has a slot for its
// stack. The reader fills the slot of a thread that waits. Any other thread
// fills its own slot, either in the handler of the reader's signal, or when the
// thread begins or ends a wait (thread_wait.h). Only one round is active at a
// time. (Go: goroutineProfileWithLabelsConcurrent)

#ifndef MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
#define MPROF_RT_THREAD_STACKS_THREAD_STACKS_H

#include "bucket/bucket.h"
#include "sys/base.h"
#include "sys/lock.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

struct mprof_proc_thread;
struct mprof_thread_slot;
struct mprof_wait;

// --- unnoted waits (thread_unnoted.c) ---
//
// Finds the hooked function, such as sem_wait, in which a thread waits, if the
// wait is unnoted: the thread has not stored the address of its struct
// mprof_wait in its record (thread_wait.h). A wait is unnoted if it began
// before the runtime asked the threads to note their waits, or if
// uninstrumented code waits. The functions use the kernel's data about the
// thread and the first frames of the thread's stack. They do not disturb the
// thread.

struct mprof_unnoted {
  uintptr_t op;     // address of the hooked function
  uintptr_t caller; // return address in the caller of op; 0: unknown
  uintptr_t pc;     // address of the instruction after the system call
  // Number of addresses in an unwound stack that precede the address in the
  // caller of op. These addresses belong to libc.
  uint8_t inner;
  uint8_t kind; // enum mprof_kind of op
  // True: the frame of the function op is on the stack. False: only the call of
  // op is known. (The last action of some functions of libc is a jump to
  // another function, which then uses their frame.)
  bool is_on_stack;
  // Only if is_on_stack: number of frames from the system call to the first
  // hooked function. This function is op, or a hooked function that op has
  // called (mtx_lock calls pthread_mutex_lock).
  uint8_t before;
};

// Finds the hooked function in which a thread sleeps. p: the state of the
// thread. Returns false if the thread is not in a system call of libc, or if
// the function is unknown.
bool mprof_unnoted_find(const struct mprof_proc_thread *p,
                        struct mprof_unnoted *u);
// Makes the hooked function of slot->unnoted the leaf of the stack in the slot.
// This leaf replaces the functions of libc that the hooked function has called.
// Changes nothing if the thread has left that wait before it filled the slot.
void mprof_unnoted_name(struct mprof_thread_slot *slot);

// --- the slots of a round (thread_slots.c) ---
//
// The states of a slot:
//
//   Absent ---> InProgress (one thread fills it) ---> Satisfied

enum mprof_stack_source {
  // The thread has unwound its own stack, in the signal handler.
  MPROF_STACK_OF_RUNNING,
  // The stack of a noted wait, that is, of a wait whose address is in the
  // thread's record (thread_wait.h). The reader, or the thread itself at the
  // begin or end of the wait, has unwound the stack.
  MPROF_STACK_OF_WAITING,
  // The thread has unwound its own stack, in the signal handler. The handler
  // has interrupted a futex wait whose address is not in the thread's record.
  // If the function of this wait is known (struct mprof_unnoted), the reader
  // changes the source to MPROF_STACK_OF_WAITING.
  MPROF_STACK_IN_FUTEX,
  // The thread has not answered, or could not be asked because the signal would
  // have made a system call of the thread fail with EINTR. The slot has only
  // the data that the kernel shows in /proc, with at most two addresses.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// The slot of a thread. The fields from `source` on are the result. The thread
// that has changed the slot's state to InProgress writes these fields.
struct mprof_thread_slot {
  int tid;
  // The thread's record. NULL: the thread is not in the registry. Written under
  // registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_examined; // the reader has tried to read or ask the thread
  bool is_asked;    // the reader has sent the signal to the thread
  bool may_later;   // the thread cannot be asked now, but perhaps later
  bool is_listed;   // the slot is in the list of asked threads
  struct mprof_thread_slot *next_asked;
  // How often the reader has examined the thread and could not ask it, as TRIES
  // in thread_collect.c counts.
  unsigned char tries;
  // Processor time of the thread at the last of these times. For
  // MPROF_STACK_UNREAD: shortly before the kernel's data were read.
  uint64_t tried_ns;
  // Processor time and number of sleeps of the thread when the reader first
  // found the thread running. ran_ns is 0 before that time.
  uint64_t ran_ns, sleeps;
  bool is_gone; // the thread has ended
  // true: the runtime sees the end of the thread, and delays this end while a
  // reader reads the thread's stack.
  bool sees_exit;
  // In a round that stops all threads: address of the wait that the thread
  // cannot end before the round ends; 0: none.
  uintptr_t held;
  // The ucontext_t that the kernel has passed to the signal handler. NULL: the
  // handler has not run.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_ABSENT, ...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // enum mprof_kind of the wait
  uint8_t grade;     // enum mprof_stuck_grade; set for stuck threads
  // State in /proc; 0: unknown. For MPROF_STACK_UNREAD at the end of the round,
  // otherwise when the thread was asked.
  char kernel_state;
  int holder; // stuck thread: id of the thread that holds the lock, or 0
  // Another stuck thread waits for this stuck thread. Grouping keeps such
  // threads apart, so that a reader of the profile can follow the waits.
  bool is_awaited;
  int syscall; // of the same time: see struct mprof_proc_thread
  // The noted wait: its duration so far and its begin in ticks, the object, and
  // the address of its struct mprof_wait if the reader has read the stack,
  // otherwise 0.
  uint64_t waited, wait_start;
  uintptr_t object, wait;
  int fd; // the file of a wait of kind io, or of a system call that is not read
  // The thread has not run since the sample that struct mprof_same_stack has.
  // The slot then has no stack.
  bool is_known;
  // The function in which the thread waited when the reader examined the
  // thread, if the address of this wait is not in the thread's record. op is 0
  // if the function is unknown.
  struct mprof_unnoted unnoted;
  const struct mprof_bucket *created; // creation stack; NULL: unknown
  uint64_t count; // after grouping: number of threads with this stack
  // The thread's stack and labels. For a stuck thread, also the object for
  // which the thread waits. NULL: nobody has begun to fill the slot.
  struct mprof_bucket *stack;
};

// What the caller of a round knows of an earlier one. The functions return
// whether a thread has the same stack as then, so that it need not be read.
struct mprof_same_stack {
  // at: address of the noted wait in which the thread is. start: its begin.
  bool (*in_wait)(const struct mprof_thread_slot *slot, uintptr_t at,
                  uint64_t start);
  // For a thread that is in no noted wait.
  bool (*asleep)(const struct mprof_thread_slot *slot);
};

struct mprof_thread_stacks {
  // Pointers to the filled slots; `len` is their number. The calling thread's
  // slot is first.
  struct mprof_thread_slot **v;
  size_t len;
  size_t threads; // sum of the counts of the slots in v
  // For the profile of stuck threads: number of threads that were not examined,
  // because they sleep in a futex wait whose address is not in their records.
  size_t unseen;
  int64_t time_ns; // time of the round: nanoseconds of CLOCK_REALTIME
  // A difference of two profiles: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
  // The remaining fields are used only while the stacks are collected.
  struct mprof_thread_slot *slots;
  size_t slots_len, slots_cap;
  // Memory for the stacks of the slots, one after the other. stacks_used:
  // number of bytes that are used. Accessed atomically, because several threads
  // may fill their slots at once.
  char *stacks;
  size_t stacks_used;
  // Hash table by thread id. An entry is a slot's number + 1; 0: unused.
  uint32_t *index;
  size_t index_size; // number of entries of `index`; a power of two
  uint32_t depth;    // maximum number of addresses in a stack
  bool stops;        // true: all threads stop until the round ends
  const struct mprof_same_stack *same; // NULL: all stacks are read
  // Buffer for `depth` addresses. The reader unwinds a stack into this buffer.
  // It copies the stack to the slot after it has checked that the stack is
  // valid.
  mprof_pc *scratch;
  size_t mapped_bytes;
};

static inline struct mprof_thread_slot *
mprof_slot_at(const struct mprof_thread_stacks *s, size_t i) {
  return &s->slots[i];
}
static inline unsigned mprof_slot_number(const struct mprof_thread_stacks *s,
                                         const struct mprof_thread_slot *slot) {
  return (unsigned)(slot - s->slots);
}
// Returns the number of bytes of a stack with at most `depth` addresses.
static inline size_t mprof_slot_stack_bytes(size_t depth) {
  return (sizeof(struct mprof_bucket) + depth * sizeof(mprof_pc) + 15) &
         ~(size_t)15;
}
// Provides the pages for short stacks of as many threads as have slots. This
// costs less than the page faults of many threads.
void mprof_slots_populate(const struct mprof_thread_stacks *s);
// Returns the position in s->index where the search for thread tid begins.
size_t mprof_slot_place(const struct mprof_thread_stacks *s, int tid);
// Returns the slot of the thread with id tid. Returns NULL if the thread has no
// slot.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

// --- the active round ---
//
// A round is one collection of the stacks of all threads.

extern MPROF_HIDDEN struct mprof_round {
  atomic_uint active;  // number of the active round; 0: none
  atomic_uint users;   // number of threads that use the slots now
  atomic_uint stopped; // 1: a thread that has reported its stack waits
                       // until this field is 0 again
  // The thread whose stack the reading thread reads now, or NULL.
  _Atomic(const struct mprof_thread *) reading;
  struct mprof_thread_stacks *stacks; // The slots. Written before `active`.
} mprof_round;

// Returns the slot with the number `slot`, if the active round has the number
// `round`. In this case the round does not end before the caller calls
// mprof_round_leave. Otherwise returns NULL, and mprof_round_leave must not be
// called. Signals must be blocked from this call to mprof_round_leave.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Changes the slot's state from Absent to InProgress, so that the caller may
// fill the slot, and provides memory for a stack of `depth` addresses. Returns
// false if another thread has claimed the slot first.
bool mprof_slot_claim(struct mprof_thread_stacks *s,
                      struct mprof_thread_slot *slot, size_t depth);
// Changes the state of a filled slot from InProgress to Satisfied.
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// Unwinds the stack of a thread that is in wait w. The leaf of the stack is the
// hooked function in which the thread waits. Returns the number of addresses.
// range: bounds of the stack.
// pcs: receives at most depth addresses.
// end: receives whether the stack is complete or truncated.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, int tid, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// Stores the kind of wait w and its duration so far in the slot.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

// --- a round (thread_stacks.c) ---

// The ids of the threads of the process, without the runtime's own threads, in
// the order in which the threads were created.
struct mprof_tids {
  int *v;
  size_t len, mapped_bytes;
  size_t missing; // number of threads that the kernel has not listed
};
// Lists the threads. Threads that are created meanwhile may be missing. Returns
// 0 or -errno. After an error, the list is empty. Free *t with mprof_tids_free.
int mprof_tids_list(struct mprof_tids *t);
void mprof_tids_free(struct mprof_tids *t);

// Collects the stacks of all threads except the profiler's own threads.
// Acquires stacks_lock. Call with the recursion guard set. frame: frame address
// of the calling function. The stack of the calling thread
//   begins with the caller of this function.
// limit: maximum number of threads.
// stops: true: all threads are stopped until all stacks are collected; false:
//   each thread goes on as soon as its own stack is collected.
// Returns 0, or -ENOMEM, or -ERANGE if there are more threads than limit. After
// -ERANGE, s->threads is the number of threads, and no thread was disturbed.
// Free *s with mprof_thread_stacks_free.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// Does the same for a sample of all threads, in which a slot has no stack if
// `same` knows it.
int mprof_thread_stacks_sample(struct mprof_thread_stacks *s,
                               const struct mprof_same_stack *same);
// Stops all threads, collects their stacks, and calls inspect(s, arg) before
// the threads go on. Holds registry_lock during the call of inspect. Acquires
// stacks_lock. Returns 0 or -ENOMEM. After an error, inspect was not called.
// Call with the recursion guard set. Free *s with mprof_thread_stacks_free.
// frame: as for mprof_thread_stacks_take.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// These functions acquire and release stacks_lock. While the caller holds the
// lock, nobody collects the stacks of all threads.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// Resets this module in a forked child, where nobody collects stacks.
void mprof_thread_stacks_reset(void);

// --- asking a running thread (thread_ask.c) ---
//
// The signal that asks a running thread for its stack. The signal's value has
// two numbers: the number of the round (the present collection of all stacks;
// see above) and the number of the slot that the thread must fill. The signal's
// handler is installed only during a round. The handler fills the slot. If the
// runtime has not sent the signal, the handler calls the program's handler
// instead.
//
// Call mprof_ask_begin, mprof_ask and mprof_ask_end with stacks_lock held.

struct mprof_proc_thread;
// Returns the number of the signal, which the option threads_signal selects.
int mprof_ask_signal(void);
// Installs the signal handler. Returns 0 or -errno. After an error, mprof_ask
// fails for all threads.
int mprof_ask_begin(void);
// Sends thread tid the signal that asks for its stack. Returns 0 or -errno.
// round: number of the active round.
// slot: number of the thread's slot.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Waits for a short time until all sent signals have arrived, and then removes
// the signal handler. If a signal may still arrive later, the handler stays
// installed.
// lost: number of threads that were asked and have ended without an answer.
void mprof_ask_end(unsigned lost);
// Removes the signal handler and ends all pauses in a forked child. A forked
// child has no pending signals, so no signal of the parent can still arrive.
void mprof_ask_reset(void);

// --- the system call that a signal handler has interrupted ---
//
// The functions read the registers that the kernel saved before it called the
// handler. Call them in the handler.

// Describes in *p the system call that the signal handler has interrupted.
// Returns false if the handler has not interrupted a system call. If the call
// has failed with EINTR, p->syscall is MPROF_SYSCALL_UNKNOWN. Otherwise the
// kernel will restart the call when the handler returns.
// frame: frame address of a function that the handler has called.
bool mprof_interrupted_call(uintptr_t frame, struct mprof_proc_thread *p);
// Describes in *p the system call that a signal handler has interrupted. The
// results are those of mprof_interrupted_call.
// context: the ucontext_t that the kernel has passed to the handler.
bool mprof_call_of_context(const void *context, struct mprof_proc_thread *p);
// Returns whether the thread will sleep again in the interrupted futex call p
// when the handler has returned. The thread sleeps again if the futex word
// still has a value for which the call waits. Returns false if p is not a futex
// call.
// calls_again: true: the caller of the system call repeats the call after
//   EINTR.
bool mprof_sleeps_again(const struct mprof_proc_thread *p, bool calls_again);
// Returns the wait whose system call the signal handler has interrupted.
// Returns NULL if the handler has not interrupted a wait, or if the address of
// the wait is not in the thread's record (thread_wait.h).
// frame: frame address of a function that the handler has called.
struct mprof_wait *mprof_interrupted_wait(uintptr_t frame);

// --- pauses ---
//
// Computing threads pause during a round, if more threads compute than there
// are processors. A thread can answer the reader's signal only when it has a
// processor. Without pauses, the threads that have answered would go on
// computing, and each other thread would wait for its turn, many time slices
// later. A thread that has answered therefore leaves its processor to the
// others, and to the reader, until all have answered and the reader has read
// the stacks of the waiting threads. (Go stops all threads for the same reason:
// stopTheWorld)

// A pause ends after this time, even if some threads have not answered. They
// may not be able to answer soon, for example while they wait for a disk. Among
// many threads that compute, each one is kept from running for such a time
// anyway. Tests change this variable.
extern MPROF_HIDDEN unsigned mprof_pause_ms;

// The running threads that the reader has asked by a signal.
struct mprof_asked {
  unsigned threads;
  uint64_t processors[128]; // bit i: an asked thread may run on processor i
};

// Adds thread tid, which runs and was just asked by the reader. If the asked
// threads are now more than their processors, returns true, and threads that
// answer from now on pause. Later calls return false. Call this and
// mprof_pause_end in the reader, during the round.
bool mprof_pause_asked(struct mprof_asked *a, int tid);
// Ends all pauses, and lets no thread pause from now on.
void mprof_pause_end(void);
// Returns the number of the present round of pauses. It is odd while threads
// that answer pause, and even between two rounds.
unsigned mprof_pause_round(void);
// Pauses the calling thread until this round of pauses is over. Returns at once
// if the round is over, or if the number is even. A thread that holds a lock of
// the runtime does not pause, because the reader may need the lock. Call in the
// handler of the reader's signal, after the answer.
void mprof_pause(unsigned round);

// --- filling the slots (thread_collect.c) ---
//
// Fills the slots of a round with the stacks of all threads.
// These functions run in the reader, that is, in the thread that collects the
// stacks. The reader reads the stacks of threads that wait, and asks running
// threads for their stacks by a signal. For all other threads it uses the data
// that the kernel shows in /proc. thread_stacks.c creates the slots, and begins
// and ends the round.

// The state of the calling thread while it collects the stacks of all threads.
struct mprof_reader {
  struct mprof_thread_stacks *s;
  unsigned round;
  // Whether the slots were made for the threads of the registry, without the
  // kernel's list.
  bool is_by_registry;
  // The threads that the reader asked for their stacks by a signal, and the
  // number of these that ended without an answer.
  struct mprof_asked asked;
  unsigned lost;
  // The slots of these threads, linked by next_asked.
  struct mprof_thread_slot *last_asked;
};

// Returns true if the slot is empty, no thread is filling it now, and the
// slot's thread is not known to have ended.
static inline bool mprof_slot_is_absent(const struct mprof_thread_slot *slot) {
  return !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) ==
             MPROF_SLOT_ABSENT;
}

// Returns whether slot->thread is still the record of the slot's thread. The
// thread may have ended, and a new thread may have reused its record.
static inline bool mprof_is_own_record(const struct mprof_reader *r,
                                       const struct mprof_thread_slot *slot) {
  const struct mprof_thread *t = slot->thread;
  return atomic_load(&t->round) == r->round &&
         atomic_load(&t->slot) == mprof_slot_number(r->s, slot);
}

// Acquires registry_lock, unless the round stops all threads. In a round that
// stops all threads, the reader holds the lock from the beginning. Otherwise
// the round could stop a thread that holds the lock, and the reader would wait
// for the lock forever.
static inline void mprof_reader_lock_registry(const struct mprof_reader *r) {
  if (!r->s->stops)
    mprof_lock_acquire(&mprof_registry_lock);
}
static inline void mprof_reader_unlock_registry(const struct mprof_reader *r) {
  if (!r->s->stops)
    mprof_lock_release(&mprof_registry_lock);
}

// Fills the slots with numbers >= from: reads the stacks of waiting threads,
// asks running threads by a signal, and waits for their answers. Call in the
// active round, with all signals blocked.
void mprof_collect_slots(struct mprof_reader *r, size_t from);
// Fills the slots that are still in state Absent (empty) with the data that the
// kernel shows in /proc. A thread that was asked by a signal must not begin a
// wait until the signal arrives (thread_wait.h). This function ends the
// restriction for threads that have not answered. Call after
// mprof_collect_slots, with all signals blocked.
void mprof_collect_rest(struct mprof_reader *r);

// --- the wall profile (wall.c) ---
//
// The wall profile: what all threads do, sampled by time. A thread of the
// runtime, the sampler, collects the stacks of all threads at a fixed rate
// (thread_stacks.h). Each sample adds the time since the previous round to the
// bucket of the thread's stack, labels, state and lock. So the values of the
// profile add up to the lives of the threads.

// The rate for requests, if the option wall_rate is 0.
#define MPROF_WALL_RATE 20u

// Sets the number of rounds per second, which the option wall_rate gives; 0:
// off. Starts the sampler if it does not run. Call with the guard set. Returns
// 0 or -errno.
int mprof_wall_set_rate(uint64_t hz);
// Switches the profile on for a request, even if the rate is 0. Call
// mprof_wall_let_go afterwards. Call with the guard set. Returns 0 or -errno.
int mprof_wall_hold(void);
void mprof_wall_let_go(void);
// Returns the number of rounds per second at present; 0: off.
uint64_t mprof_wall_rate(void);
// Stops the sampler until the next call of mprof_wall_set_rate. Makes no system
// call if the profile is off.
void mprof_wall_stop(void);
// Resets this module in a forked child, which has no sampler.
void mprof_wall_reset(void);
// Collects the stacks of all threads once and adds them to the profile. The
// sampler calls this function, and tests do. Only one thread may call it.
// Returns 0 or -errno. Call with the guard set.
int mprof_wall_round(void);

#endif // MPROF_RT_THREAD_STACKS_THREAD_STACKS_H
