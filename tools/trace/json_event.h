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

enum { JSON_PROCESS = 1 }; // pid of all events

// Times are counts of 1/32 us. A JSON number of this resolution is exact in
// binary, and so is the sum of a begin and a duration. With decimal fractions,
// a sum that a viewer computes may be a little later than the begin of the next
// slice. Perfetto would drop that slice, and speedscope would draw it inside
// the previous one.
enum { JSON_UNITS_PER_US = 32 };

// Returns the time in units, rounded to the nearest one.
uint64_t json_units(uint64_t ns);

// Writes a comma and the first members of an event. The caller writes the other
// members, and the brace that ends the event.
void json_head(FILE *out, char phase, uint64_t g, uint64_t time);
// Writes a comma and the first members of an event of phase M, which has no
// time. The caller writes the members of "args" and two braces.
void json_meta(FILE *out, uint64_t g, const char *name);
// Writes a comma, the key and a time in microseconds.
void json_time(FILE *out, const char *key, uint64_t time);
void json_text(FILE *out, const char *key, struct trace_text text);

// State for writing the "args" object of an event, which has a comma before
// each member but the first. The object is left out if it has no member.
struct json_details {
  FILE *out;
  bool begun;
};
// Ends the object. The caller ends the event.
void json_end_details(struct json_details *d);
// Writes the key only. The caller writes the value.
void json_key(struct json_details *d, const char *key);
// Writes a member, or nothing if the text is empty.
void json_detail(struct json_details *d, const char *key,
                 struct trace_text text);

#endif
