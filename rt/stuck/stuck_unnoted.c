// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the locks of unnoted waits, which the threads have not recorded; see
// stuck.h. An unnoted wait is recognized by the system call in which the
// thread sleeps. A thread is judged only if it sleeps in this call without a
// break while the owners of all locks are read. The kernel counts how often a
// thread has gone to sleep. If this count is the same before and after the
// owners are read, the thread has not run meanwhile.

#include "stuck/stuck.h"

#include "lock_wait/hooked.h"
#include "sys/arch.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/unwind.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

// --- the system call ---

// Reads the system call in which thread x sleeps. If x is the calling thread,
// or a thread that is stopped, a signal handler may have interrupted the call.
// In this case, reads the call that x will continue when the handler returns.
static bool read_call(const struct mprof_stuck_thread *x,
                      const struct mprof_thread_slot *slot,
                      struct mprof_proc_thread *p) {
  if (x->tid == mprof_sys_gettid()) {
    const struct mprof_caller *inside =
        mprof_tls.self ? mprof_tls.self->inside : NULL;
    return inside && mprof_interrupted_call(inside->frame, p) &&
           mprof_sleeps_again(p, true);
  }
  if (slot)
    return slot->context && mprof_call_of_context(slot->context, p);
  return mprof_proc_thread(x->tid, p) && p->state == 'S' && p->sleeps != 0;
}

// --- the lock ---

#ifdef __GLIBC__
// Values of a futex word at which the lock functions of glibc begin to sleep.
// The word of a mutex with waiters is 2. An rwlock has two futex words. In both
// words, bit 1 means that there are waiters. Bit 0 of __wrphase_futex means
// that the lock is held for writing. Bit 0 of __writers_futex means that there
// is a writer.
enum { MUTEX_HAS_WAITERS = 2, RWLOCK_HAS_WRITER = 3 };

// Returns the address of the lock for which a thread waits in the futex call p.
// awaited: the kind of lock. Returns 0 if this code does not understand the
// futex call.
static uintptr_t lock_of(const struct mprof_proc_thread *p,
                         enum mprof_awaited awaited) {
  const uintptr_t word = p->args[0];
  const uint32_t value = (uint32_t)p->args[2];
  switch (awaited) {
  case MPROF_AWAITS_MUTEX:
    return value == MUTEX_HAS_WAITERS
               ? word - offsetof(pthread_mutex_t, __data.__lock)
               : 0;
  case MPROF_AWAITS_READ:
    return value == RWLOCK_HAS_WRITER
               ? word - offsetof(pthread_rwlock_t, __data.__wrphase_futex)
               : 0;
  case MPROF_AWAITS_WRITE:
    return value == RWLOCK_HAS_WRITER
               ? word - offsetof(pthread_rwlock_t, __data.__writers_futex)
               : 0;
  default:
    return 0;
  }
}
#else
static uintptr_t lock_of(const struct mprof_proc_thread *p,
                         enum mprof_awaited awaited) {
  return (void)p, (void)awaited, 0;
}
#endif

