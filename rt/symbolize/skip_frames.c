// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes which frames are removed from a bucket's stack because of the
// bucket's field `skip`. See skip_frames.h. One frame may represent several
// functions, of which all but the last are inlined. (Go: skip of
// runtime_expandFinalInlineFrame's callers)

#include "symbolize/skip_frames.h"

#include "bucket/bucket.h"
#include "symbolize/symbolize.h"

static void count_function(const struct mprof_frame *f, void *arg) {
  (void)f;
  ++*(unsigned *)arg;
}

struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names) {
  struct mprof_skipped s = {.functions = b->skip};
  while (s.functions > 0 && s.frames < b->stack_len) {
    unsigned n = 0;
    if (has_names)
      mprof_symbolize(
          mprof_symbolize_shown(b->stack[s.frames], mprof_bucket_gone(b)),
          count_function, &n);
    if (n == 0)
      n = 1; // without names, a frame counts as one function
    if (n > s.functions)
      break;
    s.functions -= n;
    s.frames++;
  }
  return s;
}
