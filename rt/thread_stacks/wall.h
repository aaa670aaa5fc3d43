// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wall profile: what all threads do, sampled by time. A thread of the
// runtime, the sampler, collects the stacks of all threads at a fixed rate
// (thread_stacks.h). Each sample adds the time since the previous round to the
// bucket of the thread's stack, labels, state and lock. So the values of the
// profile add up to the lives of the threads.

#ifndef MPROF_RT_THREAD_STACKS_WALL_H
#define MPROF_RT_THREAD_STACKS_WALL_H

#include "sys/base.h"

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

#endif // MPROF_RT_THREAD_STACKS_WALL_H
