// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of the execution trace, and the rows that hold them.

#ifndef MPROF_RT_TRACE_TRACE_TYPES_H
#define MPROF_RT_TRACE_TRACE_TYPES_H

#include "sys/os_linux.h"
#include "trace/trace_buf.h"

struct mprof_thread;
struct mprof_wait;

// What a record is, and its numbers. All but PRE begin with the ticks since the
// last one; stack is the handle of a bucket, 0 for none.
enum mprof_trace_type {
  MPROF_TRACE_NONE,
  // The thread that the row is of from now on: its number, its tid, enum
  // mprof_trace_from, and the stack of what it runs.
  MPROF_TRACE_BEGIN,
  MPROF_TRACE_END, // of that thread
  // Of the thread that starts the session: another that there was already. Its
  // number, enum mprof_trace_from, the stack of what it runs, and its tid. No
  // ticks.
  MPROF_TRACE_PRE,
  MPROF_TRACE_CREATE, // number, stack of what it will run, stack
  // Waits, until START: stack.
  MPROF_TRACE_BLOCK_SYNC,
  MPROF_TRACE_BLOCK_COND,
  MPROF_TRACE_BLOCK_NET,
  MPROF_TRACE_BLOCK_SELECT,
  MPROF_TRACE_SLEEP,
  // The end of a wait: by whom is in the waker's row, or nobody knows.
  MPROF_TRACE_START,
  // The same, of who could not sign there: its time is that of the release that
  // woke the thread, or that of the start. The stack of the release, or 0, and
  // the ticks from then to the start.
  MPROF_TRACE_START_SELF,
  // What a waker leaves room for: four zeros and more up to a multiple of 8,
  // then who was woken, eight bytes (trace_buf.h). Ticks and stack before them.
  MPROF_TRACE_WAKE,
  MPROF_TRACE_CALL,      // a short system call: stack
  MPROF_TRACE_CALL_LONG, // stack, ticks that it took
  MPROF_TRACE_CALL_OPEN, // one that has not ended: stack
  MPROF_TRACE_HEAP,      // bytes in use
  MPROF_TRACE_GC_START,  // which of the session, from 0; stack
  MPROF_TRACE_GC_DONE,
  MPROF_TRACE_TASK,     // number, parent's, handle of the name, stack
  MPROF_TRACE_TASK_END, // number, stack
  MPROF_TRACE_REGION,   // task, 0 start or 1 end, handle of the name, stack
  MPROF_TRACE_LOG,      // task, handle of the key, stack, length, then bytes
  MPROF_TRACE_LABELS,   // the thread's from now on: number of the set
};

// How a thread comes into the trace.
enum mprof_trace_from {
  MPROF_TRACE_FROM_CREATE,  // a record CREATE says it
  MPROF_TRACE_FROM_RUNNING, // it was there, and ran or was about to
  MPROF_TRACE_FROM_WAITING, // it was there, and waited
  MPROF_TRACE_FROM_CALL,    // it was there, in a system call
  MPROF_TRACE_FROM_UNKNOWN, // it came without being seen
  // Of the first part of a window only: it was there, and waits on.
  MPROF_TRACE_FROM_WAIT,
};

#define MPROF_TRACE_REGIONS 32u

// A row's thread after some of its records.
struct mprof_trace_thread {
  uint64_t g; // 0: none
  uint64_t tid, start;
  uint64_t seq, skipped; // its numbers so far, as a row counts them
  bool waits;
  uint16_t labels; // as far as the row has them
};

// How far a row has been written to the file; the writer's.
struct mprof_trace_written {
  struct mprof_trace_thread thread;
  uint64_t left; // ticks that no event had yet
  // Regions that have begun in the file and not ended, outermost first; those
  // that are deeper are not in it.
  uint32_t regions, deeper;
  struct {
    uint64_t task, name;
  } region[MPROF_TRACE_REGIONS];
  // 1 + the number of the collection that has begun in the file and not ended.
  uint64_t collection;
  bool is_first; // of the thread that began the session, so far unwritten
  // Of the format 1.23: the row's sequence number, and the thread's M.
  uint64_t row_seq, m;
};

// A row. Its thread writes it, between enter and leave; when all is quiet the
// session's end does.
struct mprof_trace_row {
  _Alignas(64) struct mprof_trace_row *next; // of all; guarded by trace_lock
  struct mprof_trace_row *next_unused;       // the same
  struct mprof_trace_buf *_Atomic first; // the oldest; the writer's from then
  struct mprof_trace_buf *last;          // that is being filled
  bool is_cut;    // buffers before the first are gone; as first
  uint64_t ticks; // of the last record
  uint64_t g;     // of the thread that it is of; 0: none, or it has ended
  uint32_t seq;   // that thread's, as the writer will count
  uint32_t id;    // from 0
  uint32_t start; // and what it runs
  int tid;
  char name[MPROF_THREAD_NAME]; // as far as the trace has it
  bool is_named;                // it has been asked for
  bool has_own_name;
  uint16_t labels;             // as far as the trace has them
  struct mprof_thread *thread; // the runtime's record
  // The thread may never leave the record that it is in: what it has stays.
  bool is_left;
  // Frame address of the entry whose wait is under way, 0: none. What is done
  // deeper on the stack is a signal handler's, and not in the trace, unless the
  // wait was left by a longjmp: then what is further out shows it, or that the
  // entry's frame is not there any more.
  uintptr_t waits_in;
  const struct mprof_wait *wait; // in that frame
  uint64_t waits_since;          // when it began, by which its end knows it
  // Such a wait that has no record yet; ticks 0: it has one.
  uint64_t open_ticks;
  uint32_t open_stack;
  enum mprof_trace_type open_type;
  // Of those in seq, how many the format 1.23 does not count: those of system
  // calls, and of a wait that there was already.
  uint32_t skipped;
  struct mprof_trace_written written;
};

// What has been written.
struct mprof_trace_result {
  uint64_t events;
  int cut; // why the file lacks the oldest part, an errno value; 0: it does not
};

#endif // MPROF_RT_TRACE_TRACE_TYPES_H
