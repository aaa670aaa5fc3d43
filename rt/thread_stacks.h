// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks of all threads. (Go: goroutineProfileWithLabelsConcurrent)
//
// Each thread of a round has a slot, which is Absent, then InProgress for the
// one who fills it, then Satisfied: that is the reader, for a thread that
// waits; or the thread itself, in a signal's handler, or where it begins or
// ends a wait.

#ifndef MPROF_RT_THREAD_STACKS_H
#define MPROF_RT_THREAD_STACKS_H

#include "contention.h"
#include "threads.h"

enum mprof_stack_source {
  MPROF_STACK_OF_RUNNING, // by the thread itself
  MPROF_STACK_OF_WAITING, // where it waits
  // By the thread itself, out of a futex's wait that has no note.
  MPROF_STACK_IN_FUTEX,
  // It did not answer, or could not be asked without ending a system call of
  // its: what the kernel tells, an address at most.
  MPROF_STACK_UNREAD,
};

enum { MPROF_SLOT_ABSENT, MPROF_SLOT_IN_PROGRESS, MPROF_SLOT_SATISFIED };

// Written by who has it InProgress.
struct mprof_thread_slot {
  int tid;
  // NULL: it is in no registry. Written under registry_lock.
  _Atomic(struct mprof_thread *) thread;
  bool is_asked;
  bool may_later;          // be asked
  unsigned char tries;     // of asking it, without reason to hope for more
  uint64_t ran_ns, sleeps; // when its run was first looked at; ran_ns 0: never
  bool is_gone;
  bool sees_exit; // the thread's end waits for readers
  uintptr_t held; // the wait that it is kept in; 0: none
  // A ucontext_t of one that stands still in the handler of the signal.
  const void *_Atomic context;
  atomic_uint state; // MPROF_SLOT_...
  uint8_t source;    // enum mprof_stack_source
  uint8_t kind;      // of the wait
  uint8_t grade;     // of one that is stuck: enum mprof_stuck_grade
  char kernel_state; // UNREAD: R, S, D, ... as in /proc; 0: unknown
  int syscall;       // UNREAD: as in struct mprof_proc_thread
  uint64_t waited;   // ticks
  const struct mprof_bucket *created; // as in struct mprof_thread
  uint64_t count; // after grouping: threads with this stack and source
  // With the labels and, of one that is stuck, the object that it waits for;
  // last: its addresses follow.
  struct mprof_bucket stack;
};

struct mprof_thread_stacks {
  struct mprof_thread_slot **v; // those with a result; the caller's first
  size_t len;
  size_t threads; // sum of the counts
  // Of those that are stuck: threads that sleep in a futex without a note, and
  // so were not judged.
  size_t unseen;
  int64_t time_ns; // CLOCK_REALTIME
  // The rest is of the round.
  char *slots;
  size_t slots_len, slots_cap, stride;
  uint32_t *index;   // of slots by thread id: number + 1, open addressing
  size_t index_size; // a power of two
  uint32_t depth;
  bool stops;
  mprof_pc *scratch; // depth entries, for readings that may be void
  size_t mapped_bytes;
};

static inline struct mprof_thread_slot *
mprof_slot_at(const struct mprof_thread_stacks *s, size_t i) {
  return (struct mprof_thread_slot *)(s->slots + i * s->stride);
}
static inline unsigned mprof_slot_number(const struct mprof_thread_stacks *s,
                                         const struct mprof_thread_slot *slot) {
  return (unsigned)((size_t)((const char *)slot - s->slots) / s->stride);
}
// That of a thread by its id; NULL if it has none.
struct mprof_thread_slot *mprof_slot_of(const struct mprof_thread_stacks *s,
                                        int tid);

// Takes one of all threads but the profiler's own; frame: the caller's frame
// address, whose caller comes first on its own stack. stops: all stand still
// together meanwhile. 0; ENOMEM; ERANGE where there are more than limit, which
// disturbs none, and then threads says how many. Free it with
// mprof_thread_stacks_free. Call with the guard set.
int mprof_thread_stacks_take(struct mprof_thread_stacks *s, uintptr_t frame,
                             size_t limit, bool stops);
