// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generation format: decides whether an event can come next, and applies
// it.

#ifndef MPROF_TRACE_V2_ADVANCE_H
#define MPROF_TRACE_V2_ADVANCE_H

#include <stdbool.h>

struct trace_event;
struct v2_state;

// Applies the event of thread ev->m if it can come next, and fills in its G and
// P. Otherwise returns false: events of other threads have to come first.
bool v2_advance(struct v2_state *state, struct trace_event *ev);

#endif
