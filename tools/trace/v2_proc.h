// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: how events change the states of Ps.

#ifndef MPROF_TRACE_V2_PROC_H
#define MPROF_TRACE_V2_PROC_H

#include <stdbool.h>

struct trace_event;
struct v2_state;

// Each of these functions returns whether event ev can come next, given the
// states in s. If not, other events must come first.
bool v2_can_start_proc(struct v2_state *s, const struct trace_event *ev);
bool v2_can_steal(struct v2_state *s, const struct trace_event *ev);

// Each of these functions checks an event about a processor (P) and updates the
// state of the processor in s.
void v2_proc_status(struct v2_state *s, const struct trace_event *ev);
void v2_proc_start(struct v2_state *s, const struct trace_event *ev);
void v2_proc_stop(struct v2_state *s, const struct trace_event *ev);
void v2_proc_steal(struct v2_state *s, const struct trace_event *ev);

#endif