// The same, with all threads stopped; calls inspect before they go on, with
// the registry's lock held, if there is no error.
int mprof_thread_stacks_inspect(struct mprof_thread_stacks *s, uintptr_t frame,
                                void (*inspect)(struct mprof_thread_stacks *s,
                                                void *arg),
                                void *arg);
// The runtime's own thread, which is in no profile; 0: there is none.
extern atomic_int mprof_own_thread;
// snapshot_stacks.c: one for each stack and source, most threads first.
void mprof_thread_stacks_group(struct mprof_thread_stacks *s);
void mprof_thread_stacks_free(struct mprof_thread_stacks *s);
// Keeps others from reading threads: there is no round between the two.
void mprof_stacks_lock(void);
void mprof_stacks_unlock(void);
// In a forked child: no round is under way.
void mprof_thread_stacks_reset(void);

// --- the round under way; thread_wait.c, thread_ask.c ---

extern struct mprof_round {
  atomic_uint active;  // its number; 0: there is none
  atomic_uint users;   // threads that use its slots
  atomic_uint stopped; // 1 while threads that have answered stand still
  _Atomic(const struct mprof_thread *) reading; // whose stack is being read
  struct mprof_thread_stacks *stacks;           // written before active
} mprof_round;

// The slot of a number in the round under way, which then does not end before
// mprof_round_leave; NULL if that is another round. Signals must be blocked
// between the two.
struct mprof_thread_slot *mprof_round_enter(unsigned round, unsigned slot);
void mprof_round_leave(void);
// Makes a slot InProgress, for the caller to fill; false if another was first.
bool mprof_slot_claim(struct mprof_thread_slot *slot);
void mprof_slot_satisfy(struct mprof_thread_slot *slot);
// The stack of a thread in wait w, the function that it waits in first.
size_t mprof_unwind_wait(struct mprof_stack_range *range,
                         const struct mprof_wait *w, mprof_pc *pcs,
                         size_t depth, enum mprof_stack_end *end);
// What a slot tells of it besides.
void mprof_slot_note_wait(struct mprof_thread_slot *slot,
                          const struct mprof_wait *w);

// --- thread_ask.c: the signal that asks a thread for its stack ---

// Its number.
int mprof_ask_signal(void);
// 0, or an errno value, and then nobody can be asked.
int mprof_ask_begin(void);
// Asks thread tid for a slot of a round. 0 or -errno.
long mprof_ask(int tid, unsigned round, unsigned slot);
// Takes the handler away, unless some of those that were asked may still get
// their signal; lost: those of them that have ended.
void mprof_ask_end(unsigned lost);
// In a forked child.
void mprof_ask_reset(void);

// --- proc_threads.c: what the kernel says of threads ---

// Writes the first cap of the process's threads to tids, in the order they were
// created in, and returns how many there are, or -errno.
long mprof_proc_threads(int *tids, size_t cap);
enum { MPROF_SYSCALL_NONE = -1, MPROF_SYSCALL_UNKNOWN = -2 };
struct mprof_proc_thread {
  char state;       // R, S, D, T, ...
  uint64_t blocked; // signals; bit s - 1 for signal s
  uint64_t ran_ns;  // processor time that it has used
  uint64_t sleeps;  // that it has begun, looked at after ran_ns
  int syscall;      // its number, or one of those above
  uint64_t args[6];
  uintptr_t pc; // 0: unknown
};
// False if there is no such thread any more.
bool mprof_proc_thread(int tid, struct mprof_proc_thread *p);
// "" where the kernel does not say. False if the thread has ended.
bool mprof_proc_thread_name(int tid, char name[MPROF_THREAD_NAME]);

// --- thread_noting.c ---

// Whether a thread that runs, as p says, is known not to be in a call that it
// has begun without a note: if not, it may be at a later look.
bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p);

#endif // MPROF_RT_THREAD_STACKS_H
