// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: decides whether an event can come next,
// and applies the event.

#ifndef MPROF_TRACE_V2_ADVANCE_H
#define MPROF_TRACE_V2_ADVANCE_H

#include <stdbool.h>

struct trace_event;
struct v2_state;

// Returns whether the event of thread ev->m can come next. If so, applies the
// event and sets ev->g and ev->p to the G and the P of the thread. If not,
// events of other threads have to come first.
bool v2_advance(struct v2_state *state, struct trace_event *ev);

#endif
