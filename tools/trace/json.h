// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes objects of the JSON trace event format, which Perfetto and
// chrome://tracing open. Each event has a phase, which is one letter. X is a
// slice, i is an instant, C is a counter and M is a name. s and f are the start
// and the end of an arrow. b and e are the begin and the end of a range. The
// caller checks the stream for errors.

#ifndef MPROF_TRACE_JSON_H
#define MPROF_TRACE_JSON_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Writes the text, escaped for use between the quotes of a JSON string. Writes
// U+FFFD instead of each byte that is not valid UTF-8.
void json_escape(FILE *out, struct trace_text text);

enum { JSON_PROCESS = 1 }; // pid of all events

// Times are counts of 1/32 us. A JSON number of this resolution is exact in
// binary, and so is the sum of a begin and a duration. With decimal fractions,
// a sum that a viewer computes may be a little later than the begin of the next
// slice. Perfetto would drop the next slice, and speedscope would draw it
// inside the previous slice.
enum { JSON_UNITS_PER_US = 32 };

// Returns the time in units of 1/32 us, rounded to the nearest unit.
uint64_t json_units(uint64_t ns);

// Writes a comma, and the phase, process, thread and time of an event. The
// caller writes the other members and the closing brace.
void json_head(FILE *out, char phase, uint64_t g, uint64_t time);
// Writes a comma and the first members of an event of phase M, which has no
// time. Then opens the object "args". The caller writes the members of "args"
// and two closing braces.
void json_meta(FILE *out, uint64_t g, const char *name);
// Writes a comma, the key and the time in microseconds.
void json_time(FILE *out, const char *key, uint64_t time);
void json_text(FILE *out, const char *key, struct trace_text text);

// State for writing the "args" object of an event. begun: a member has been
// written, so the next member needs a comma. An object without members is not
// written at all.
struct json_details {
  FILE *out;
  bool begun;
};
// Ends the object, if it has begun. The caller writes the closing brace of the
// event.
void json_end_details(struct json_details *d);
// Begins the object or writes a comma, and then writes the key. The caller
// writes the value.
void json_key(struct json_details *d, const char *key);
// Writes a key and the escaped text. Writes nothing if text is empty.
void json_detail(struct json_details *d, const char *key,
                 struct trace_text text);

#endif
