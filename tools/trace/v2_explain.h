// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: explains why no event can come next.

#ifndef MPROF_TRACE_V2_EXPLAIN_H
#define MPROF_TRACE_V2_EXPLAIN_H

struct trace_event;
struct v2_state;

// Reports why event ev cannot come next. Call this function if v2_advance has
// returned false for ev and for the next events of all other threads.
void v2_explain(struct v2_state *state, const struct trace_event *ev);

#endif
