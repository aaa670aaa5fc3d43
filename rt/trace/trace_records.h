// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of a row, as a format gets them.

#ifndef MPROF_RT_TRACE_TRACE_RECORDS_H
#define MPROF_RT_TRACE_TRACE_RECORDS_H

#include "trace/trace_types.h"

struct mprof_trace_writer;

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // since the row's last record
  // Its numbers, in the order of enum mprof_trace_type's comments; of WAKE
  // after the stack who signed, 0 for nobody, its sequence number, and how many
  // of those 1.23 does not count.
  uint64_t n[4];
  const unsigned char *text; // of LOG
};
// Reads one; returns where the next begins.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// What it does to the row's thread.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);
// Writes its events, into the batch that is under way.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);

// How a format writes the records of a type.
struct mprof_trace_form {
  unsigned event;   // the format's number of the event; 0: none
  const char *text; // string that is the first argument; NULL: none
  unsigned then;    // an event without arguments that follows; 0: none
  // Writes all events of a record; NULL: event and then say them.
  void (*put)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
              uint64_t ticks, const struct mprof_trace_record *r);
};
// By the type of the record.
struct mprof_trace_forms {
  struct mprof_trace_form of[MPROF_TRACE_LABELS + 1];
};
// Writes a record's events by its form. Unless the form has a function of its
// own, each of the record's numbers is an argument of the event. False: the
// format has no event for the record.
bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r,
                            const struct mprof_trace_forms *forms);

#endif // MPROF_RT_TRACE_TRACE_RECORDS_H
