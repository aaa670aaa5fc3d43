// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: how the events of system calls change the
// states of Gs, Ps and threads.

#ifndef MPROF_TRACE_V2_CALL_H
#define MPROF_TRACE_V2_CALL_H

#include <stdbool.h>

struct trace_event;
struct v2_state;

// Returns whether ev, a GoSyscallEndBlocked, can come next.
bool v2_can_end_blocked(struct v2_state *s, const struct trace_event *ev);

// Each of these functions checks event ev and updates the states in s.
void v2_call_begin(struct v2_state *s, const struct trace_event *ev);
void v2_call_end(struct v2_state *s, const struct trace_event *ev);
void v2_call_end_blocked(struct v2_state *s, const struct trace_event *ev);
void v2_destroy_in_call(struct v2_state *s, const struct trace_event *ev);

#endif
