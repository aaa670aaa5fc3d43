// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of a trace: their types, their encoding in the buffers, and their
// conversion to events of the file.
//
// A record is a type byte (enum mprof_trace_type), followed by arguments
// encoded in LEB128. The first argument of most records is the time since the
// previous record, in ticks. The starts and wake-ups of a thread have sequence
// numbers (trace_records.c). The records of a thread do not contain the
// thread's own sequence numbers, because the writer of the file counts them.

#ifndef MPROF_RT_TRACE_TRACE_RECORDS_H
#define MPROF_RT_TRACE_TRACE_RECORDS_H

#include "sys/base.h"

struct mprof_trace_buf;
struct mprof_trace_row;
struct mprof_trace_writer;

// Maximum length of a record in bytes, not counting the text of a LOG record.
#define MPROF_TRACE_RECORD_MAX 64u

// Value of the field `size` of the bucket of a start stack: its last address is
// that of a thread's start function, and the only other address is the field
// `passed` of struct mprof_thread_runs. The field is 0 in all other buckets of
// the trace.
enum { MPROF_TRACE_IS_START = 1 };

// The types of records. Each comment lists the arguments of the record. All
// types except PRE have one argument before those listed: the time since the
// previous record, in ticks. "Stack" stands for the handle of a bucket with the
// stack, or 0 for none.
enum mprof_trace_type {
  MPROF_TRACE_NONE,
  // A thread takes over this row. Arguments: number of the thread; its tid;
  // enum mprof_trace_from; stack of its start function.
  MPROF_TRACE_BEGIN,
  MPROF_TRACE_END, // the thread of this row ends; no arguments
  // The thread of this row still runs when the session ends. Argument: stack,
  // which is always 0 (none). No buffer contains this record, because the
  // writer of the file creates it.
  MPROF_TRACE_STOP,
  // Record of a thread that exists when the session begins. Arguments: number
  // of the thread; enum mprof_trace_from; stack of its start function; its tid.
  // Has no time. The thread that starts the session adds this record to its own
  // row for each other thread.
  MPROF_TRACE_PRE,
  // The thread of this row creates a thread. Arguments: number of the new
  // thread; stack of its start function; stack of the creating call.
  MPROF_TRACE_CREATE,
  // The thread begins to wait. Argument: stack. A START or START_SELF record
  // ends the wait.
  MPROF_TRACE_BLOCK_SYNC,
  MPROF_TRACE_BLOCK_COND,
  MPROF_TRACE_BLOCK_NET,
  MPROF_TRACE_BLOCK_SELECT,
  MPROF_TRACE_SLEEP,
  // End of a wait. No arguments. The wake-up is recorded in another thread's
  // row, by a WAKE record into which this thread has written its number.
  MPROF_TRACE_START,
  // End of a wait, if the thread could not write its number into a WAKE record.
  // Arguments: stack of the release, or 0; ticks from the release to the end of
  // the wait. The time of the record is the time of the release, or the end of
  // the wait if the release is unknown.
  MPROF_TRACE_START_SELF,
  // This thread releases an object for which another thread waits. Argument:
  // stack. The stack is followed by zero bytes, up to a multiple of 8, and by
  // the woken field: eight bytes, which are 0 until the woken thread writes its
  // number and the sequence number of its wake-up (mprof_trace_mark_claim).
  MPROF_TRACE_WAKE,
  MPROF_TRACE_CALL,      // short system call; argument: stack
  MPROF_TRACE_CALL_LONG, // long system call; arguments: stack, length in ticks
  MPROF_TRACE_CALL_OPEN, // system call that has not ended; argument: stack
  MPROF_TRACE_HEAP,      // heap size; argument: number of bytes in use
  // A garbage collection begins. Arguments: its number in the session, counted
  // from 0; stack.
  MPROF_TRACE_GC_START,
  MPROF_TRACE_GC_DONE,
  // A task begins. Arguments: number of the task; number of its parent task;
  // handle of its name; stack.
  MPROF_TRACE_TASK,
  MPROF_TRACE_TASK_END, // a task ends; arguments: its number, stack
  // A region begins or ends. Arguments: number of its task; flag (0 if the
  // region begins, 1 if it ends); handle of its name; stack.
  MPROF_TRACE_REGION,
  // A message. Arguments: number of its task; handle of its key; stack; length
  // of its text; the text.
  MPROF_TRACE_LOG,
  // The labels of the thread change. Argument: number of the new label set.
  MPROF_TRACE_LABELS,
  // The thread releases a lock for which other threads wait. Arguments: stack;
  // charge, that is, the time in clock ticks that all waiters have waited since
  // the last charged release. A WAKE record with the same time follows.
  MPROF_TRACE_CHARGE,
  // The object of the BLOCK or CHARGE record that follows: a lock, a condition
  // or the like. Argument: its address.
  MPROF_TRACE_LOCK,
  MPROF_TRACE_TYPES // the number of types
};

