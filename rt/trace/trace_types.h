// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of the execution trace: the records, the rows that hold the
// records, and the state of the thread that owns a row. Each thread writes only
// its own row. When a thread ends, another thread may take over its row.

#ifndef MPROF_RT_TRACE_TRACE_TYPES_H
#define MPROF_RT_TRACE_TRACE_TYPES_H

#include "sys/os_linux.h"
#include "trace/trace_buf.h"

struct mprof_thread;
struct mprof_wait;

// The field size of a bucket whose only address is that of a start function.
// Other buckets of the trace have 0.
enum { MPROF_TRACE_IS_START = 1 };

// The types of records. Each comment lists the arguments of the record. All
// types except PRE have one argument before those listed: the time since the
// previous record, in ticks. "stack" is the handle of a bucket, 0 for none.
enum mprof_trace_type {
  MPROF_TRACE_NONE,
  // A thread takes over the row: number of the thread, its tid, enum
  // mprof_trace_from, stack of its start function.
  MPROF_TRACE_BEGIN,
  MPROF_TRACE_END, // end of the thread that owns the row
  // Another thread that exists when the session begins: its number, enum
  // mprof_trace_from, stack of its start function, its tid. Has no time. Only
  // the row of the thread that starts the session has this record.
  MPROF_TRACE_PRE,
  // Creation of a thread: its number, stack of its start function, stack of the
  // creating call.
  MPROF_TRACE_CREATE,
  // A wait begins. Argument: the stack. A START or START_SELF record ends the
  // wait.
  MPROF_TRACE_BLOCK_SYNC,
  MPROF_TRACE_BLOCK_COND,
  MPROF_TRACE_BLOCK_NET,
  MPROF_TRACE_BLOCK_SELECT,
  MPROF_TRACE_SLEEP,
  // End of a wait. The wake-up is in another row: a WAKE record into which this
  // thread has written its number.
  MPROF_TRACE_START,
  // End of a wait, if the thread could not write its number into a WAKE record:
  // stack of the release or 0, ticks from the release to the end of the wait.
  // The time of the record is the time of the release. If the release is
  // unknown, it is the time at which the wait ended.
  MPROF_TRACE_START_SELF,
  // A release of an object on which a thread waits: stack. At least four zero
  // bytes follow, up to a multiple of 8. Then comes the slot of eight bytes
  // into which the woken thread writes its number (trace_buf.h).
  MPROF_TRACE_WAKE,
  MPROF_TRACE_CALL,      // short system call: stack
  MPROF_TRACE_CALL_LONG, // long system call: stack, duration in ticks
  MPROF_TRACE_CALL_OPEN, // system call under way at the end: stack
  MPROF_TRACE_HEAP,      // number of bytes in use
  // Begin of a garbage collection: its number in the session, counted from 0;
  // stack.
  MPROF_TRACE_GC_START,
  MPROF_TRACE_GC_DONE,
  // Begin of a task: its number, number of the parent task, handle of the name,
  // stack.
  MPROF_TRACE_TASK,
  MPROF_TRACE_TASK_END, // task, stack
  MPROF_TRACE_REGION,   // task, 0: begin, 1: end, handle of the name, stack
  MPROF_TRACE_LOG,      // task, handle of the key, stack, length, text
  MPROF_TRACE_LABELS,   // change of the thread's labels: number of the set
};

// How a thread enters the trace.
enum mprof_trace_from {
  MPROF_TRACE_FROM_CREATE,  // the trace has a CREATE record for it
  MPROF_TRACE_FROM_RUNNING, // at the begin of the session: running or runnable
  MPROF_TRACE_FROM_WAITING, // at the begin of the session: waiting
  MPROF_TRACE_FROM_CALL,    // at the begin of the session: in a system call
  MPROF_TRACE_FROM_UNKNOWN, // not on the list, creation not recorded
  // Used only when a window is written: the thread waits at the begin of the
  // window, and goes on waiting.
  MPROF_TRACE_FROM_WAIT,
};

