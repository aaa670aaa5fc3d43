// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format 1.11 of the trace: the format of Go 1.11. The versions 1.5 to 1.21 of
// Go used the event types of this format. The writer of format 1.5
// (write_trace_v1_5.c) lets this module create events, and converts them.
// Events of format 1.5 have fewer arguments.

#ifndef MPROF_RT_TRACE_WRITE_TRACE_V1_H
#define MPROF_RT_TRACE_WRITE_TRACE_V1_H

#include "trace/trace_format.h"
#include "trace/trace_records.h"

struct mprof_trace_writer;

extern MPROF_HIDDEN const struct mprof_trace_format mprof_trace_format_1_11;

// The numbers of Go's event types. (Go: traceEv*)
enum mprof_v1_event {
  EV_BATCH = 1,
  EV_FREQUENCY = 2,
  EV_STACK = 3,
  EV_GOMAXPROCS = 4,
  EV_PROC_START = 5,
  EV_PROC_STOP = 6,
  EV_GC_START = 7,
  EV_GC_DONE = 8,
  EV_GO_CREATE = 13,
  EV_GO_START = 14,
  EV_GO_END = 15,
  EV_GO_PREEMPT = 18,
  EV_GO_SLEEP = 19,
  EV_GO_UNBLOCK = 21,
  EV_GO_BLOCK_SELECT = 24,
  EV_GO_BLOCK_SYNC = 25,
  EV_GO_BLOCK_COND = 26,
  EV_GO_BLOCK_NET = 27,
  EV_GO_SYS_CALL = 28,
  EV_GO_SYS_EXIT = 29,
  EV_GO_SYS_BLOCK = 30,
  EV_GO_WAITING = 31,
  EV_GO_IN_SYSCALL = 32,
  EV_HEAP_ALLOC = 33,
  EV_STRING = 37,
  EV_USER_TASK_CREATE = 45,
  EV_USER_TASK_END = 46,
  EV_USER_REGION = 47,
  EV_USER_LOG = 48,
};

// Layout of the first byte of an event. The low six bits hold the type. The
// upper two bits hold the number of arguments, without the first argument. If
// these two bits are 3, the next byte holds the length of all arguments in
// bytes. (Go: traceArgCountShift)
enum { EV_ARGS_SHIFT = 6, EV_ARGS_COUNTED = 3 };

// Implements `record` of struct mprof_trace_format for format 1.11. Format 1.5
// also calls this function, but not for records that it cannot represent.
bool mprof_v1_record(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r);

#endif // MPROF_RT_TRACE_WRITE_TRACE_V1_H
