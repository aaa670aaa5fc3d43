// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the bytes of Go's trace formats 1.22 to 1.26, which divide a trace into
// generations.

#ifndef MPROF_TRACE_SCAN_H
#define MPROF_TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct trace;
struct trace_event;

// Decodes the event at *at and moves *at to the end of the event. Sets
// ev->ticks to the difference from the time of the event before. Returns false
// after a violation.
bool scan_event(struct trace *t, const uint8_t **at, const uint8_t *end,
                struct trace_event *ev);
// Reports each stack id or string id of ev that is not in the tables.
void check_ids(struct trace *t, const struct trace_event *ev);
// Reads the generation at *at: fills the tables and finds the batches. Moves
// *at to the end of the generation. Returns false if the generation cannot be
// read.
bool scan_generation(struct trace *t, const uint8_t **at);

#endif
