// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ledger of the memory that the program has mapped: ranges of addresses
// that do not overlap, each with the bucket of the stack that has mapped it.
// The buckets count calls and bytes.
//
//   mmap            the kernel maps, then the ledger adds the range. What the
//                   ledger has there before is gone: MAP_FIXED has replaced it,
//                   or it was unmapped by a call that MProf did not see
//   munmap, mremap  the ledger removes the range, then the kernel unmaps it:
//                   afterwards another thread may map the same addresses. If
//                   the call fails, the ledger gets the range back
//
// A range may be a part of a mapping, because munmap may cut mappings.
//
// Call all functions with the recursion guard set.

#ifndef MPROF_RT_MEMORY_MAPPED_RANGES_H
#define MPROF_RT_MEMORY_MAPPED_RANGES_H

#include "bucket/bucket.h"
#include "memory/account.h"

// Ranges that were removed from the ledger.
struct mprof_ranges;

// Adds [start, limit), which a call with the stack of b has mapped.
// grows: the range continues a mapping that ends at start. If the stack of b
//   has made this mapping, too, they become one range.
void mprof_ranges_map(uintptr_t start, uintptr_t limit, struct mprof_bucket *b,
                      bool grows);
// Removes the range [start, limit). Pass the result to one of the next two
// functions. NULL: the ledger had nothing there.
struct mprof_ranges *mprof_ranges_take(uintptr_t start, uintptr_t limit);
// Drops ranges, because they are unmapped.
void mprof_ranges_drop(struct mprof_ranges *taken);
// Adds ranges again, each moved by `distance` bytes, and cut off at `limit`.
void mprof_ranges_give_back(struct mprof_ranges *taken, uintptr_t distance,
                            uintptr_t limit);
// Returns where the range ends that begins at start, or start if there is none.
uintptr_t mprof_ranges_limit(uintptr_t start);

// Returns whether this process has mapped memory since its start, or since the
// fork. Takes no lock.
bool mprof_ranges_has_calls(void);

// Copies all ranges, in the order of their addresses, to mapped memory. Returns
// 0 or -ENOMEM. Free a result *v that is not NULL by mprof_os_unmap.
int mprof_ranges_copy(struct mprof_mapped_range **v, size_t *len,
                      size_t *mapped_bytes);

// The counts of a bucket.
struct mprof_map_sample {
  const struct mprof_bucket *bucket;
  struct mprof_map_counts counts;
};
// Copies the counts of all MAP buckets, the newest bucket first, as above.
int mprof_ranges_copy_counts(struct mprof_map_sample **v, size_t *len,
                             size_t *mapped_bytes);

// A forked child has copies of its parent's mappings, so it keeps the ledger.
// It has mapped nothing itself. The first function puts the ledger aside before
// the persistent memory is reset. The second one takes it back.
// If another thread was changing the ledger when the parent forked, or with the
// option persist, the child begins with an empty one.
void mprof_ranges_reset(void);
// keeps: false: the child is not profiled.
void mprof_ranges_begin_child(bool keeps);

#endif // MPROF_RT_MEMORY_MAPPED_RANGES_H
