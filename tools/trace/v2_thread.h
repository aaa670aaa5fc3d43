// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: how events change the states of Gs, except
// for the events of system calls.

#ifndef MPROF_TRACE_V2_THREAD_H
#define MPROF_TRACE_V2_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct trace_event;
struct v2_state;

// Each of these functions returns whether event ev can come next, given the
// states in s. If not, other events must come first.
bool v2_can_take_runnable(struct v2_state *s, const struct trace_event *ev);
bool v2_can_take_waiting(struct v2_state *s, const struct trace_event *ev);

// Each of these functions checks event ev and updates the states in s.
void v2_go_status(struct v2_state *s, const struct trace_event *ev);
void v2_go_create(struct v2_state *s, const struct trace_event *ev);
void v2_go_start(struct v2_state *s, const struct trace_event *ev);
void v2_go_stop(struct v2_state *s, const struct trace_event *ev);
void v2_go_unblock(struct v2_state *s, const struct trace_event *ev);
void v2_go_switch(struct v2_state *s, const struct trace_event *ev);

// Ends the G with this id. Reports a violation if a stop of the world that this
// G began, or this G's work for the garbage collector (GCMarkAssist), has not
// ended.
void v2_destroy(struct v2_state *s, const struct trace_event *ev, uint64_t id);

#endif
