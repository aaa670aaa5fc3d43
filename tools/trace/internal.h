// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of the trace reader share, by the file that defines it.

#ifndef MPROF_TRACE_INTERNAL_H
#define MPROF_TRACE_INTERNAL_H

#include "idmap.h"
#include "trace.h"

struct stack_range {
  size_t first, count; // in trace.frames
};

// Consecutive events of one stream, between two batch headers.
struct batch {
  uint64_t start, end; // offsets
  uint64_t ticks, seq; // what the first event's differences count from
};

// All batches of a P (until 1.21) or of an M (from 1.22 on), in file order.
struct stream {
  uint64_t id;
  struct batch *batches;
  size_t count, capacity;
};

struct trace {
  const uint8_t *data;
  size_t size;
  bool mapped;
  unsigned minor;
  const struct trace_visitor *visitor;
  uint64_t violations;

  uint64_t frequency;
  // The generation format: of the generation that is read.
  uint64_t generation, generation_frequency;
  bool has_snapshot;
  struct idmap string_ids;
  struct trace_text *strings;
  size_t string_count, string_capacity;
  struct idmap stack_ids;
  struct stack_range *stacks;
  size_t stack_count, stack_capacity;
  struct trace_frame *frames;
  size_t frame_count, frame_capacity;
  struct idmap pcs; // index of the first frame with the pc
  struct idmap stream_ids;
  struct stream *streams;
  size_t stream_count, stream_capacity;
  struct trace_event *samples; // CPU samples
  size_t sample_count, sample_capacity;
};

// memory.c
void *grow(void *array, size_t *capacity, size_t count, size_t size);
void *zeroed(size_t count, size_t size);
// Makes room for one more element of array and gives a pointer to it.
#define APPEND(array, count, capacity)                                         \
  ((array) = grow((array), &(capacity), (count) + 1, sizeof *(array)),         \
   &(array)[(count)++])

// number.c
enum { NUMBER_TRUNCATED = 1, NUMBER_TOO_LONG };
// LEB128; moves *at behind the number. Returns 0 or one of the above.
int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value);

// report.c
__attribute__((format(printf, 4, 5))) void violate(struct trace *t,
                                                   enum trace_rule rule,
                                                   uint64_t offset,
                                                   const char *format, ...);
// "GoStart(2, 1) of G 2 on P 1", in one of a few buffers used in turn.
const char *describe(const struct trace *t, const struct trace_event *ev);

// table.c
// Each returns false after a violation.
bool add_string(struct trace *t, uint64_t id, const uint8_t *bytes,
                uint64_t length, uint64_t offset);
// body: number of frames, then pc, function, file and line of each.
bool add_stack(struct trace *t, uint64_t id, const uint8_t *body,
               const uint8_t *end, uint64_t offset);
void check_frames(struct trace *t);
void check_stack_id(struct trace *t, const struct trace_event *ev, uint64_t id);
void check_string_id(struct trace *t, const struct trace_event *ev,
                     uint64_t id);
void clear_tables(struct trace *t);
struct stream *stream_of(struct trace *t, uint64_t id);

// The labels of the events with which a G begins to wait, but for a system
// call; without the last colon.
#define V1_WAIT_CASES                                                          \
  case V1_GoSleep:                                                             \
  case V1_GoBlock:                                                             \
  case V1_GoBlockSend:                                                         \
  case V1_GoBlockRecv:                                                         \
  case V1_GoBlockSelect:                                                       \
  case V1_GoBlockSync:                                                         \
  case V1_GoBlockCond:                                                         \
  case V1_GoBlockNet:                                                          \
  case V1_GoBlockGC

// v1_scan.c
struct v1_record {
  uint64_t offset;
  uint8_t type;
  unsigned count;                      // of values
  uint64_t values[TRACE_MAX_ARGS + 4]; // with differences and stack id
  const uint8_t *body, *body_end;      // of counted records
  struct trace_text text;              // of UserLog
};
const char *v1_name(unsigned type);
bool v1_has_stack(unsigned type);
// Decodes the record at *at; false after a violation.
bool v1_decode(struct trace *t, const uint8_t **at, struct v1_record *record);
// First pass: batches, tables and what can be said of single records.
bool v1_scan(struct trace *t);

// v1_order.c: second pass.
void v1_order(struct trace *t);

// v1_rules.c: what must hold for the events in their order.
struct v1_rules;
struct v1_rules *v1_rules_new(struct trace *t);
void v1_rules_event(struct v1_rules *rules, const struct trace_event *ev);
void v1_rules_end(struct v1_rules *rules);

// v2_scan.c
const char *v2_name(unsigned type);
// Decodes the event at *at, with the time difference as its ticks; false after
// a violation.
bool v2_decode(struct trace *t, const uint8_t **at, const uint8_t *end,
               struct trace_event *ev);
// Whether the stacks and strings that ev names are there.
void v2_check_ids(struct trace *t, const struct trace_event *ev);
// Reads the tables and finds the batches of the generation at *at, and moves
// *at behind it.
bool v2_scan_generation(struct trace *t, const uint8_t **at);

// v2_order.c
void v2_read(struct trace *t);

// v2_state.c: the states of all Gs, Ps and threads, and what an event needs of
// them and does to them.
struct v2_state;
struct v2_state *v2_state_new(struct trace *t);
void v2_state_free(struct v2_state *state);
void v2_begin_generation(struct v2_state *state);
// Takes the event of thread ev->m if it can come next, and completes its G and
// P; false: not yet.
bool v2_advance(struct v2_state *state, struct trace_event *ev);
// Says why the event cannot come next.
void v2_explain(struct v2_state *state, const struct trace_event *ev);

#endif
