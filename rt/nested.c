// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See nested.h. An allocator that was left by longjmp or by an exception has
// left its frame's address behind. It may lie above every frame that the thread
// will ever allocate from, so that the address alone does not tell; the stack
// does: a frame that is still there is one of its frames. Another function's
// may have come to lie at its address, but returns elsewhere.

#include "nested.h"

#include "abi_words.h"
#include "threads.h"
#include "tls.h"
#include "unwind_cfi.h"

static bool is_on_stack(uintptr_t nested, uintptr_t frame) {
  // A handler that interrupted the runtime loses its event anyway.
  if (!mprof_guard_enter())
    return true;
  struct mprof_thread *t = mprof_thread_self(false);
  bool is_there = t && mprof_stack_has_frame(&t->range, frame, nested,
                                             __mprof_nested_return);
  mprof_guard_leave();
  return is_there;
}

MPROF_NOINLINE bool mprof_nested_find(uintptr_t frame) {
  uintptr_t nested = __mprof_nested_frame;
  if (frame < nested && is_on_stack(nested, frame))
    return true;
  __mprof_nested_frame = 0;
  return false;
}
