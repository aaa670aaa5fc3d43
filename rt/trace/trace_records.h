// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the records of a row and passes them to the file format. Keeps track of
// the state of the thread that owns the row, and omits records that would make
// readers of the file fail. This module does not know how events are encoded.

#ifndef MPROF_RT_TRACE_TRACE_RECORDS_H
#define MPROF_RT_TRACE_TRACE_RECORDS_H

#include "trace/trace_types.h"

struct mprof_trace_writer;

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // time since the row's last record
  // The arguments of the record, in the order that enum mprof_trace_type gives.
  // A WAKE record has four: the stack, the number of the woken thread (0: no
  // thread), the sequence number of the woken thread, and the count of its
  // sequence numbers that the format 1.23 does not use.
  uint64_t n[4];
  const unsigned char *text; // text of LOG, n[3] bytes
};
// Reads the record at p into *r. Returns the address of the next record.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// Updates t, the state of the thread that owns the row, by record r.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);
// Writes the events of record r to the current batch. to: how far the row has
// been written.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

// Writes buffer b of row r as a batch.
void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);

// Says how a format writes the records of one type.
struct mprof_trace_form {
  unsigned event;   // the format's number of the event; 0: no event
  const char *text; // string argument after the time; NULL: none
  unsigned then;    // event that follows, without arguments; 0: none
  // Writes all events of a record. NULL: the fields above describe them.
  void (*put)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
              uint64_t ticks, const struct mprof_trace_record *r);
};
// A format's table of forms, indexed by the type of the record.
struct mprof_trace_forms {
  struct mprof_trace_form of[MPROF_TRACE_CHARGE + 1];
};
// Writes the events of record r as its form says. If the form has no function
// put, the arguments of the record become the arguments of the event. Returns
// false if the format has no event for the record.
bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r,
                            const struct mprof_trace_forms *forms);

#endif // MPROF_RT_TRACE_TRACE_RECORDS_H
