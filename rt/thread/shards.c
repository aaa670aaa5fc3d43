// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See shards.h.

#include "thread/shards.h"

#include "sys/lock.h"
#include "sys/message.h"

#include <string.h>

#define WORD_BITS 64u
static struct {
  // One bit for each of the shards 1 to MPROF_OWN_SHARDS. 1: a thread has the
  // shard. Bit 0 of taken[0] is for shard 1.
  uint64_t taken[MPROF_OWN_SHARDS / WORD_BITS + 1];
  unsigned next_common;
} shards; // guarded by registry_lock

uint16_t mprof_shard_take_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  for (unsigned i = 0; i < MPROF_OWN_SHARDS; i++) {
    uint64_t bit = UINT64_C(1) << i % WORD_BITS;
    if ((shards.taken[i / WORD_BITS] & bit) == 0) {
      shards.taken[i / WORD_BITS] |= bit;
      return (uint16_t)(i + 1);
    }
  }
  unsigned at = shards.next_common++ % MPROF_COMMON_SHARDS;
  return (uint16_t)(MPROF_OWN_SHARDS + 1 + at);
}

void mprof_shard_give_back_locked(uint16_t shard) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  if (shard == 0 || shard > MPROF_OWN_SHARDS)
    return;
  unsigned i = shard - 1u;
  MPROF_ASSERT(shards.taken[i / WORD_BITS] >> i % WORD_BITS & 1);
  shards.taken[i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
}

void mprof_shards_reset(void) { memset(&shards, 0, sizeof(shards)); }
