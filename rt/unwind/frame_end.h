// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds where the frame of a function of the runtime ends. There the stack
// pointer of its caller was at the call. The unwinder needs it to begin a stack
// whose first function has no frame pointer.

#ifndef MPROF_RT_UNWIND_FRAME_END_H
#define MPROF_RT_UNWIND_FRAME_END_H

#include "sys/arch.h"
#include "sys/base.h"

#if MPROF_RA_IS_PUSHED
// The frame address and the return address are the end of each frame.
static inline uintptr_t mprof_frame_end(uintptr_t fp) { return fp + 16; }
#else
// Returns the end of the frame at fp. The frame must belong to a function of
// the runtime that has called this function, directly or through others. The
// frame address and the return address may be anywhere in the frame. So the
// function looks for the code that runs in the frame, and reads the code's call
// frame information. If there is none, it returns the address behind both
// words.
uintptr_t mprof_frame_end(uintptr_t fp);
#endif

#endif // MPROF_RT_UNWIND_FRAME_END_H
