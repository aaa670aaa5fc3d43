// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames that a stack's skip leaves out.

#ifndef MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H

#include "bucket/bucket.h"

// What a stack's skip leaves out: so many whole frames, and so many functions
// of the next one, the innermost first. With names between
// mprof_symbolize_begin and its end; without, a frame counts as one function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

#endif // MPROF_RT_SYMBOLIZE_SKIP_FRAMES_H
