// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread that may run can reach.

#ifndef MPROF_RT_STUCK_STUCK_SCAN_H
#define MPROF_RT_STUCK_STUCK_SCAN_H

#include "stuck/stuck_types.h"

// Sets is_reached of all threads in g, which it takes anew while all threads
// stand still. 0, ENOMEM, or ECANCELED, and then unjudged says why.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_SCAN_H
