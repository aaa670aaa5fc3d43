// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout of a trace in the formats 1.22 to 1.26: the header, then batches.
// Every number is LEB128. A batch begins with EventBatch, generation, M, ticks
// and size. Then come size bytes, which contain one of these (the dots mean
// that the last entry repeats):
//
//   Strings, then String, id, length, bytes ...
//   Stacks, then Stack, id, count, count * (pc, function, file, line) ...
//   CPUSamples, then CPUSample, ticks, M, P, G, stack ...
//   Frequency, ticks per second                          until 1.24
//   Sync, then Frequency ..., ClockSnapshot, 4 numbers   since 1.25
//   events: type, time difference, arguments ...
//
// An ExperimentalBatch has one more byte after its type. The reader skips this
// batch. An EndOfGeneration (since 1.26) is not part of a batch.

#include "scan.h"

#include "common/memory.h"
#include "common/plural.h"
#include "event_types.h"
#include "number.h"
#include "report.h"
#include "table.h"
#include "trace_data.h"

#include <inttypes.h>

enum { BATCH_MAX = 64 << 10, SYNC_SINCE = 25, END_SINCE = 26 };

static bool bad_number(struct trace *t, int error, uint64_t offset,
                       const char *what) {
  violate(t,
          error == NUMBER_TRUNCATED ? TRACE_RULE_TRUNCATED : TRACE_RULE_NUMBER,
          offset,
          error == NUMBER_TRUNCATED
              ? "%s: the record ends inside a number"
              : "%s: a number is longer than 10 bytes or 64 bits",
          what);
  return false;
}

static bool read_numbers(struct trace *t, const uint8_t **at,
                         const uint8_t *end, uint64_t offset, const char *what,
                         uint64_t *values, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int error = read_number(at, end, &values[i]);
    if (error)
      return bad_number(t, error, offset, what);
  }
  return true;
}

bool scan_event(struct trace *t, const uint8_t **at, const uint8_t *end,
                struct trace_event *ev) {
  *ev = (struct trace_event){.offset = *at - t->data,
                             .p = TRACE_NONE,
                             .m = TRACE_NONE,
                             .type = *(*at)++};
  if (!event_type_is_timed(ev->type, t->minor)) {
    violate(t, TRACE_RULE_EVENT_TYPE, ev->offset,
            "type %u is not an event of go 1.%u", ev->type, t->minor);
    return false;
  }
  ev->arg_count = event_type_arg_count(ev->type);
  if (!read_numbers(t, at, end, ev->offset, event_type_name(ev->type),
                    &ev->ticks, 1) ||
      !read_numbers(t, at, end, ev->offset, event_type_name(ev->type), ev->args,
                    ev->arg_count))
    return false;
  unsigned stack = event_type_stack_arg(ev->type);
  if (stack)
    ev->stack = ev->args[stack - 1];
  return true;
}

void check_ids(struct trace *t, const struct trace_event *ev) {
  check_stack_id(t, ev, ev->stack);
  if (ev->type == EV_GoCreate || ev->type == EV_GoCreateBlocked)
    check_stack_id(t, ev, ev->args[1]);
  for (unsigned i = 1; i <= ev->arg_count; i++)
    if (event_type_is_string_arg(ev->type, i))
      check_string_id(t, ev, ev->args[i - 1]);
}

static bool read_frequency(struct trace *t, const uint8_t **at,
                           const uint8_t *end, uint64_t offset) {
  uint64_t frequency;
  if (!read_numbers(t, at, end, offset, "Frequency", &frequency, 1))
    return false;
  if (t->generation_frequency || !frequency || frequency > INT64_MAX) {
    violate(t, TRACE_RULE_FREQUENCY, offset,
            "a generation has one Frequency, from 1 to 2^63-1 ticks per "
            "second, but this Frequency is %" PRIu64
            ", and the earlier Frequency of the generation (0: there is none) "
            "is %" PRIu64,
            frequency, t->generation_frequency);
    return false;
  }
  t->frequency = t->generation_frequency = frequency;
  return true;
}

static bool read_entry(struct trace *t, const uint8_t **at, const uint8_t *end,
                       unsigned type, uint64_t offset) {
  uint64_t v[5];
  const char *what = event_type_name(type);
  switch (type) {
  case EV_String:
    if (!read_numbers(t, at, end, offset, what, v, 2))
      return false;
    if (v[1] > (uint64_t)(end - *at))
      return bad_number(t, NUMBER_TRUNCATED, offset, what);
    *at += v[1];
    return add_string(t, v[0], *at - v[1], v[1], offset);
  case EV_Stack: {
    if (!read_numbers(t, at, end, offset, what, v, 1))
      return false;
    // The trace does not give the stack's length in bytes, so read the frames
    // to find the end of the stack.
    const uint8_t *body = *at;
    uint64_t count, number;
    if (!read_numbers(t, at, end, offset, what, &count, 1))
      return false;
    for (uint64_t i = 0; i < count && i < BATCH_MAX; i++)
      for (unsigned k = 0; k < 4; k++)
        if (!read_numbers(t, at, end, offset, what, &number, 1))
          return false;
    return add_stack(t, v[0], body, *at, offset);
  }
  case EV_CPUSample:
    if (!read_numbers(t, at, end, offset, what, v, 5))
      return false;
    *APPEND(t->samples, t->sample_count, t->sample_capacity) =
        (struct trace_event){.ticks = v[0],
                             .offset = offset,
                             .m = v[1],
                             .p = v[2],
                             .g = v[3],
                             .stack = v[4],
                             .type = EV_CPUSample};
    return true;
  case EV_Frequency:
    return read_frequency(t, at, end, offset);
  default: // EV_ClockSnapshot, the only other type
    t->has_snapshot = true;
    return read_numbers(t, at, end, offset, what, v, 4);
  }
}

