// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns shards to threads. A shard is a small number that selects the
// counters in which a thread counts its events (counts.h). When a thread ends,
// a new thread may get the same shard, and then continues the same counters.

#ifndef MPROF_RT_THREAD_SHARDS_H
#define MPROF_RT_THREAD_SHARDS_H

#include "sys/base.h"

// Each of the shards 1 to MPROF_OWN_SHARDS belongs to one thread at a time. If
// all of these are taken, further threads share the next MPROF_COMMON_SHARDS
// shards, and increment the counters atomically. 0 means that the thread has no
// shard.
#define MPROF_OWN_SHARDS 105u
#define MPROF_COMMON_SHARDS 15u

// Returns a shard for a new thread. Call with registry_lock held.
uint16_t mprof_shard_take_locked(void);
// Makes the shard of an ending thread available to new threads. Call with
// registry_lock held.
void mprof_shard_give_back_locked(uint16_t shard);
// Marks all shards as unused. Called in a forked child.
void mprof_shards_reset(void);

#endif // MPROF_RT_THREAD_SHARDS_H
