// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the buckets whose stacks have addresses in unloaded modules. A program
// may unload thousands of modules, one after another. Most of its buckets are
// then marked already, so this file keeps a list of the buckets that are not.
//
// Call all functions with modules_lock held, except mprof_unload_marks_reset.

#ifndef MPROF_RT_SYMBOLIZE_UNLOAD_MARKS_H
#define MPROF_RT_SYMBOLIZE_UNLOAD_MARKS_H

#include "bucket/bucket.h"

// Stores `unload`, the number of the latest unload, in the field `gone` of each
// bucket for which is_gone(b, arg) is true. Acquires insert_lock. Returns the
// number of these buckets.
uint64_t mprof_unload_mark(uint32_t unload,
                           bool (*is_gone)(const struct mprof_bucket *b,
                                           const void *arg),
                           const void *arg);
// Empties the list in a forked child, which has no buckets.
void mprof_unload_marks_reset(void);

#endif // MPROF_RT_SYMBOLIZE_UNLOAD_MARKS_H
