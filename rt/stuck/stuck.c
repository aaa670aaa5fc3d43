// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds stuck threads, which will never run again; see stuck.h. If
// threads wait only for locks and joins, the waits that the threads have
// recorded suffice, so no thread is disturbed. If a thread waits for a
// condition, a semaphore or a barrier, all threads are stopped for a moment.
// Then memory is searched for this object. (Go: goroutineLeakGC)

#include "stuck/stuck.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "stuck/stuck_memory.h"
#include "sys/arch.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <sys/syscall.h>

// --- a second look ---

static bool has_same_holder(struct mprof_stuck_thread *x) {
  if (!mprof_awaits_lock(x->awaited))
    return true;
  const struct mprof_lock_holder h =
      mprof_lock_holder_of(x->wait.object, x->awaited);
  return h.tid == x->holder_tid && (h.tid != 0 || h.is_held);
}

// Unwinds the stack of a stuck thread into slot. Returns false if the thread is
// no longer in the wait that was copied to x->wait. If the thread has not
// recorded its wait (is_unnoted), stores only the first addresses of the stack
// and always returns true. has_slept checks later whether the thread is still
// in this wait.
static bool take_stack(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                       struct mprof_thread_slot *slot) {
  struct mprof_thread *t = x->thread;
  if (x->is_unnoted) {
    mprof_stuck_unnoted_stack(x, slot, g->stacks.depth);
    return true;
  }
  uintptr_t w = atomic_load(&t->wait), held = w | MPROF_WAIT_HELD;
  if (t->tid != x->tid || !mprof_stuck_has_wait(w) ||
      !atomic_compare_exchange_strong(&t->wait, &w, held))
    return false;
  const struct mprof_wait *now = (const struct mprof_wait *)x->at;
  const bool is_same = mprof_stuck_whole_wait(w) == x->at &&
                       now->start == x->wait.start && now->op == x->wait.op;
  if (is_same) {
    enum mprof_stack_end end;
    slot->tid = x->tid;
    slot->count = 1;
    slot->created = t->created;
    slot->stack->labels = atomic_load(&t->labels);
    slot->stack->object = x->wait.object;
    slot->stack->stack_len = (uint32_t)mprof_unwind_wait(
        &x->range, &x->wait, x->tid, slot->stack->stack, g->stacks.depth, &end);
    slot->stack->end = (uint8_t)end;
    slot->grade = x->grade;
    mprof_slot_note_wait(slot, &x->wait);
  }
  atomic_compare_exchange_strong(&t->wait, &held, w);
  return is_same;
}

static int make_slots(struct mprof_stuck *g) {
  struct mprof_thread_stacks *s = &g->stacks;
  *s = (struct mprof_thread_stacks){.time_ns = g->time_ns};
  s->depth = (uint32_t)mprof_flags.stack_depth;
  const size_t stack_bytes = mprof_slot_stack_bytes(s->depth);
  s->mapped_bytes =
      g->stuck * (stack_bytes + sizeof(*s->slots) + sizeof(*s->v)) + 1;
  s->slots = mprof_os_map(s->mapped_bytes);
  if (!s->slots)
    return -ENOMEM;
  s->v = (struct mprof_thread_slot **)(s->slots + g->stuck);
  s->stacks = (char *)(s->v + g->stuck);
  for (size_t i = 0; i < g->stuck; i++)
    s->slots[i].stack = (struct mprof_bucket *)(s->stacks + i * stack_bytes);
  return 0;
}

// Takes the stacks of all stuck threads. Returns false if any of these threads
// has left the wait that was copied. Before this call, mprof_stuck_sleeps has
// asked the kernel for which object each thread sleeps. The answer is about the
// copied wait only if the thread has not left this wait by now.
static bool take_stacks(struct mprof_stuck *g) {
  struct mprof_thread_stacks *s = &g->stacks;
  bool all_wait = true;
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->grade == MPROF_MAY_RUN)
      continue;
    x->slot = mprof_slot_at(s, s->len);
    if (take_stack(g, x, x->slot)) {
      s->v[s->len++] = x->slot;
    } else {
      x->awaited = MPROF_AWAITS_NOTHING;
      all_wait = false;
    }
  }
  s->threads = s->len;
  return all_wait;
}

// Calls `is_true` for all stuck threads. A thread for which the result is false
// may run. Returns whether the result was true for all threads.
static bool check_stuck(struct mprof_stuck *g,
                        bool (*is_true)(struct mprof_stuck_thread *x)) {
  bool all = true;
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (x->grade == MPROF_MAY_RUN || is_true(x))
      continue;
    x->awaited = MPROF_AWAITS_NOTHING;
    all = false;
  }
  return all;
}

static bool has_slept(struct mprof_stuck_thread *x) {
  return !x->is_unnoted || mprof_stuck_unnoted_has_slept(x);
}

