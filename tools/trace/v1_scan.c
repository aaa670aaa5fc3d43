// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout of a trace in Go's formats 1.5 to 1.21: the header, then records.
// Every number is LEB128. Times are stored as differences from the event
// before.
//
// A record begins with the byte type | n << 6. The rest depends on n:
//   n < 3   the time difference and n numbers (arguments and stack id)
//   n == 3  a length in bytes, then the numbers, which have this length
// A record with n == 3 is called a counted record.
//
// In format 1.5, a sequence number difference comes before the time difference.
// Batch, Frequency, TimerGoroutine and String have no differences. A String has
// an id, a length and the bytes of the string. After a UserLog (always n == 3)
// come the length and the bytes of its message.

#include "v1_scan.h"

#include "common/memory.h"
#include "common/plural.h"
#include "number.h"
#include "report.h"
#include "table.h"
#include "trace_data.h"
#include "v1_types.h"

#include <inttypes.h>

enum { COUNTED = 3, RECORD_MAX = 2048 };

static bool bad_number(struct trace *t, int error, uint64_t offset,
                       unsigned type) {
  if (error == NUMBER_TRUNCATED) {
    t->is_cut = true;
    violate(t, TRACE_RULE_TRUNCATED, offset,
            "%s: the file ends inside the record", v1_name(type));
  } else {
    violate(t, TRACE_RULE_NUMBER, offset,
            "%s: a number is longer than 10 bytes or 64 bits", v1_name(type));
  }
  return false;
}

// Reads a length in bytes, and then a text of this length. Returns false after
// a violation.
static bool read_text(struct trace *t, const uint8_t **at, unsigned type,
                      uint64_t offset, struct trace_text *text) {
  const uint8_t *end = t->data + t->size;
  uint64_t length;
  int error = read_number(at, end, &length);
  if (error)
    return bad_number(t, error, offset, type);
  if (length > (uint64_t)(end - *at))
    return bad_number(t, NUMBER_TRUNCATED, offset, type);
  *text = (struct trace_text){(const char *)*at, length};
  *at += length;
  return true;
}

static bool read_counted(struct trace *t, const uint8_t **at,
                         struct v1_record *r) {
  struct trace_text body;
  if (!read_text(t, at, r->type, r->offset, &body))
    return false;
  r->body = (const uint8_t *)body.bytes;
  r->body_end = *at;
  const uint8_t *pos = r->body;
  while (pos < r->body_end) {
    uint64_t value;
    int error = read_number(&pos, r->body_end, &value);
    if (error == NUMBER_TRUNCATED) {
      violate(t, TRACE_RULE_RECORD_LENGTH, r->offset,
              "%s: the record of %zu byte%s ends inside a number",
              v1_name(r->type), body.length, plural(body.length));
      return false;
    }
    if (error)
      return bad_number(t, error, r->offset, r->type);
    if (r->type == V1_Stack) {
      // Stop after the stack id, because add_stack reads the frames.
      r->values[0] = value;
      r->count = 1;
      r->body = pos;
      return true;
    }
    if (r->count < sizeof r->values / sizeof *r->values)
      r->values[r->count] = value;
    r->count++;
  }
  return true;
}

bool v1_decode(struct trace *t, const uint8_t **at, struct v1_record *r) {
  const uint8_t *end = t->data + t->size;
  *r = (struct v1_record){.offset = *at - t->data};
  unsigned n = **at >> 6;
  r->type = **at & 63;
  (*at)++;
  if (!v1_is_known(r->type, t->minor)) {
    violate(t, TRACE_RULE_EVENT_TYPE, r->offset,
            "type %u is not an event of go 1.%u", r->type, t->minor);
    return false;
  }
  if (r->type == V1_String) {
    int error = read_number(at, end, &r->values[0]);
    if (error)
      return bad_number(t, error, r->offset, r->type);
    return read_text(t, at, r->type, r->offset, &r->text);
  }
  if (n == COUNTED) {
    if (!read_counted(t, at, r))
      return false;
  } else {
    r->count = n + 1 + (t->minor < 7);
    for (unsigned i = 0; i < r->count; i++) {
      int error = read_number(at, end, &r->values[i]);
      if (error)
        return bad_number(t, error, r->offset, r->type);
    }
  }
  unsigned wanted = v1_number_count(r->type, t->minor);
  if (r->count != wanted || (r->type == V1_Stack && n != COUNTED)) {
    violate(t, TRACE_RULE_ARG_COUNT, r->offset,
            "the %s record has %u number%s, but its type requires %u",
            v1_name(r->type), r->count, plural(r->count), wanted);
    return false;
  }
  if (r->type == V1_UserLog)
    return read_text(t, at, r->type, r->offset, &r->text);
  return true;
}

static struct batch *start_batch(struct trace *t, const struct v1_record *r,
                                 const uint8_t *at) {
  uint64_t p = r->values[0];
  bool v5 = t->minor < 7;
  if (p != TRACE_NONE && p > INT32_MAX)
    violate(t, TRACE_RULE_SLOT_NUMBER, r->offset,
            "Batch of P %" PRIu64
            ": the number of a processor (P) is -1 or at most 2147483647",
            p);
  struct stream *stream = stream_of(t, p);
  struct batch *batch =
      APPEND(stream->batches, stream->count, stream->capacity);
  uint64_t start = at - t->data;
  *batch =
      (struct batch){start, start, r->values[1 + v5], v5 ? r->values[1] : 0};
  return batch;
}

