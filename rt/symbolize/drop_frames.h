// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the regular expression for the frames that readers of a profile omit.
// The expression is stored in the field drop_frames of the pprof format. Also
// defines the names of two pseudo frames, which stand for missing frames.

#ifndef MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_DROP_FRAMES_H

#include "sys/message.h"

// Appends to t the regular expression for the functions whose frames readers
// omit. If `allocators` is true, as for heap profiles, the expression also
// matches allocation functions.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// Pseudo frame that is shown instead of a thread's creation stack if the
// runtime did not see the creation of the thread.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// Pseudo frame that is shown instead of a stack if no frame of the stack is
// left, because the program has asked to omit the innermost frames (the field
// `skip` of the bucket). (Go: lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

#endif // MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