// The order of the checks matters. All stuck threads sleep without a break from
// the first check to the last one. The holders are read meanwhile, so no stuck
// thread can release a lock between the reads of two holders.
// Checks that the threads that are graded as stuck still wait for locks with
// the same owners, and takes the threads' stacks. Returns 0, -ENOMEM or
// -EAGAIN. -EAGAIN means that one of these threads no longer waits, or does not
// sleep in the object of its recorded wait. After -EAGAIN the caller must call
// mprof_stuck_graph_judge again. Takes stacks_lock and registry_lock.
static int look_again(struct mprof_stuck *g) {
  if (!check_stuck(g, mprof_stuck_sleeps) || !check_stuck(g, has_same_holder))
    return -EAGAIN;
  if (make_slots(g) != 0)
    return -ENOMEM;
  const uint64_t mask = mprof_stuck_lock_threads();
  const bool all_wait = take_stacks(g);
  mprof_stuck_unlock_threads(mask);
  return check_stuck(g, has_slept) && all_wait ? 0 : -EAGAIN;
}

// --- the search ---

// Maximum number of complete searches for stuck threads. A search is repeated
// if a thread that was found stuck no longer waits.
enum { TRIES = 4 };

static bool has_objects(const struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++)
    if (g->v[i].awaited == MPROF_AWAITS_OBJECT)
      return true;
  return false;
}

// Judges all threads once, that is, decides which of them are stuck. If memory
// cannot be searched, assumes that every awaited object can be reached, so that
// no thread that waits for an object is judged as stuck.
static int take_once(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  bool is_scanned = false;
  int error = mprof_stuck_graph_take(g, age, NULL);
  if (error == 0 && has_objects(g)) {
    error = mprof_stuck_scan(g, caller, age);
    is_scanned = error == 0;
    if (error == -ECANCELED)
      error = 0;
  }
  if (error != 0)
    return error;
  mprof_stuck_graph_judge(g, is_scanned);
  return look_again(g);
}

// Returns true if a thread sleeps in a futex without a timeout, the thread has
// not recorded this wait, and the search has not found the awaited lock. The
// thread need not be registered with the runtime.
static bool is_unseen(const struct mprof_stuck *g, int tid) {
  struct mprof_proc_thread p;
  const size_t i = mprof_stuck_graph_find(g, tid);
  if (tid == mprof_sys_gettid() ||
      (i != MPROF_NO_THREAD &&
       (g->v[i].is_unnoted ||
        (g->v[i].thread && atomic_load(&g->v[i].thread->wait) != 0))))
    return false;
  return mprof_proc_thread(tid, &p) && p.state == 'S' &&
         p.syscall == SYS_futex && p.args[3] == 0;
}

static void count_unseen(struct mprof_stuck *g) {
  struct mprof_tids tids;
  if (mprof_tids_list(&tids) != 0)
    return;
  for (size_t i = 0; i < tids.len; i++)
    g->stacks.unseen += is_unseen(g, tids.v[i]);
  mprof_tids_free(&tids);
}

// Judges only the threads that wait for locks or joins. Called if all TRIES
// checks have failed, because each time some thread that was found stuck no
// longer waited. Threads that wait for conditions, semaphores or barriers are
// not judged, because memory is not searched here.
static int take_locks(struct mprof_stuck *g, uint64_t age) {
  int error = mprof_stuck_graph_take(g, age, NULL);
  if (has_objects(g))
    g->unjudged = MPROF_UNJUDGED_BUSY;
  while (error == 0) {
    mprof_stuck_graph_judge(g, false);
    error = look_again(g);
    if (error != -EAGAIN)
      break;
    mprof_thread_stacks_free(&g->stacks);
    error = 0;
  }
  return error;
}

// Calls of mprof_stuck_enter nest. Only the outermost call comes from the
// program, so only its `caller` is stored.
void mprof_stuck_enter(const struct mprof_caller *caller) {
  struct mprof_thread *self = mprof_thread_self(false);
  if (!self)
    return;
  if (self->inside_depth++ == 0)
    atomic_store(&self->inside, caller);
}

void mprof_stuck_leave(void) {
  struct mprof_thread *self = mprof_tls.self;
  if (!self || --self->inside_depth != 0)
    return;
  atomic_store(&self->inside, NULL);
  // Clear the caller-saved registers. They may still contain values that the
  // search has copied from the records of waits, such as addresses of awaited
  // objects. A later search would mistake these values for pointers of the
  // program.
  mprof_clear_registers();
}

int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  MPROF_ASSERT(mprof_tls.guard != 0);
  int error = -EAGAIN;
  mprof_stuck_enter(caller);
  // From now on, all threads record their waits. The next search then finds
  // more recorded waits.
  mprof_contention_note_waits();
  for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
    if (i > 0)
      mprof_stuck_free(g);
    error = take_once(g, caller, age);
  }
  if (error == -EAGAIN) {
    mprof_stuck_free(g);
    error = take_locks(g, age);
  }
  if (error == 0) {
    count_unseen(g);
    mprof_stuck_unnoted_complete(g, caller);
  }
  mprof_stuck_graph_cycles(g);
  mprof_stuck_leave();
  return error;
}

struct mprof_stuck_signs mprof_stuck_look(uint64_t age) {
  struct mprof_stuck_signs signs = {.newest = 0};
  struct mprof_stuck g;
  if (mprof_stuck_graph_take(&g, age, NULL) == 0) {
    for (size_t i = 0; i < g.len; i++)
      if (g.v[i].awaited == MPROF_AWAITS_OBJECT &&
          g.v[i].wait.start > signs.newest)
        signs.newest = g.v[i].wait.start;
    mprof_stuck_graph_judge(&g, false);
    signs.is_stuck = g.stuck > 0 && look_again(&g) == 0;
  }
  mprof_stuck_free(&g);
  return signs;
}
