// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the bytes of Go's trace formats 1.5 to 1.21.

#ifndef MPROF_TRACE_V1_SCAN_H
#define MPROF_TRACE_V1_SCAN_H

#include "event.h"

struct trace;

struct v1_record {
  uint64_t offset;
  uint8_t type;
  unsigned count;                      // number of entries of values in use
  uint64_t values[TRACE_MAX_ARGS + 4]; // differences, arguments, stack id
  // Begin and end of the numbers of a counted record (n == 3, see v1_scan.c) in
  // the file. For a Stack, body is after the stack id. NULL for other records.
  const uint8_t *body, *body_end;
  struct trace_text text; // text of a String or UserLog
};

// Decodes the record at *at and moves *at to the end of the record. Returns
// false after a violation.
bool v1_decode(struct trace *t, const uint8_t **at, struct v1_record *record);
// Reads the trace for the first time. Fills the tables, finds the batches and
// checks each record by itself. Returns false if the events cannot be read.
bool v1_scan(struct trace *t);

#endif
