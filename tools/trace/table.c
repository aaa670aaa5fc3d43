// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores the strings, stacks and streams of a trace. Each generation of the
// trace has its own tables.

#include "table.h"

#include "common/memory.h"
#include "common/plural.h"
#include "number.h"
#include "report.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The longest strings (in bytes) and stacks (in frames) that Go's readers
// accept.
enum { STRING_MAX = 1024, FRAMES_MAX = 128 };

bool add_string(struct trace *t, uint64_t id, const uint8_t *bytes,
                uint64_t length, uint64_t offset) {
  size_t known;
  if (length > STRING_MAX) {
    violate(t, TRACE_RULE_STRING_ENTRY, offset,
            "string %" PRIu64 " has %" PRIu64
            " bytes, but readers accept at most %d",
            id, length, STRING_MAX);
    return false;
  }
  if (idmap_find(&t->string_ids, id, &known)) {
    violate(t, TRACE_RULE_STRING_ENTRY, offset,
            "string %" PRIu64 " is defined twice", id);
    return false;
  }
  idmap_add(&t->string_ids, id, t->string_count);
  *APPEND(t->strings, t->string_count, t->string_capacity) =
      (struct trace_text){(const char *)bytes, length};
  return true;
}

static bool truncated_stack(struct trace *t, uint64_t id, uint64_t offset) {
  violate(t, TRACE_RULE_STACK_FRAMES, offset,
          "the frames of stack %" PRIu64 " do not match its frame count", id);
  return false;
}

bool add_stack(struct trace *t, uint64_t id, const uint8_t *body,
               const uint8_t *end, uint64_t offset) {
  uint64_t count;
  if (read_number(&body, end, &count))
    return truncated_stack(t, id, offset);
  if (count > FRAMES_MAX) {
    violate(t, TRACE_RULE_STACK_FRAMES, offset,
            "stack %" PRIu64 " has %" PRIu64
            " frames, but readers accept at most %d",
            id, count, FRAMES_MAX);
    return false;
  }
  size_t first = t->frame_count;
  for (uint64_t i = 0; i < count; i++) {
    struct trace_frame frame = {0};
    if (read_number(&body, end, &frame.pc) ||
        read_number(&body, end, &frame.function) ||
        read_number(&body, end, &frame.file) ||
        read_number(&body, end, &frame.line))
      return truncated_stack(t, id, offset);
    size_t known;
    if (!idmap_find(&t->pcs, frame.pc, &known)) {
      idmap_add(&t->pcs, frame.pc, t->frame_count);
    } else if (memcmp(&t->frames[known], &frame, sizeof frame) != 0) {
      violate(t, TRACE_RULE_PC_ONE_FRAME, offset,
              "frame %" PRIu64 " of stack %" PRIu64 " has another function or "
              "line than an earlier frame at pc 0x%" PRIx64
              ", and readers show the earlier frame in place of this one",
              i, id, frame.pc);
    }
    *APPEND(t->frames, t->frame_count, t->frame_capacity) = frame;
  }
  if (body != end)
    return truncated_stack(t, id, offset);
  // Do not store a stack with id 0, because id 0 means that there is no stack.
  // Also ignore an empty stack, and a stack whose id is already known.
  size_t known;
  if (id && count && !idmap_find(&t->stack_ids, id, &known)) {
    idmap_add(&t->stack_ids, id, t->stack_count);
    *APPEND(t->stacks, t->stack_count, t->stack_capacity) =
        (struct stack_range){first, count};
  }
  return true;
}

void check_frequency(struct trace *t) {
  if (t->generation_frequency)
    return;
  t->is_cut = true;
  if (!t->frequency)
    t->frequency = 1000000000;
  violate(t, TRACE_RULE_FREQUENCY, t->size,
          "a generation has no Frequency record; times are shown as if the "
          "clock had %" PRIu64 " ticks per second",
          t->frequency);
}

void check_frames(struct trace *t) {
  for (size_t i = 0; i < t->frame_count; i++) {
    const struct trace_frame *frame = &t->frames[i];
    const uint64_t ids[] = {frame->function, frame->file};
    for (size_t k = 0; k < 2; k++) {
      size_t known;
      if (ids[k] && !t->is_cut && !idmap_find(&t->string_ids, ids[k], &known)) {
        violate(t, TRACE_RULE_UNKNOWN_STRING, t->size,
                "the frame at pc 0x%" PRIx64 " names string %" PRIu64
                ", which is not defined",
                frame->pc, ids[k]);
        return;
      }
    }
  }
}

void check_stack_id(struct trace *t, const struct trace_event *ev,
                    uint64_t id) {
  size_t known;
  if (id && !t->is_cut && !idmap_find(&t->stack_ids, id, &known))
    violate(t, TRACE_RULE_UNKNOWN_STACK, ev->offset,
            "%s: stack %" PRIu64 " is not defined", describe(ev), id);
}

void check_string_id(struct trace *t, const struct trace_event *ev,
                     uint64_t id) {
  size_t known;
  if (id && !t->is_cut && !idmap_find(&t->string_ids, id, &known))
    violate(t, TRACE_RULE_UNKNOWN_STRING, ev->offset,
            "%s: string %" PRIu64 " is not defined", describe(ev), id);
}

void clear_tables(struct trace *t) {
  idmap_clear(&t->string_ids);
  idmap_clear(&t->stack_ids);
  idmap_clear(&t->pcs);
  idmap_clear(&t->stream_ids);
  for (size_t i = 0; i < t->stream_count; i++)
    free(t->streams[i].batches);
  t->string_count = t->stack_count = t->frame_count = 0;
  t->stream_count = t->sample_count = 0;
}

struct stream *stream_of(struct trace *t, uint64_t id) {
  const size_t index = idmap_get(&t->stream_ids, id, t->stream_count);
  if (index == t->stream_count)
    *APPEND(t->streams, t->stream_count, t->stream_capacity) =
        (struct stream){.id = id};
  return &t->streams[index];
}

struct trace_text trace_string(const struct trace *t, uint64_t id) {
  size_t index;
  if (!idmap_find(&t->string_ids, id, &index))
    return (struct trace_text){"", 0};
  return t->strings[index];
}

size_t trace_stack(const struct trace *t, uint64_t id,
                   const struct trace_frame **frames) {
  size_t index;
  *frames = NULL;
  if (!id || !idmap_find(&t->stack_ids, id, &index))
    return 0;
  *frames = &t->frames[t->stacks[index].first];
  return t->stacks[index].count;
}
