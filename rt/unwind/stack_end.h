// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why stacks end.

#ifndef MPROF_RT_UNWIND_STACK_END_H
#define MPROF_RT_UNWIND_STACK_END_H

#include "sys/arch.h"
#include "sys/base.h"
#include "unwind/stack_range.h"

// Why an unwound stack ends. In profiles, a truncated stack ends with a pseudo
// frame that shows the reason.
enum mprof_stack_end {
  MPROF_STACK_COMPLETE = 0,
  // Cut at a broken chain of frame pointers, or at code without frame pointers
  // and call frame information.
  MPROF_STACK_CUT_CHAIN = 1,
  MPROF_STACK_CUT_DEPTH = 2, // cut at the limit of stack_depth frames
};

// Maximum size of a frame in bytes. Unwinding ends if the caller's frame is
// farther away.
#define MPROF_MAX_FRAME_BYTES (4u << 20)

#endif // MPROF_RT_UNWIND_STACK_END_H
