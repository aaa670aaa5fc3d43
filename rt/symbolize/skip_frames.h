// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the frames that a bucket's skip count removes from its stack. The skip
// count is the number of functions to remove, from the innermost on, and
// includes inlined functions. The frames to remove are known only after
// symbolization, since one frame may represent several inlined functions.

#ifndef MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H

#include "bucket/bucket.h"

// frames is the number of whole frames to drop. functions is the number of
// innermost functions to drop from the next frame. If has_names is true, call
// mprof_stack_skipped between mprof_symbolize_begin and mprof_symbolize_end. If
// has_names is false, each frame counts as one function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

#endif // MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
