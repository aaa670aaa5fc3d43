// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See frame_end.h. Only processors whose calls do not push the return address
// need this file.

#include "unwind/frame_end.h"

#if !MPROF_RA_IS_PUSHED
#include "sys/os_linux.h"
#include "unwind/rules.h"
#include "unwind/stack_end.h"
#include "unwind/stack_range.h"

// Follows the frames of the functions between this one and the frame at fp. All
// of them belong to the runtime, or to functions of libc that call the runtime
// back, and keep frame pointers. The frame below the one at fp has the address
// at which the function with the frame fp will continue.
MPROF_NO_SANITIZER uintptr_t mprof_frame_end(uintptr_t fp) {
  enum { BETWEEN_MAX = 64 };
  uintptr_t at = (uintptr_t)__builtin_frame_address(0);
  for (int i = 0; i < BETWEEN_MAX; i++) {
    const uintptr_t next = mprof_stack_word(at);
    if (next == fp) {
      const struct mprof_rule r =
          mprof_rule_of(mprof_stack_return(at + 8) - 1, true);
      return mprof_rule_base(r) == MPROF_CFA_FROM_BP
                 ? fp + mprof_rule_cfa_offset(r)
                 : fp + 16;
    }
    // The frames of a thread that writes files may be on two stacks.
    if ((next & (MPROF_BP_ALIGNMENT - 1)) != 0 ||
        (next - at > MPROF_PAGE && !mprof_sys_readable(next)))
      break;
    at = next;
  }
  return fp + 16;
}
#else
typedef int mprof_frame_end_is_inline;
#endif
