// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events and stack frames of a trace.
//
// The names G, M and P come from Go. A G is a thread of the program. An M is
// the kernel thread that runs a G. A P is a slot in which one G at a time runs.

#ifndef MPROF_TRACE_EVENT_H
#define MPROF_TRACE_EVENT_H

#include <stdint.h>

enum { TRACE_MAX_ARGS = 5 };

#define TRACE_NONE UINT64_MAX

struct trace_frame {
  uint64_t pc;
  uint64_t function, file; // ids of strings
  uint64_t line;
};

struct trace_event {
  uint64_t ticks;  // time; trace_frequency returns the ticks per second
  uint64_t offset; // offset of the event's first byte in the file
  uint64_t g;      // thread of the event; 0: none
  uint64_t p;      // P (a slot of Go's scheduler); TRACE_NONE: none
  uint64_t m;      // kernel thread; TRACE_NONE: not known
  uint64_t args[TRACE_MAX_ARGS];
  uint64_t stack; // id of the stack; 0: none
  uint8_t type;   // enum trace_event_type
  uint8_t arg_count;
};

#endif
