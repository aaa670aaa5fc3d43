// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the threads that were found stuck still wait, and takes their
// stacks. A graph that was taken while threads ran may combine waits of
// different moments.

#ifndef MPROF_RT_STUCK_STUCK_LOOK_AGAIN_H
#define MPROF_RT_STUCK_STUCK_LOOK_AGAIN_H

#include "stuck/stuck_types.h"

// Checks that the threads that are graded as stuck still wait for locks with
// the same owners, and takes the threads' stacks. Returns 0, -ENOMEM or
// -EAGAIN. -EAGAIN means that one of these threads no longer waits, or does not
// sleep in the object of its recorded wait. After -EAGAIN the caller must call
// mprof_stuck_graph_judge again. Takes stacks_lock and registry_lock.
int mprof_stuck_graph_look_again(struct mprof_stuck *g);

#endif // MPROF_RT_STUCK_STUCK_LOOK_AGAIN_H
