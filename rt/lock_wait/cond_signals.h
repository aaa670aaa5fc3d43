// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of signals of a condition: the signals whose woken threads have not
// yet returned from pthread_cond_wait. A woken thread needs the condition's
// mutex before it can return. Therefore the thread is counted as a waiter for
// the mutex (waiters.h) from the time of the signal on. So its waiting time is
// charged to the threads that unlock the mutex. When the thread returns, it
// finds its signal, with this time, in the list.
//
// The signals are part of the condition's record in the table of waiters, and
// are guarded by the same lock as the record. The functions here take no lock.

#ifndef MPROF_RT_LOCK_WAIT_COND_SIGNALS_H
#define MPROF_RT_LOCK_WAIT_COND_SIGNALS_H

#include "sys/base.h"

// Maximum number of signals in a list. Further signals are not added, and the
// threads that they wake are not counted as waiters for the mutex.
#define MPROF_SIGNALS 16u

struct mprof_signals {
  uint32_t len;
  uint32_t woken; // sum of the fields `woken` of all signals in v
  struct mprof_signal {
    uint64_t id;      // no other signal of the process has this number
    uint64_t time;    // ticks
    uintptr_t mutex;  // the mutex for which the woken threads wait
    uint32_t woken;   // woken threads of this signal that have not returned
    bool is_counted;  // the woken threads are counted as waiters for the mutex
  } v[MPROF_SIGNALS]; // oldest first
};

// Adds signal x, which has woken x.woken threads. Returns false if the list is
// full.
bool mprof_signals_add(struct mprof_signals *s, struct mprof_signal x);
// Sets is_counted of the signal with this id, after the caller has counted the
// woken threads as waiters for the mutex. Returns how many of these threads
// have not yet returned from their waits. For each thread that has already
// returned, the caller must remove one waiter for the mutex.
uint32_t mprof_signals_counted(struct mprof_signals *s, uint64_t id);
// Finds the signal that has woken a thread, which now returns from its wait.
// start: the time at which the thread began to wait.
// waiting: how many other threads have not returned from their waits.
// Takes the oldest signal that was sent at `start` or later. If there is none,
// but more threads were woken than `waiting`, this thread must be one of the
// woken threads. In this case takes the oldest signal of the list. Stores the
// signal in *taken and returns true. Returns false if no signal has woken the
// thread.
bool mprof_signals_take(struct mprof_signals *s, uint64_t start,
                        uint32_t waiting, struct mprof_signal *taken);

#endif // MPROF_RT_LOCK_WAIT_COND_SIGNALS_H
