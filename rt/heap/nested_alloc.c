// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether the function with the frame address __mprof_nested_frame is
// still active. See nested_alloc.h.
//
// An allocator that is left by longjmp or by an exception does not clear
// __mprof_nested_frame. A comparison of addresses cannot detect such a stale
// frame address, because the address may be above all frames from which the
// thread allocates later. So the stack is unwound. The frame is active only if
// it is on the stack and has the return address in __mprof_nested_return. The
// return address is compared, because a later frame of another function may
// have the same frame address.

#include "heap/nested_alloc.h"

#include "sys/abi_words.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind_cfi.h"

static bool is_on_stack(uintptr_t nested, uintptr_t frame) {
  // If the guard is already set, a signal handler has interrupted the runtime.
  // The handler's event is lost in any case, so the result does not matter.
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
