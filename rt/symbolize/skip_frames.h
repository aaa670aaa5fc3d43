// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames that a stack's skip removes. A skip counts logical functions. They
// are known only after symbolization, since a frame may stand for several
// inlined functions.

#ifndef MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H

#include "bucket/bucket.h"

// The result of a skip: the number of whole frames to drop, and the number of
// innermost functions to drop of the next frame. With has_names, call the
// function between mprof_symbolize_begin and mprof_symbolize_end. Without, each
// frame counts as one function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

#endif // MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
