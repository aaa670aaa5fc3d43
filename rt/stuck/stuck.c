// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds stuck threads, which will never run again; see stuck.h. If threads wait
// only for locks and joins, the waits that the threads have recorded suffice,
// so no thread is disturbed. If a thread waits for a condition, a semaphore or
// a barrier, all threads are stopped for a moment. Then memory is searched for
// this object. (Go: goroutineLeakGC)

#include "stuck/stuck.h"

#include "lock_wait/contention.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_judge.h"
#include "stuck/stuck_look_again.h"
#include "stuck/stuck_scan.h"
#include "stuck/stuck_types.h"
#include "stuck/stuck_unnoted.h"
#include "sys/arch.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <sys/syscall.h>

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
  return mprof_stuck_graph_look_again(g);
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
    error = mprof_stuck_graph_look_again(g);
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
    signs.is_stuck = g.stuck > 0 && mprof_stuck_graph_look_again(&g) == 0;
  }
  mprof_stuck_free(&g);
  return signs;
}