// Returns the type of the entries in a batch whose first byte is `type`.
// Returns 0 if the batch has events instead of a table.
static unsigned entry_of(const struct trace *t, unsigned type) {
  switch (type) {
  case EV_Strings:
    return EV_String;
  case EV_Stacks:
    return EV_Stack;
  case EV_CPUSamples:
    return EV_CPUSample;
  case EV_Frequency:
    return t->minor < SYNC_SINCE ? EV_Frequency : 0;
  case EV_Sync:
    return t->minor >= SYNC_SINCE ? EV_Frequency : 0;
  default:
    return 0;
  }
}

static bool read_table(struct trace *t, const uint8_t *at, const uint8_t *end,
                       unsigned entry) {
  // Every batch with a table begins with one byte for the type of the batch,
  // except a Frequency batch. A Frequency batch is a single entry, and its
  // first byte is the type of this entry.
  bool sync = *at == EV_Sync;
  if (*at != EV_Frequency)
    at++;
  while (at < end) {
    uint64_t offset = at - t->data;
    unsigned type = *at++;
    if (type != entry && !(sync && type == EV_ClockSnapshot)) {
      violate(t, TRACE_RULE_TABLE_ENTRY, offset,
              "a %s entry must not be in a batch of %s entries",
              event_type_name(type), event_type_name(entry));
      return false;
    }
    if (!read_entry(t, &at, end, type, offset))
      return false;
  }
  return true;
}

struct head {
  uint64_t offset;
  uint64_t generation, m, ticks;
  const uint8_t *body, *end;
  bool experimental;
};

static bool read_head(struct trace *t, const uint8_t *at, struct head *h) {
  const uint8_t *end = t->data + t->size;
  *h = (struct head){.offset = at - t->data};
  unsigned type = *at++;
  h->experimental = type == EV_ExperimentalBatch && t->minor >= 23;
  if (type != EV_EventBatch && !h->experimental) {
    violate(t, TRACE_RULE_BATCH_TYPE, h->offset,
            "found %s where a batch must begin", event_type_name(type));
    return false;
  }
  if (h->experimental && at < end)
    at++;
  uint64_t v[4];
  if (!read_numbers(t, &at, end, h->offset, "EventBatch", v, 4)) {
    t->is_cut = at == end;
    return false;
  }
  if (v[3] > BATCH_MAX) {
    violate(t, TRACE_RULE_BATCH_SIZE, h->offset,
            "the batch has %" PRIu64 " bytes, but readers accept at most %d",
            v[3], BATCH_MAX);
    return false;
  }
  if (v[3] > (uint64_t)(end - at)) {
    t->is_cut = true;
    violate(t, TRACE_RULE_TRUNCATED, h->offset,
            "the batch has %" PRIu64 " byte%s, but the file has only %td left",
            v[3], plural(v[3]), end - at);
    return false;
  }
  h->generation = v[0];
  h->m = v[1];
  h->ticks = v[2];
  h->body = at;
  h->end = at + v[3];
  return true;
}

static void check_generation(struct trace *t, uint64_t offset) {
  // MProf writes the stacks and strings at the end of the file.
  if (offset == t->size && !t->is_cut && t->stream_count &&
      (!t->stack_count || !t->string_count)) {
    t->is_cut = true;
    violate(t, TRACE_RULE_TRUNCATED, offset, "the file ends before the stacks");
  }
  check_frequency(t);
  if (t->minor >= SYNC_SINCE && !t->has_snapshot && !t->is_cut)
    violate(t, TRACE_RULE_CLOCK_SNAPSHOT, offset,
            "generation %" PRIu64 " has no ClockSnapshot", t->generation);
  check_frames(t);
}

bool scan_generation(struct trace *t, const uint8_t **at) {
  const uint8_t *end = t->data + t->size;
  uint64_t last = t->generation;
  t->generation = 0;
  t->generation_frequency = 0;
  t->has_snapshot = false;
  clear_tables(t);
  while (*at < end) {
    if (**at == EV_EndOfGeneration && t->minor >= END_SINCE) {
      (*at)++;
      break;
    }
    struct head h;
    if (!read_head(t, *at, &h)) {
      if (!t->is_cut || !t->generation)
        return false;
      *at = end; // the complete batches before the cut one are read
      break;
    }
    bool first = !t->generation;
    if (!first && h.generation == t->generation + 1 && t->minor < END_SINCE)
      break; // this batch begins the next generation
    if (!h.generation || (first && last && h.generation != last + 1) ||
        (!first && h.generation != t->generation)) {
      violate(t, TRACE_RULE_GENERATION, h.offset,
              "a batch of generation %" PRIu64
              " must not follow generation %" PRIu64,
              h.generation, first ? last : t->generation);
      return false;
    }
    t->generation = h.generation;
    *at = h.end;
    if (h.experimental || h.body == h.end)
      continue;
    unsigned entry = entry_of(t, *h.body);
    if (entry) {
      if (!read_table(t, h.body, h.end, entry))
        return false;
      continue;
    }
    struct stream *stream = stream_of(t, h.m);
    *APPEND(stream->batches, stream->count, stream->capacity) = (struct batch){
        .start = h.body - t->data, .end = h.end - t->data, .ticks = h.ticks};
  }
  check_generation(t, *at - t->data);
  if (!t->generation_frequency)
    *at = end;
  return true;
}
