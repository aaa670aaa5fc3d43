// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: how the events of tasks, regions,
// collections, sweeps, assists and stops of the world change struct v2_state.

#ifndef MPROF_TRACE_V2_RANGE_H
#define MPROF_TRACE_V2_RANGE_H

#include <stdbool.h>

struct trace_event;
struct v2_state;

// Returns whether ev, an event of a garbage collection, can come next.
bool v2_is_next_collection(struct v2_state *s, const struct trace_event *ev);

// Each of these functions checks event ev and updates the states in s.
void v2_task_begin(struct v2_state *s, const struct trace_event *ev);
void v2_task_end(struct v2_state *s, const struct trace_event *ev);
void v2_region(struct v2_state *s, const struct trace_event *ev);
void v2_stop_or_assist(struct v2_state *s, const struct trace_event *ev);
void v2_assist_active(struct v2_state *s, const struct trace_event *ev);
void v2_sweep(struct v2_state *s, const struct trace_event *ev);
void v2_sweep_active(struct v2_state *s, const struct trace_event *ev);
void v2_collection(struct v2_state *s, const struct trace_event *ev);

#endif
