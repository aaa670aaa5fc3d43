// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the pattern of the frames that readers of a profile omit (the field
// drop_frames of the pprof format), and defines the names of pseudo frames.

#ifndef MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_DROP_FRAMES_H

#include "sys/message.h"

// Appends to t the regular expression for the functions whose frames readers
// omit. If allocators is true, the expression also matches allocation
// functions, as heap profiles need.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// Pseudo frame that replaces the creation stack of a thread whose creation the
// runtime did not see.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// Pseudo frame of a stack whose skip count has removed all frames. (Go:
// lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

#endif // MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