// Returns whether the thread waits without a timeout for a futex of this
// process alone. If a lock is shared between processes, the owner's id in the
// lock may come from another PID namespace. In this process, another thread may
// have the same id.
static bool waits_for_ever(const struct mprof_proc_thread *p) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  return p->syscall == SYS_futex && p->args[3] == 0 &&
         (p->args[1] & FUTEX_PRIVATE_FLAG) != 0 &&
         (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

void mprof_stuck_unnoted_find(struct mprof_stuck_thread *x,
                              const struct mprof_thread_slot *slot) {
  // Between the lock function and the system call there is at most one other
  // function. More functions mean that the futex does not belong to the lock.
  enum { BEFORE_MAX = 1 };
  struct mprof_proc_thread p;
  struct mprof_unnoted u;
  if (!read_call(x, slot, &p) || !waits_for_ever(&p) ||
      !mprof_unnoted_find(&p, &u) || !u.is_on_stack || u.before > BEFORE_MAX)
    return;
  const enum mprof_awaited awaited = mprof_awaited_of(u.op, u.kind);
  const uintptr_t lock = lock_of(&p, awaited);
  if (lock == 0)
    return;
  x->awaited = (uint8_t)awaited;
  x->is_unnoted = true;
  x->futex = p.args[0];
  x->sp = p.sp;
  x->wait = (struct mprof_wait){
      .op = u.op, .kind = u.kind, .object = lock, .pc = u.caller};
}

// --- checks that a thread still sleeps ---

static bool is_same(const struct mprof_stuck_thread *x,
                    const struct mprof_proc_thread *p) {
  return waits_for_ever(p) && p->args[0] == x->futex && p->sp == x->sp;
}

bool mprof_stuck_unnoted_sleeps(struct mprof_stuck_thread *x) {
  struct mprof_proc_thread p;
  if (!read_call(x, NULL, &p) || !is_same(x, &p))
    return false;
  x->sleeps = p.sleeps;
  return true;
}

// First checks that the thread is in the same system call, and then reads the
// number of sleeps again. If the thread had left the call and entered the call
// again, this number would be larger than x->sleeps.
bool mprof_stuck_unnoted_has_slept(const struct mprof_stuck_thread *x) {
  struct mprof_proc_thread p, after;
  return read_call(x, NULL, &p) && is_same(x, &p) &&
         read_call(x, NULL, &after) && after.sleeps == x->sleeps;
}

// --- stacks ---

void mprof_stuck_unnoted_stack(const struct mprof_stuck_thread *x,
                               struct mprof_thread_slot *slot, size_t depth) {
  const mprof_pc pcs[] = {mprof_op_pc(x->wait.op), x->wait.pc};
  const size_t known = x->wait.pc == 0 ? 1 : 2;
  slot->tid = x->tid;
  slot->count = 1;
  slot->source = MPROF_STACK_OF_WAITING;
  slot->kind = x->wait.kind;
  slot->grade = x->grade;
  slot->stack->object = x->wait.object;
  if (x->thread)
    slot->stack->labels = atomic_load(&x->thread->labels);
  slot->stack->stack_len = (uint32_t)(known < depth ? known : depth);
  slot->stack->end = MPROF_STACK_CUT_CHAIN;
  memcpy(slot->stack->stack, pcs, slot->stack->stack_len * sizeof(pcs[0]));
}

// Returns the index in the stack b of the function that called the lock
// function of thread x. Returns 0 if b does not contain this caller. If x is
// the calling thread, b begins with the frames of the signal handler in which
// the search runs, so the index is not fixed.
static uint32_t find_caller(const struct mprof_stuck_thread *x,
                            const struct mprof_bucket *b) {
  for (uint32_t i = 1; x->wait.pc != 0 && i < b->stack_len; i++)
    if (b->stack[i] == x->wait.pc)
      return i;
  return 0;
}

static void complete(const struct mprof_stuck_thread *x,
                     const struct mprof_thread_slot *whole, size_t depth) {
  struct mprof_bucket *b = x->slot->stack;
  const uint32_t first = find_caller(x, whole->stack);
  if (first == 0 || depth == 0)
    return;
  const uint32_t rest = whole->stack->stack_len - first;
  memcpy(b->stack + 1, whole->stack->stack + first, rest * sizeof(b->stack[0]));
  b->stack_len = rest + 1;
  b->end = whole->stack->end;
  b->labels = whole->stack->labels;
  x->slot->created = whole->created;
}

void mprof_stuck_unnoted_complete(struct mprof_stuck *g,
                                  const struct mprof_caller *caller) {
  struct mprof_thread_stacks s;
  bool is_needed = false;
  for (size_t i = 0; i < g->len; i++)
    is_needed |= g->v[i].is_unnoted && g->v[i].grade != MPROF_MAY_RUN;
  if (!is_needed)
    return;
  if (mprof_thread_stacks_take(&s, caller->frame, SIZE_MAX, false) == 0) {
    for (size_t i = 0; i < s.len; i++) {
      const size_t k = mprof_stuck_graph_find(g, s.v[i]->tid);
      if (k != MPROF_NO_THREAD && g->v[k].is_unnoted && g->v[k].slot)
        complete(&g->v[k], s.v[i], g->stacks.depth);
    }
  }
  mprof_thread_stacks_free(&s);
}
