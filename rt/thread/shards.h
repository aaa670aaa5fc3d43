// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands out shards, the small numbers that say in which counters a thread
// counts (counts.h). A shard outlives its thread: the next thread that gets the
// number continues the counters.

#ifndef MPROF_RT_THREAD_SHARDS_H
#define MPROF_RT_THREAD_SHARDS_H

#include "sys/base.h"

// Shards 1 to MPROF_OWN_SHARDS belong to one thread each. Further threads share
// the MPROF_COMMON_SHARDS numbers above, and add to their counters atomically.
// 0 means no shard.
#define MPROF_OWN_SHARDS 105u
#define MPROF_COMMON_SHARDS 15u

// Takes a shard for a new thread. Call with registry_lock held.
uint16_t mprof_shard_take_locked(void);
// Gives back the shard of a thread that ends. Call with registry_lock held.
void mprof_shard_give_back_locked(uint16_t shard);
// Forgets all threads' shards. For a forked child.
void mprof_shards_reset(void);

#endif // MPROF_RT_THREAD_SHARDS_H