// Maximum depth of nested regions.
#define MPROF_TRACE_REGIONS 32u

// The state of the thread that owns a row, after the records read so far.
struct mprof_trace_thread {
  uint64_t g;            // number of the thread; 0: no thread
  uint64_t tid, start;   // start: handle of the stack of its start function
  uint64_t seq, skipped; // see struct mprof_trace_row
  bool waits;
  uint16_t labels; // number of the label set
};

// The progress of writing a row to the file. Only the writer uses it.
struct mprof_trace_written {
  struct mprof_trace_thread thread;
  uint64_t left; // ticks since the last event in the file
  // regions: number of open regions in the file. deeper: number of open regions
  // that are nested too deeply, so that the file omits them.
  uint32_t regions, deeper;
  struct {
    uint64_t task, name;
  } region[MPROF_TRACE_REGIONS]; // outermost first
  // 1 + the number of the garbage collection whose begin is in the file and
  // whose end is not; 0: none.
  uint64_t collection;
  // true: the row belongs to the thread that started the session, and its first
  // event has not been written yet.
  bool is_first;
  // For the format 1.23: last sequence number of the row, and number of the M
  // (kernel thread) that represents the thread.
  uint64_t row_seq, m;
};

// A row: the records of a thread. The thread writes the row between
// mprof_trace_enter and mprof_trace_leave. At the end of the session, when no
// thread is between these calls, the thread that ends the session adds the last
// records.
struct mprof_trace_row {
  // Links of the list of all rows and of the list of unused rows; guarded by
  // trace_lock.
  _Alignas(64) struct mprof_trace_row *next;
  struct mprof_trace_row *next_unused;
  // Oldest buffer. The thread that owns the row sets this pointer once, with
  // its first buffer. Later only a thread that writes or drops buffers sets it.
  struct mprof_trace_buf *_Atomic first;
  struct mprof_trace_buf *last; // buffer that is being filled
  bool is_cut;    // older records than those of `first` were dropped
  uint64_t ticks; // time of the last record, in ticks of the trace
  uint64_t g;     // number of the owner; 0: no owner, or it has ended
  uint32_t seq;   // sequence number of the owner; the writer counts alike
  uint32_t id;    // number of the row, from 0
  uint32_t start; // handle of the stack of the thread's start function
  int tid;
  char name[MPROF_THREAD_NAME]; // thread name that the trace has recorded
  bool is_named;                // the thread's name has been read
  bool has_own_name;            // `name` is not the program's name
  uint16_t labels;              // number of the recorded label set
  struct mprof_thread *thread;  // the owner in the runtime's list of threads
  // true: the thread may never finish the record that it was writing. Therefore
  // its buffers must stay mapped.
  bool is_left;
  // Frame address of the hook whose wait is under way; 0: the thread does not
  // wait. An event in a deeper frame belongs to a signal handler and is not
  // recorded. A longjmp or an exception may leave the wait. An event in an
  // outer frame reveals this, and so do overwritten data in the frame of the
  // hook.
  uintptr_t waits_in;
  const struct mprof_wait *wait; // data of the wait, in the frame of the hook
  uint64_t waits_since; // begin of the wait; identifies the wait at its end
  // A wait whose begin is not recorded yet: its time, stack and type.
  // open_ticks is 0 if there is no such wait.
  uint64_t open_ticks;
  uint32_t open_stack;
  enum mprof_trace_type open_type;
  // How many of the numbers counted in seq the format 1.23 does not use: the
  // numbers of system calls, and of a wait that began before the session.
  uint32_t skipped;
  struct mprof_trace_written written;
};

// The result of writing a file.
struct mprof_trace_result {
  uint64_t events; // number of events in the file
  int cut; // -errno why the oldest part is missing; 0: the file is complete
};

#endif // MPROF_RT_TRACE_TRACE_TYPES_H
