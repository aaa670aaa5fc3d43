// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames that readers of a profile leave out.

#ifndef MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
#define MPROF_RT_SYMBOLIZE_DROP_FRAMES_H

#include "sys/message.h"

// The expression for functions whose frames a reader leaves out, with those
// that allocate among them or not.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// What is shown as the stack of threads whose creation was not seen.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// The same where a skip has left nothing. (Go: lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

#endif // MPROF_RT_SYMBOLIZE_DROP_FRAMES_H
