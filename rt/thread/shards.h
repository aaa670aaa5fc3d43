// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of shards: each thread counts its events in the counters of one.

#ifndef MPROF_RT_THREAD_SHARDS_H
#define MPROF_RT_THREAD_SHARDS_H

#include "sys/base.h"

// Shards of one thread each: 1 to MPROF_OWN_SHARDS. The threads beyond share
// MPROF_COMMON_SHARDS more, which are added to atomically. 0 is none.
#define MPROF_OWN_SHARDS 105u
#define MPROF_COMMON_SHARDS 15u

// With registry_lock held.
uint16_t mprof_shard_take_locked(void);
void mprof_shard_give_back_locked(uint16_t shard);
void mprof_shards_reset(void);

#endif // MPROF_RT_THREAD_SHARDS_H
