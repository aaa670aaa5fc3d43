// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns shards to threads. A shard is a small number that selects the
// counters in which a thread counts its events (counts.h). When a thread ends,
// its shard can be given to a new thread, which continues the same counters.

#ifndef MPROF_RT_THREAD_SHARDS_H
#define MPROF_RT_THREAD_SHARDS_H

#include "sys/base.h"

// Each of the shards 1 to MPROF_OWN_SHARDS belongs to one thread at a time. If
// there are more threads, the others share the next MPROF_COMMON_SHARDS shards
// and increment the counters atomically. 0 means no shard.
#define MPROF_OWN_SHARDS 105u
#define MPROF_COMMON_SHARDS 15u

// Takes a shard for a new thread. Call with registry_lock held.
uint16_t mprof_shard_take_locked(void);
// Gives back the shard of a thread that ends. Call with registry_lock held.
void mprof_shard_give_back_locked(uint16_t shard);
// Makes all shards free. Called in a forked child.
void mprof_shards_reset(void);

#endif // MPROF_RT_THREAD_SHARDS_H
