// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the records of a row and hands them to the format of the file. Follows
// the state of the row's thread, and leaves out records that no reader would
// accept. It knows no bytes of events.

#ifndef MPROF_RT_TRACE_TRACE_RECORDS_H
#define MPROF_RT_TRACE_TRACE_RECORDS_H

#include "trace/trace_types.h"

struct mprof_trace_writer;

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // time since the row's last record
  // The numbers of the record, in the order that the comments of enum
  // mprof_trace_type give. For WAKE: the stack; the number of the woken thread,
  // which it has signed with (0: none); its sequence number; and how many
  // sequence numbers the format 1.23 does not count.
  uint64_t n[4];
  const unsigned char *text; // text of LOG, n[3] bytes
};
// Reads the record at p. Returns the begin of the next record.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// Applies record r to the state of the row's thread.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);
// Writes the events of record r into the current batch.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

// Writes buffer b of row r as a batch.
void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);

// How a format writes the records of one type.
struct mprof_trace_form {
  unsigned event;   // the format's number of the event; 0: no event
  const char *text; // string that is the first argument; NULL: none
  unsigned then;    // an event without arguments that follows; 0: none
  // Writes all events of a record. NULL: `event` and `then` describe them.
  void (*put)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
              uint64_t ticks, const struct mprof_trace_record *r);
};
// A format's table of forms, by the type of the record.
struct mprof_trace_forms {
  struct mprof_trace_form of[MPROF_TRACE_LABELS + 1];
};
// Writes the events of record r by its form. Unless the form has a function of
// its own, each of the record's numbers is an argument of the event. Returns
// false if the format has no event for the record.
bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r,
                            const struct mprof_trace_forms *forms);

#endif // MPROF_RT_TRACE_TRACE_RECORDS_H
