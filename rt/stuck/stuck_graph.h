// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the graph of waiting threads, to find the threads that no other thread
// can ever wake. An edge of the graph leads from a waiting thread to the holder
// of the awaited lock, or to the thread that the waiting thread joins. The
// functions mprof_stuck_graph_* are called in this order:
//
//   take ---> judge ---> look_again ---> cycles
//               ^             |
//               +-- -EAGAIN --+
//
//   take        stuck_graph.c copies the recorded waits of all registered
//               threads, and finds the locks of waits that the threads have not
//               recorded (stuck_unnoted.h). It also finds the holder of each
//               awaited lock.
//   judge, cycles
//               stuck_graph.c computes which threads may run. All other threads
//               are stuck, because they wait for one another or for threads
//               that have ended.
//   look_again  stuck.c checks that the threads found stuck still
//               wait, and takes their stacks.
//
// Call all functions with the guard set.

#ifndef MPROF_RT_STUCK_STUCK_GRAPH_H
#define MPROF_RT_STUCK_STUCK_GRAPH_H

#include "stuck/stuck_types.h"
#include "thread_stacks/thread_wait.h"

// Returns the index in g->v of the thread with id tid, or MPROF_NO_THREAD.
size_t mprof_stuck_graph_find(const struct mprof_stuck *g, int tid);
// Returns the index in g->v of the thread with this pthread_t, or
// MPROF_NO_THREAD.
size_t mprof_stuck_graph_find_pthread(const struct mprof_stuck *g,
                                      uintptr_t pthread);
// Copies the waits of all registered threads that have lasted for at least age
// ticks, and finds the holders of the awaited locks. If age is 0, also finds
// the locks of unnoted waits (waits that the threads have not recorded),
// because their age is unknown. Returns 0 or -ENOMEM.
// stopped: the slots of all threads, if the caller has stopped all threads and
//   holds registry_lock. NULL: the threads are not stopped, and the function
//   itself takes stacks_lock and registry_lock.
int mprof_stuck_graph_take(struct mprof_stuck *g, uint64_t age,
                           const struct mprof_thread_stacks *stopped);
void mprof_stuck_free(struct mprof_stuck *g);

// Takes stacks_lock, so that no other thread collects stacks, and
// registry_lock, so that no thread ends. First blocks all signals, because a
// slow signal handler would delay the threads that wait for these locks.
// Returns the signal mask, which mprof_stuck_unlock_threads restores.
uint64_t mprof_stuck_lock_threads(void);
void mprof_stuck_unlock_threads(uint64_t mask);

// Returns whether the field `wait` of struct mprof_thread has the address of a
// wait.
static inline bool mprof_stuck_has_wait(uintptr_t w) {
  return w != 0 && w != MPROF_WAIT_ASKED;
}
// Returns the address of the outermost wait of kind user around the wait at w,
// or w if there is none. A function with the attribute mprof_lock has a wait of
// kind user. Inside this wait, the function may itself wait, for example for a
// mutex: this is the wait at w. The thread cannot leave the outer wait before
// it leaves w. The bit MPROF_WAIT_HELD of the thread's wait must be set, or all
// threads must be stopped, because w is on the stack of the thread.
uintptr_t mprof_stuck_whole_wait(uintptr_t w);

// --- which threads are stuck ---
//
// These functions take no lock, because only the calling thread uses the graph.

// Sets the grade of each thread, which says whether the thread is stuck.
// scanned: true: mprof_stuck_scan has set is_reached of all threads. false:
//   memory was not searched, so every awaited object counts as reached.
void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned);
// Sets may_run of all threads, based on the current values of is_reached.
void mprof_stuck_graph_settle(struct mprof_stuck *g);
// Finds the cycles of stuck threads and numbers them.
void mprof_stuck_graph_cycles(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_GRAPH_H
