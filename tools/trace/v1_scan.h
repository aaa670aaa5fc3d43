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
  unsigned count; // number of entries of values in use
  // The numbers of the record, in the order of the file: the differences from
  // the event before (sequence number, time), the arguments, the stack id.
  uint64_t values[TRACE_MAX_ARGS + 4];
  // A counted record (n == 3, see v1_scan.c): `body` points to its numbers in
  // the file, and `body_end` to their end. In a record of type Stack, `body`
  // points behind the stack id. Any other record: NULL.
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
