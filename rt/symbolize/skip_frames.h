// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the frames that must be removed from a bucket's stack because of the
// bucket's field `skip`. `skip` is the number of innermost functions to remove.
// Inlined functions count, too. One frame may represent several inlined
// functions, so the frames to remove are known only after symbolization.

#ifndef MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H

#include "bucket/bucket.h"

// The part of a stack to remove at its leaf: first `frames` whole frames, then
// the `functions` innermost functions of the next frame. If has_names is true,
// call mprof_stack_skipped between mprof_symbolize_begin and
// mprof_symbolize_end. If has_names is false, each frame counts as one
// function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

#endif // MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