static void add_sample(struct trace *t, const struct v1_record *r) {
  *APPEND(t->samples, t->sample_count, t->sample_capacity) =
      (struct trace_event){.ticks = r->values[1],
                           .offset = r->offset,
                           .p = r->values[2],
                           .g = r->values[3],
                           .m = TRACE_NONE,
                           .stack = r->values[4],
                           .args = {r->values[1], r->values[2], r->values[3]},
                           .arg_count = 3,
                           .type = V1_CPUSample};
}

// Checks the rules that concern only this single event.
static void check_event(struct trace *t, const struct v1_record *r) {
  // Only Go 1.22 and later reject the events below. These versions of Go do not
  // read formats before 1.11.
  if (t->minor < 11)
    return;
  if (r->type == V1_FutileWakeup)
    violate(t, TRACE_RULE_FUTILE_WAKEUP, r->offset,
            "FutileWakeup: Go 1.22 and later reject this event");
  if (r->type == V1_GoSysExitLocal)
    violate(t, TRACE_RULE_EXIT_LOCAL, r->offset,
            "GoSysExitLocal: readers lose the thread (G) of this event; write "
            "GoSysExit instead");
}

// Which kinds of events the batch contains so far. samples: CPU samples.
// others: all other events.
struct batch_kinds {
  bool samples, others;
  bool told; // CPU_SAMPLE_BATCH has been reported for the batch
};

static void check_kinds(struct trace *t, struct batch_kinds *kinds,
                        const struct v1_record *r) {
  if (r->type == V1_CPUSample)
    kinds->samples = true;
  else
    kinds->others = true;
  if (kinds->samples && kinds->others && !kinds->told) {
    kinds->told = true;
    violate(t, TRACE_RULE_CPU_SAMPLE_BATCH, r->offset,
            "%s: CPU samples and other events share a batch, and readers "
            "disagree on the times of the events after a sample",
            v1_name(r->type));
  }
}

static bool scan_frequency(struct trace *t, const struct v1_record *r) {
  t->frequency = r->values[0];
  if (!t->frequency || t->frequency > INT64_MAX) {
    violate(t, TRACE_RULE_FREQUENCY, r->offset,
            "the clock frequency of %" PRIu64
            " ticks per second is not from 1 to 2^63-1",
            t->frequency);
    t->frequency = 0;
    return false;
  }
  return true;
}

// Reports a counted record (n == 3 in the first byte) that Go 1.22 and later
// reject, because the record is longer than RECORD_MAX.
static void check_size(struct trace *t, const struct v1_record *r) {
  if (!r->body || t->minor < 11)
    return;
  // Subtract one byte for the type and two for the length of the record,
  // because a length over 127 takes at least two bytes.
  ptrdiff_t length = r->body_end - (t->data + r->offset) - 3;
  if (length > RECORD_MAX)
    violate(t, TRACE_RULE_STACK_SIZE, r->offset,
            "%s has %td bytes, but Go 1.22 and later accept at most %d",
            v1_name(r->type), length, RECORD_MAX);
}

// Handles one record of a batch: stores a stack or a CPU sample, or checks an
// event. Adds 1 to *events if the record is an event. Returns false after a
// violation that makes the trace unreadable.
static bool scan_record(struct trace *t, const struct v1_record *r,
                        struct batch_kinds *kinds, uint64_t *events) {
  switch (r->type) {
  case V1_Stack:
    return add_stack(t, r->values[0], r->body, r->body_end, r->offset);
  case V1_Frequency:
    return scan_frequency(t, r);
  case V1_TimerGoroutine:
    return true;
  case V1_CPUSample:
    add_sample(t, r);
    break;
  default:
    check_event(t, r);
    break;
  }
  check_kinds(t, kinds, r);
  ++*events;
  return true;
}

// Reads the records up to the end of the file, or up to the first record that
// the file's end has cut. Returns false after a violation that makes the trace
// unreadable.
static bool scan_records(struct trace *t, uint64_t *events) {
  const uint8_t *at = t->data + TRACE_HEADER_SIZE, *end = t->data + t->size;
  struct batch *batch = NULL;
  struct batch_kinds kinds = {0};
  while (at < end) {
    struct v1_record r;
    if (!v1_decode(t, &at, &r))
      return t->is_cut;
    check_size(t, &r);
    if (r.type == V1_String) {
      if (!add_string(t, r.values[0], (const uint8_t *)r.text.bytes,
                      r.text.length, r.offset))
        return false;
    } else if (r.type == V1_Batch) {
      batch = start_batch(t, &r, at);
      kinds = (struct batch_kinds){0};
    } else if (!batch) {
      violate(t, TRACE_RULE_BATCH_FIRST, r.offset,
              "%s comes before the first Batch", v1_name(r.type));
      return false;
    } else {
      batch->end = at - t->data;
      if (!scan_record(t, &r, &kinds, events))
        return false;
    }
  }
  return true;
}

bool v1_scan(struct trace *t) {
  uint64_t events = 0;
  if (!scan_records(t, &events))
    return false;
  if (!events) {
    violate(t, TRACE_RULE_NO_EVENTS, t->size, "the trace has no event");
    return false;
  }
  // Each thread has a start function, so a complete trace has a stack.
  if (t->minor >= 11 && !t->is_cut && !t->stack_count) {
    t->is_cut = true;
    violate(t, TRACE_RULE_TRUNCATED, t->size,
            "the file ends before the stacks");
  }
  check_frequency(t, t->frequency, "the trace");
  check_frames(t);
  return true;
}
