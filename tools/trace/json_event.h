// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes objects of the JSON trace event format, which Perfetto and
// chrome://tracing open. The phase of an event is X for a slice, s and f for
// the start and the end of an arrow, i for an instant, b and e for the begin
// and the end of a range, C for a counter, and M for a name.

#ifndef MPROF_TRACE_JSON_EVENT_H
#define MPROF_TRACE_JSON_EVENT_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace;

enum { JSON_PROCESS = 1 }; // pid of all events

// Writes a comma and the first members of an event. The caller writes the other
// members, and the brace that ends the event.
void json_head(FILE *out, char phase, uint64_t g, uint64_t ns);
// Writes a comma and the first members of an event of phase M, which has no
// time. The caller writes the members of "args" and two braces.
void json_meta(FILE *out, uint64_t g, const char *name);
// Writes a comma, the key and a time in microseconds, with the nanoseconds as
// the decimal places.
void json_time(FILE *out, const char *key, uint64_t ns);
void json_text(FILE *out, const char *key, struct trace_text text);

// State for writing the "args" object of an event, which has a comma before
// each member but the first.
struct json_details {
  FILE *out;
  bool begun;
};
struct json_details json_begin_details(FILE *out);
// Writes the key only. The caller writes the value.
void json_key(struct json_details *d, const char *key);
// Write a member, or nothing if the text is empty or NULL. rendered is a string
// that is already escaped.
void json_rendered(struct json_details *d, const char *key,
                   const char *rendered);
void json_detail(struct json_details *d, const char *key,
                 struct trace_text text);

// Returns the stack as the inside of a JSON string, with at most max_frames
// frames, one per line. Returns NULL for an empty stack. The caller frees the
// string. Call this when a slice begins: stack ids are valid only within their
// generation, and the slice may end in a later one.
char *json_stack(const struct trace *trace, uint64_t stack,
                 unsigned max_frames);

#endif
