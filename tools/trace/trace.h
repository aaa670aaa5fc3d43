// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads Go execution traces for the tools beside it; nothing of it is linked
// into a profiled program. The way of a trace:
//
//   trace_open     the file's bytes and version          open.c
//   trace_read     every event once, in the one order    v1_*.c, v2_*.c
//                  that the rules of rules.def allow
//
// The file is mapped and events are decoded when their turn comes, so memory
// grows with the batches, stacks, strings and threads, not with the events.
// Only 1.5 needs all events at once, because it sorts them.
// Not thread-safe. Running out of memory ends the tool with a message.

#ifndef MPROF_TRACE_H
#define MPROF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_rule {
#define TRACE_RULE(id, name, what) TRACE_RULE_##id,
#include "rules.def"
#undef TRACE_RULE
  TRACE_RULE_COUNT
};

enum trace_v1_type {
#define TRACE_V1(number, name, args, stack, since) V1_##name = number,
#include "v1.def"
#undef TRACE_V1
  V1_COUNT
};

enum trace_v2_type {
#define TRACE_V2(number, name, args, stack, strings, since) V2_##name = number,
#include "v2.def"
#undef TRACE_V2
  V2_COUNT
};

enum { TRACE_MAX_ARGS = 5 };

#define TRACE_NONE UINT64_MAX

struct trace_text {
  const char *bytes; // not terminated
  size_t length;
};

struct trace_frame {
  uint64_t pc;
  uint64_t function, file; // string ids
  uint64_t line;
};

struct trace_event {
  uint64_t ticks;  // of the trace's frequency
  uint64_t offset; // of the event's first byte in the file
  uint64_t g;      // thread that it belongs to; 0: none
  uint64_t p;      // slot, TRACE_NONE: none
  uint64_t m;      // kernel thread, TRACE_NONE: not known
  uint64_t args[TRACE_MAX_ARGS];
  uint64_t stack; // id, 0: none
  uint8_t type;   // enum trace_v1_type, or trace_v2_type from 1.22 on
  uint8_t arg_count;
  struct trace_text text; // of V1_UserLog
};

struct trace;

struct trace_visitor {
  // Called for every event in order; the tables are those of its generation.
  void (*event)(void *context, const struct trace_event *event);
  // Called for everything that is wrong, with a text of one line.
  void (*violation)(void *context, enum trace_rule rule, uint64_t offset,
                    const char *text);
  void *context;
};

// Opens the file at path, or standard input for "-". Gives NULL and a message
// of one line, without the path, in error.
struct trace *trace_open(const char *path, char *error, size_t size);
void trace_close(struct trace *trace);

// Reads the trace from its start to its end or to what cannot be passed over.
// May be called again. Returns the number of violations.
uint64_t trace_read(struct trace *trace, const struct trace_visitor *visitor);

// N of "go 1.N trace"; from 22 on events are of enum trace_v2_type.
unsigned trace_minor(const struct trace *trace);
bool trace_is_v2(const struct trace *trace);
// Ticks per second; not known before the first event.
uint64_t trace_frequency(const struct trace *trace);
// An empty text for ids that are not in the table, and for 0.
struct trace_text trace_string(const struct trace *trace, uint64_t id);
bool trace_text_is(struct trace_text text, const char *string);
// Frames of a stack, leaf first; their number is 0 for unknown ids.
size_t trace_stack(const struct trace *trace, uint64_t id,
                   const struct trace_frame **frames);

const char *trace_rule_name(enum trace_rule rule);
const char *trace_rule_text(enum trace_rule rule);
// "Unknown" for types that the version does not have.
const char *trace_type_name(const struct trace *trace, unsigned type);

#endif
