// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the records of a row (the records of one thread) and passes them to the
// file format, which encodes them as events. Keeps track of the state of the
// thread that owns the row. Omits records that readers of the file would
// reject.

#ifndef MPROF_RT_TRACE_TRACE_RECORDS_H
#define MPROF_RT_TRACE_TRACE_RECORDS_H

#include "trace/trace_rows.h"

struct mprof_trace_writer;

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // ticks since the previous record of the row
  // The arguments of the record, in the order that enum mprof_trace_type gives.
  // A WAKE record has three arguments. n[0]: the stack. n[1]: number of the
  // woken thread, 0: no thread. n[2]: sequence number of the wake-up among the
  // events of the woken thread.
  uint64_t n[4];
  const unsigned char *text; // text of a LOG record, n[3] bytes
};
// Kinds of arguments of a record. STACK: handle of a stack. START: handle of
// the stack of a start function. NAME: handle of a name. PLAIN: any other
// number.
enum mprof_trace_argument {
  MPROF_TRACE_PLAIN,
  MPROF_TRACE_STACK,
  MPROF_TRACE_START_STACK,
  MPROF_TRACE_NAME
};
// The number and the kinds of the arguments of a type of record. The argument
// for the time is not counted.
enum { MPROF_TRACE_ARGUMENTS = 4 };
struct mprof_trace_arguments {
  // kinds: enum mprof_trace_argument
  unsigned char len, kinds[MPROF_TRACE_ARGUMENTS];
};
// By enum mprof_trace_type.
extern MPROF_HIDDEN const struct mprof_trace_arguments
    mprof_trace_arguments_of[MPROF_TRACE_CHARGE + 1];
// Reads the record at p into *r. Returns the address of the next record.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// Updates *t, the state of the thread that owns the row, for record r of the
// row.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);
// Writes the events of record r to the current batch. to: progress of writing
// the row that contains r; updated for r.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

// Writes the last events of a row when the session ends. If the row's thread
// has not ended a garbage collection, writes the end of the collection. If this
// thread still runs, writes that it stops. Readers of format 1.5 fail without
// these events.
void mprof_trace_write_row_end(struct mprof_trace_writer *w,
                               struct mprof_trace_written *to,
                               const struct mprof_trace_row *row);

// Writes buffer b of row r as a batch of the file. After the end of the
// session, the batch of the last buffer also has the events of
// mprof_trace_write_row_end.
void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);

// How a file format writes the records of one type.
struct mprof_trace_form {
  unsigned event;   // the format's number of the event type; 0: none or `put`
  const char *text; // string argument after the time; NULL: none
  unsigned then;    // type of a second event, without arguments; 0: none
  // Writes all events of record r. If put is NULL, the fields above describe
  // the events.
  void (*put)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
              uint64_t ticks, const struct mprof_trace_record *r);
};
// A format's table of how to write each type of record, indexed by enum
// mprof_trace_type.
struct mprof_trace_forms {
  struct mprof_trace_form of[MPROF_TRACE_CHARGE + 1];
};
// Writes the events of record r as the entry for its type in the format's forms
// says. If the entry has no function put, the arguments of the record become
// the arguments of the event. Returns false if the format has no event for the
// record.
bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r);
// Functions `put` for START, START_SELF and WAKE records, whose events have the
// same arguments in all formats. The event types are those in the entries for
// START and WAKE.
void mprof_trace_write_start(struct mprof_trace_writer *w,
                             struct mprof_trace_written *to, uint64_t ticks,
                             const struct mprof_trace_record *r);
void mprof_trace_write_wake(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r);

#endif // MPROF_RT_TRACE_TRACE_RECORDS_H
