// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes an execution trace of the records in the file of the option persist.
// The runtime's own writer encodes them (rt/trace/write_trace.h), so the trace
// is the same as if the process had written it at the moment of its end.

#ifndef MPROF_TOOL_PERSIST_TRACE_H
#define MPROF_TOOL_PERSIST_TRACE_H

#include "model/profile.h"
#include "persist/file.h"

#include <stdio.h>

struct persist_trace;

// Reads the rows to which a root leads. Returns NULL if there are none; then
// *error is NULL, or a message if the file does not have them all.
struct persist_trace *persist_trace_read(struct persist_file *f,
                                         enum mprof_persist_root root,
                                         const char **error);
// Returns a profile without samples, with a location for each address in the
// stacks of the trace. The trace is written with the names that the caller has
// added to the profile.
struct profile *persist_trace_names(struct persist_trace *t);
// Writes the trace to a file. Returns the number of its events, or -1 if there
// is no memory.
int64_t persist_trace_write(struct persist_trace *t, FILE *to);
void persist_trace_free(struct persist_trace *t);

#endif
