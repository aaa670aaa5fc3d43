// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of the execution trace: the records, the rows that hold them, and
// the state of a row's thread. Each thread writes its own row. When a thread
// ends, another thread may take over its row.

#ifndef MPROF_RT_TRACE_TRACE_TYPES_H
#define MPROF_RT_TRACE_TRACE_TYPES_H

#include "sys/os_linux.h"
#include "trace/trace_buf.h"

struct mprof_thread;
struct mprof_wait;

// The types of records, each with its numbers. All except PRE begin with the
// ticks since the last record. "stack" is the handle of a bucket, 0 for none.
enum mprof_trace_type {
  MPROF_TRACE_NONE,
  // The row belongs to a thread from now on: the thread's number, its tid, enum
  // mprof_trace_from, and the stack of its start function.
  MPROF_TRACE_BEGIN,
  MPROF_TRACE_END, // the row's thread ends
  // In the row of the thread that starts the session: another thread that
  // exists. Its number, enum mprof_trace_from, the stack of its start function,
  // and its tid. No ticks.
  MPROF_TRACE_PRE,
  // Creation of a thread: its number, stack of its start function, stack.
  MPROF_TRACE_CREATE,
  // Begin of a wait, which lasts until START: stack.
  MPROF_TRACE_BLOCK_SYNC,
  MPROF_TRACE_BLOCK_COND,
  MPROF_TRACE_BLOCK_NET,
  MPROF_TRACE_BLOCK_SELECT,
  MPROF_TRACE_SLEEP,
  // End of a wait. The waker's row has the wake, which this thread has signed.
  MPROF_TRACE_START,
  // End of a wait, if the thread could not sign the wake. The time is that of
  // the release that woke the thread, or of the start if the release is not
  // known. The stack of the release, or 0; and the ticks from the release to
  // the start.
  MPROF_TRACE_START_SELF,
  // A release that wakes a thread. After the ticks and the stack come at least
  // four zeros, up to a multiple of 8, then the slot that the woken thread
  // signs, eight bytes (trace_buf.h).
  MPROF_TRACE_WAKE,
  MPROF_TRACE_CALL,      // short system call: stack
  MPROF_TRACE_CALL_LONG, // long system call: stack, its length in ticks
  MPROF_TRACE_CALL_OPEN, // system call that has not ended: stack
  MPROF_TRACE_HEAP,      // bytes in use
  // Begin of a garbage collection: its number in the session, from 0; stack.
  MPROF_TRACE_GC_START,
  MPROF_TRACE_GC_DONE,
  // Begin of a task: its number, its parent's number, handle of the name,
  // stack.
  MPROF_TRACE_TASK,
  MPROF_TRACE_TASK_END, // task, stack
  MPROF_TRACE_REGION,   // task, 0 begin or 1 end, handle of the name, stack
  MPROF_TRACE_LOG,      // task, handle of the key, stack, length, then bytes
  MPROF_TRACE_LABELS,   // the thread's new set of labels: number of the set
};

// How a thread comes into the trace.
enum mprof_trace_from {
  MPROF_TRACE_FROM_CREATE,  // a record CREATE has its creation
  MPROF_TRACE_FROM_RUNNING, // it existed at the begin, and ran or was runnable
  MPROF_TRACE_FROM_WAITING, // it existed at the begin, and waited
  MPROF_TRACE_FROM_CALL,    // it existed at the begin, in a system call
  MPROF_TRACE_FROM_UNKNOWN, // its creation was not seen
  // Only in the first batch of a window: it existed, and goes on waiting.
  MPROF_TRACE_FROM_WAIT,
};

// Maximum depth of nested regions.
#define MPROF_TRACE_REGIONS 32u

// The state of a row's thread after some of its records.
struct mprof_trace_thread {
  uint64_t g;            // number of the thread; 0: no thread
  uint64_t tid, start;   // start: handle of the start function's stack
  uint64_t seq, skipped; // see struct mprof_trace_row
  bool waits;
  uint16_t labels; // set of labels that the row has for the thread
};

// How far a row has been written to the file. Only the writer uses it.
struct mprof_trace_written {
  struct mprof_trace_thread thread;
  uint64_t left; // ticks since the last event
  // Number of regions that have begun in the file and not ended; and number of
  // deeper regions, which are not in the file.
  uint32_t regions, deeper;
  struct {
    uint64_t task, name;
  } region[MPROF_TRACE_REGIONS]; // outermost first
  // 1 + the number of the collection that has begun in the file and not ended.
  uint64_t collection;
  // The row belongs to the thread that began the session, and nothing of it has
  // been written so far.
  bool is_first;
  // For the format 1.23: sequence number of the row, and number of the M that
  // stands for the thread.
  uint64_t row_seq, m;
};

// A row: the records of a thread. The thread writes it between
// mprof_trace_enter and mprof_trace_leave. At the end of the session, when no
// thread is between the two, the thread that ends the session writes it.
struct mprof_trace_row {
  // Lists of all rows and of unused rows; guarded by trace_lock.
  _Alignas(64) struct mprof_trace_row *next;
  struct mprof_trace_row *next_unused;
  // Oldest buffer. The row's thread sets it once, with its first buffer; later
  // only the thread that writes or drops buffers sets it.
  struct mprof_trace_buf *_Atomic first;
  struct mprof_trace_buf *last; // buffer that is being filled
  bool is_cut;                  // records before `first` are gone
  uint64_t ticks; // time of the last record, in ticks of the trace
  uint64_t g;     // number of the row's thread; 0: none, or it has ended
  uint32_t seq;   // sequence number of the thread, as the writer will count
  uint32_t id;    // number of the row, from 0
  uint32_t start; // handle of the stack of the thread's start function
  int tid;
  char name[MPROF_THREAD_NAME]; // name that the trace has for the thread
  bool is_named;                // the thread's name has been read
  bool has_own_name;            // the name differs from the program's
  uint16_t labels;              // set of labels that the trace has for it
  struct mprof_thread *thread;  // the runtime's record of the thread
  // The thread may never finish the record that it is writing. Its buffers must
  // stay mapped.
  bool is_left;
  // Frame address of the entry of the present wait; 0: the thread does not
  // wait. Events deeper on the stack belong to a signal handler and are not in
  // the trace, unless the wait was left by a longjmp. An event further out
  // shows that it was left; so does an entry's frame that was overwritten.
  uintptr_t waits_in;
  const struct mprof_wait *wait; // the wait, in that frame
  uint64_t waits_since; // begin of the wait; its end must have this one
  // A wait without a record so far: its time, stack and type. open_ticks 0: the
  // wait has a record.
  uint64_t open_ticks;
  uint32_t open_stack;
  enum mprof_trace_type open_type;
  // Number of sequence numbers in seq that the format 1.23 does not count:
  // those of system calls, and of a wait that began before the session.
  uint32_t skipped;
  struct mprof_trace_written written;
};

// The result of writing a file.
struct mprof_trace_result {
  uint64_t events; // number of events in the file
  int cut; // -errno that made the file lose its oldest part; 0: it is whole
};

#endif // MPROF_RT_TRACE_TRACE_TYPES_H
