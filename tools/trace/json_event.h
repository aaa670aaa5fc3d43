// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes objects of the JSON trace event format, which Perfetto and
// chrome://tracing open. Each event has a phase, which is one letter. X is a
// slice, i is an instant, C is a counter and M is a name. s and f are the start
// and the end of an arrow. b and e are the begin and the end of a range.

#ifndef MPROF_TRACE_JSON_EVENT_H
#define MPROF_TRACE_JSON_EVENT_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace;

enum { JSON_PROCESS = 1 }; // pid of all events

// Writes a comma, and the phase, process, thread and time of an event. The
// caller writes the other members and the closing brace.
void json_head(FILE *out, char phase, uint64_t g, uint64_t ns);
// Writes a comma and the first members of an event of phase M, which has no
// time. Then opens the object "args". The caller writes the members of "args"
// and two closing braces.
void json_meta(FILE *out, uint64_t g, const char *name);
// Writes a comma, the key and ns. Writes ns in microseconds with three decimal
// places.
void json_time(FILE *out, const char *key, uint64_t ns);
void json_text(FILE *out, const char *key, struct trace_text text);

// State for writing the "args" object of an event. begun: a member has been
// written, so the next member needs a comma.
struct json_details {
  FILE *out;
  bool begun;
};
struct json_details json_begin_details(FILE *out);
// Writes a comma if needed, and then the key. The caller writes the value.
void json_key(struct json_details *d, const char *key);
// Write a key and a string. json_rendered writes nothing if rendered is NULL,
// and does not escape rendered. json_detail writes nothing if text is empty,
// and escapes text.
void json_rendered(struct json_details *d, const char *key,
                   const char *rendered);
void json_detail(struct json_details *d, const char *key,
                 struct trace_text text);

// Returns the stack as text, escaped for a JSON string, with one frame per line
// and at most max_frames frames. Returns NULL if there is no frame to show. The
// caller frees the text. Call this function when a slice begins, because the
// slice may end when the stack id already means another stack.
char *json_stack(const struct trace *trace, uint64_t stack,
                 unsigned max_frames);

#endif
