// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether the frame in __mprof_nested_frame is still active. See
// nested_alloc.h.
//
// An allocator that is left by longjmp or by an exception does not clear the
// variable. A stale address may lie above all frames from which the thread will
// ever allocate, so comparing addresses is not enough. The stack is followed
// instead: the frame is active only if it is on the stack with the same return
// address. Another function's frame may lie at the same address, but its return
// address differs.

#include "heap/nested_alloc.h"

#include "sys/abi_words.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind_cfi.h"

static bool is_on_stack(uintptr_t nested, uintptr_t frame) {
  // A signal handler that interrupted the runtime loses its event anyway, so
  // the answer does not matter.
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
