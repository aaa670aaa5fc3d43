// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts an execution trace into what an HTML page shows of it.

#ifndef MPROF_TOOL_TRACE_PAGE_H
#define MPROF_TOOL_TRACE_PAGE_H

#include "files/bytes.h"
#include "trace/text.h"
#include "trace/window.h"

#include <stdbool.h>
#include <stdio.h>

// Returns whether the bytes begin like an execution trace.
bool is_trace(const struct bytes *bytes);

// Returns the trace as an object of JSON for page_add_json, or NULL and a
// message in error. Prints violations of the format to stderr, after the path.
// window: the part of the trace that is shown. Short neighbouring intervals of
// a thread are merged if the trace has too many of them for a page.
char *trace_json_of(const struct bytes *bytes, const char *path,
                    const char *name, struct trace_window window, char *error,
                    size_t size);

// Returns the short name of a function. The caller frees it. NULL: there is no
// memory.
char *page_short_name(const char *name, size_t length);
// Writes the begin of the text as a string of JSON, as many threads may have
// one long name.
void trace_text_write(struct trace_text text, FILE *out);
// Writes the short name of a function in the same way, or "" if there is none.
void trace_name_write(struct trace_text name, FILE *out);

#endif