// How a thread enters the trace.
enum mprof_trace_from {
  MPROF_TRACE_FROM_CREATE,  // created during the session; has a CREATE record
  MPROF_TRACE_FROM_RUNNING, // at the start of the session: running or runnable
  MPROF_TRACE_FROM_WAITING, // at the start of the session: waiting
  MPROF_TRACE_FROM_CALL,    // at the start of the session: in a system call
  // The thread was not found when the session began, and has no CREATE record.
  MPROF_TRACE_FROM_UNKNOWN,
  // Used only when a flight recorder's window (the newest part of the trace) is
  // written: the thread waits when the window begins, and continues to wait.
  MPROF_TRACE_FROM_WAIT,
};

// --- encoding; see also mprof_trace_begin in trace_rows.h ---

// Writes v in LEB128 at p. Returns the address after the last byte.
static inline unsigned char *mprof_trace_put(unsigned char *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (unsigned char)(v | 0x80);
    v >>= 7;
  }
  *p++ = (unsigned char)v;
  return p;
}
// Reads a number in LEB128 at *p, and advances *p past the number.
static inline uint64_t mprof_trace_get(const unsigned char **p) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    unsigned char byte = *(*p)++;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return v;
  }
}
// Returns the address of the woken field of a WAKE record. p: end of the
// record's other arguments.
static inline unsigned char *mprof_trace_woken_field(const unsigned char *p) {
  return (unsigned char *)(((uintptr_t)p + 7) & ~(uintptr_t)7);
}

// --- decoding ---

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
    mprof_trace_arguments_of[MPROF_TRACE_TYPES];
// Reads the record at p into *r. Returns the address of the next record.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);

// The state of the thread that owns a row, after the records that were read so
// far.
struct mprof_trace_thread {
  uint64_t g;          // number of the thread; 0: no thread
  uint64_t tid, start; // start: handle of the start function's stack
  uint64_t seq;        // last sequence number of the thread
  bool waits;
  uint16_t labels; // number of the label set
};
// Updates *t, the state of the thread that owns the row, for record r of the
// row.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);

// --- conversion to events ---

// Maximum depth of nested regions in the file.
#define MPROF_TRACE_REGIONS 32u

// The progress of writing a row to the file. Used only by the thread that
// writes the file.
struct mprof_trace_written {
  struct mprof_trace_thread thread;
  uint64_t left; // ticks since the last event that is in the file
  // regions: number of open regions in the file. deeper: number of open regions
  // that the file omits, because they are nested too deeply.
  uint32_t regions, deeper;
  struct {
    uint64_t task, name;
  } region[MPROF_TRACE_REGIONS]; // the open regions, outermost first
  // Number of the garbage collection whose start is in the file and whose end
  // is not yet in the file, plus 1. 0: no such collection.
  uint64_t collection;
  // true: the row belongs to the thread that started the session, and no event
  // of the row has been written yet.
  bool is_first;
  // For format 1.23. row_seq: last sequence number of the row. m: number of the
  // M (kernel thread) that represents the thread in the file.
  uint64_t row_seq, m;
};

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

// Writes the records of buffer b of row r as a batch of the file. After the end
// of the session, the batch of the last buffer also has the events of
// mprof_trace_write_row_end.
void mprof_trace_write_records(struct mprof_trace_writer *w,
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
  struct mprof_trace_form of[MPROF_TRACE_TYPES];
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
