// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames that readers of a profile leave out (drop_frames of the pprof
// format), and the names of pseudo frames.

#ifndef MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_DROP_FRAMES_H

#include "sys/message.h"

// Writes the regular expression for the functions whose frames a reader leaves
// out. allocators: allocating functions are among them, as in heap profiles.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// Stack shown for threads whose creation was not seen.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// Stack shown if a skip has removed all frames. (Go: lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

#endif // MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
