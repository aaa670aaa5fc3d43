// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of a profile may come in any order, and refer to each other by
// ids. So the reader goes over the file once for each kind of message: strings,
// then mappings, functions, locations and samples. Each step can then resolve
// the ids of the steps before.

#include "files/read_profile.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "common/plural.h"
#include "common/saturate.h"
#include "files/file_kind.h"
#include "files/profile_fields.h"
#include "files/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Deeper stacks and larger numbers of labels are not read.
enum { MAX_PARTS = 1 << 20 };

struct reader {
  struct profile *p;
  const struct bytes *bytes;
  const struct read_report *report;
  char message[256]; // the first violation
  unsigned violations;
  bool is_truncated;
  string_id *strings; // of each string of the file
  size_t string_count, string_capacity;
  struct idmap mappings, functions, locations;
  int64_t period;
  bool has_moment; // the file has a comment "moment: ..."
  // The types of this file, in its own order.
  struct value_type types[PROFILE_TYPES];
  unsigned type_count;
  // The parts of the message that is being read.
  uint32_t *stack;
  int64_t *values;
  struct label *labels;
  struct line *lines;
  size_t stack_count, stack_capacity, value_count, value_capacity, label_count,
      label_capacity, line_count, line_capacity;
};

__attribute__((format(printf, 2, 3))) static void
violate(struct reader *r, const char *format, ...) {
  char text[sizeof r->message];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (r->violations++ == 0)
    memcpy(r->message, text, sizeof text);
  if (r->report)
    r->report->violation(r->report->arg, text);
}

static bool must_stop(const struct reader *r) {
  return r->violations && !r->report;
}

// Returns the profile's string for a string of the file.
static string_id string_of(struct reader *r, uint64_t index) {
  if (index < r->string_count)
    return r->strings[index];
  if (!r->is_truncated)
    violate(r, "string %" PRIu64 " is not in the table of %zu string%s", index,
            r->string_count, plural(r->string_count));
  return 0;
}

// Reports a damaged message inside the file.
static void check_message(struct reader *r, const struct wire *w,
                          const char *name) {
  if (w->is_bad)
    violate(r, "damaged message %s at offset %td", name, w->at - r->bytes->at);
}

// Calls read for each message of the file with this number.
static void each(struct reader *r, unsigned number,
                 void (*read)(struct reader *r, struct wire message)) {
  struct wire w = {.at = r->bytes->at, .end = r->bytes->at + r->bytes->length};
  struct wire_field f;
  while (!must_stop(r) && wire_next(&w, &f))
    if (f.number == number && f.type == WIRE_BYTES)
      read(r, f.message);
}

// Reads the fields of a message into an object. Returns its id, or 0.
static uint64_t read_fields(struct reader *r, struct wire w,
                            const struct field *fields, void *object,
                            const char *name) {
  uint64_t id = 0;
  struct wire_field f;
  while (wire_next(&w, &f)) {
    const struct field *to = fields;
    while (to->kind != FIELD_END && to->number != f.number)
      to++;
    void *at = (char *)object + to->offset;
    if (to->kind == FIELD_ID)
      id = f.value;
    else if (to->kind == FIELD_STRING)
      *(string_id *)at = string_of(r, f.value);
    else if (to->kind == FIELD_NUMBER)
      *(uint64_t *)at = f.value;
    else if (to->kind == FIELD_FLAG)
      *(bool *)at = f.value != 0;
  }
  check_message(r, &w, name);
  return id;
}

// --- strings, and the numbers of the profile itself ---

static void read_string(struct reader *r, struct wire message) {
  if (r->string_count == 0 && message.at != message.end)
    violate(r, "the first string is not empty");
  const size_t length = (size_t)(message.end - message.at);
  *APPEND(r->strings, r->string_count, r->string_capacity) =
      profile_string(r->p, (const char *)message.at, length);
}

static struct value_type read_value_type(struct reader *r, struct wire w) {
  struct value_type type = {0};
  read_fields(r, w, value_type_fields, &type, "ValueType");
  return type;
}

static void read_sample_type(struct reader *r, struct wire message) {
  if (r->type_count == PROFILE_TYPES) {
    violate(r, "more than %d sample types", PROFILE_TYPES);
    return;
  }
  r->types[r->type_count++] = read_value_type(r, message);
}

static void add_comment(struct reader *r, uint64_t index) {
  const string_id text = string_of(r, index);
  profile_comment(r->p, text);
  r->has_moment |= strncmp(r->p->strings[text], "moment: ", 8) == 0;
}

static void read_comment(struct reader *r, const struct wire_field *f) {
  uint64_t value;
  struct wire packed = f->message;
  if (f->type == WIRE_VARINT)
    add_comment(r, f->value);
  while (f->type == WIRE_BYTES && wire_packed(&packed, &value))
    add_comment(r, value);
}

static void keep_first(int64_t *kept, uint64_t value) {
  if (*kept == 0 || (int64_t)value < *kept)
    *kept = (int64_t)value;
}

static void read_head(struct reader *r) {
  struct profile *p = r->p;
  struct wire w = {.at = r->bytes->at, .end = r->bytes->at + r->bytes->length};
  struct wire_field f;
  while (wire_next(&w, &f)) {
    switch (f.number) {
    case PROFILE_DROP_FRAMES:
      p->drop_frames = string_of(r, f.value);
      break;
    case PROFILE_KEEP_FRAMES:
      p->keep_frames = string_of(r, f.value);
      break;
    case PROFILE_TIME_NANOS:
      keep_first(&p->time_ns, f.value);
      break;
    case PROFILE_DURATION_NANOS:
      add_to(&p->duration_ns, (int64_t)f.value);
      break;
    case PROFILE_PERIOD_TYPE:
      if (f.type == WIRE_BYTES)
        p->period_type = read_value_type(r, f.message);
      break;
    case PROFILE_PERIOD:
      r->period = (int64_t)f.value; // the last one counts
      break;
    case PROFILE_COMMENT:
      read_comment(r, &f);
      break;
    case PROFILE_DEFAULT_SAMPLE_TYPE:
      p->default_type = string_of(r, f.value);
      break;
    default:
      break;
    }
  }
  p->moment_count += r->has_moment;
  p->period = p->period > r->period ? p->period : r->period;
}

// --- mappings, functions and locations ---

static void read_mapping(struct reader *r, struct wire w) {
  struct mapping m = {0};
  const uint64_t id = read_fields(r, w, mapping_fields, &m, "Mapping");
  size_t index;
  if (id == 0)
    violate(r, "a mapping has the id 0");
  else if (idmap_find(&r->mappings, id, &index))
    violate(r, "two mappings have the id %" PRIu64, id);
  else
    idmap_add(&r->mappings, id, profile_mapping(r->p, &m));
}

static void read_function(struct reader *r, struct wire w) {
  struct function function = {0};
  const uint64_t id = read_fields(r, w, function_fields, &function, "Function");
  size_t index;
  if (id == 0)
    violate(r, "a function has the id 0");
  else if (idmap_find(&r->functions, id, &index))
    violate(r, "two functions have the id %" PRIu64, id);
  else
    idmap_add(&r->functions, id, profile_function(r->p, &function));
}

static void read_line(struct reader *r, struct wire w) {
  uint64_t id = 0;
  struct line line = {0};
  struct wire_field f;
  while (wire_next(&w, &f))
    if (f.number == LINE_FUNCTION_ID)
      id = f.value;
    else if (f.number == LINE_LINE)
      line.line = (int64_t)f.value;
  check_message(r, &w, "Line");
  size_t index;
  if (idmap_find(&r->functions, id, &index)) {
    line.function = (uint32_t)index;
    if (r->line_count < MAX_PARTS)
      *APPEND(r->lines, r->line_count, r->line_capacity) = line;
  } else if (!r->is_truncated) {
    violate(r, "a line has the function %" PRIu64 ", which does not exist", id);
  }
}

static void read_location(struct reader *r, struct wire w) {
  struct location location = {.mapping = NO_MAPPING};
  uint64_t id = 0, mapping = 0;
  struct wire_field f;
  r->line_count = 0;
  while (wire_next(&w, &f)) {
    if (f.number == LOCATION_ID)
      id = f.value;
    else if (f.number == LOCATION_MAPPING_ID)
      mapping = f.value;
    else if (f.number == LOCATION_ADDRESS)
      location.address = f.value;
    else if (f.number == LOCATION_LINE && f.type == WIRE_BYTES)
      read_line(r, f.message);
  }
  check_message(r, &w, "Location");
  size_t index;
  if (mapping && idmap_find(&r->mappings, mapping, &index))
    location.mapping = (uint32_t)index;
  else if (mapping && !r->is_truncated)
    violate(r, "a location has the mapping %" PRIu64 ", which does not exist",
            mapping);
  location.line_count = (uint32_t)r->line_count;
  if (id == 0)
    violate(r, "a location has the id 0");
  else if (idmap_find(&r->locations, id, &index))
    violate(r, "two locations have the id %" PRIu64, id);
  else
    idmap_add(&r->locations, id, profile_location(r->p, &location, r->lines));
}

// --- samples ---

static void add_to_stack(struct reader *r, uint64_t id) {
  size_t index;
  if (!idmap_find(&r->locations, id, &index)) {
    if (!r->is_truncated)
      violate(r, "a sample has the location %" PRIu64 ", which does not exist",
              id);
  } else if (r->stack_count < MAX_PARTS) {
    *APPEND(r->stack, r->stack_count, r->stack_capacity) = (uint32_t)index;
  }
}

static void add_value(struct reader *r, uint64_t value) {
  if (r->value_count <= PROFILE_TYPES)
    *APPEND(r->values, r->value_count, r->value_capacity) = (int64_t)value;
}

// Reads a repeated field of numbers, which may be packed.
static void add_numbers(struct reader *r, const struct wire_field *f,
                        void (*add)(struct reader *r, uint64_t value)) {
  if (f->type == WIRE_VARINT)
    add(r, f->value);
  struct wire packed = f->message;
  uint64_t value;
  while (f->type == WIRE_BYTES && wire_packed(&packed, &value))
    add(r, value);
  if (f->type == WIRE_BYTES)
    check_message(r, &packed, "Sample");
}

static void read_label(struct reader *r, struct wire w) {
  struct label label = {0};
  read_fields(r, w, label_fields, &label, "Label");
  if (label.key == 0 && !r->is_truncated)
    violate(r, "a label has no key");
  else if (label.key && r->label_count < MAX_PARTS)
    *APPEND(r->labels, r->label_count, r->label_capacity) = label;
}

// Orders labels, so that equal sets of labels are equal arrays.
static int compare_labels(const void *a, const void *b) {
  const struct label *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  if (x->str != y->str)
    return x->str < y->str ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

// Returns the period of the sample that is being read, and removes the label
// that has it.
static int64_t take_period(struct reader *r) {
  for (size_t i = 0; i < r->label_count && profile_has_heap_period(r->p); i++) {
    const struct label l = r->labels[i];
    if (l.key == HEAP_RATE && l.str == 0 && l.number > 0) {
      r->labels[i] = r->labels[--r->label_count];
      return l.number;
    }
  }
  return r->period;
}

static void read_sample(struct reader *r, struct wire w) {
  struct wire_field f;
  r->stack_count = r->value_count = r->label_count = 0;
  while (wire_next(&w, &f)) {
    if (f.number == SAMPLE_LOCATION_ID)
      add_numbers(r, &f, add_to_stack);
    else if (f.number == SAMPLE_VALUE)
      add_numbers(r, &f, add_value);
    else if (f.number == SAMPLE_LABEL && f.type == WIRE_BYTES)
      read_label(r, f.message);
  }
  check_message(r, &w, "Sample");
  if (r->value_count != r->type_count) {
    violate(r, "a sample has %zu value%s, but the profile has %u sample type%s",
            r->value_count, plural(r->value_count), r->type_count,
            plural(r->type_count));
    return;
  }
  const int64_t period = take_period(r);
  if (r->label_count > 1)
    qsort(r->labels, r->label_count, sizeof *r->labels, compare_labels);
  profile_sample(r->p, r->stack, (uint32_t)r->stack_count, r->labels,
                 (uint32_t)r->label_count, period, r->values);
}

// --- the file ---

// Takes over the sample types of the first file. Other files must have the same
// types.
static void merge_types(struct reader *r) {
  struct profile *p = r->p;
  if (r->type_count == 0) {
    violate(r, r->is_truncated ? "the file ends before its sample types"
                               : "the file has no sample types");
    return;
  }
  if (p->file_count == 0) {
    memcpy(p->types, r->types, sizeof p->types);
    p->type_count = r->type_count;
    return;
  }
  if (r->is_truncated && !*p->strings[r->types[0].type]) {
    violate(r, "the file ends before the names of its sample types");
    return;
  }
  if (p->type_count != r->type_count ||
      memcmp(p->types, r->types, r->type_count * sizeof *r->types) != 0)
    violate(r,
            "its values are %s and others, those of the first file are %s and "
            "others; give files of one kind, such as *.heap.pb.gz",
            p->strings[r->types[0].type], p->strings[p->types[0].type]);
}

// Sets is_truncated if the last message of the file is incomplete. Reports
// other data as a violation.
static void check_end(struct reader *r) {
  struct wire w = {.at = r->bytes->at, .end = r->bytes->at + r->bytes->length};
  struct wire_field f;
  size_t messages = 0;
  while (wire_next(&w, &f))
    messages += f.number >= PROFILE_SAMPLE_TYPE &&
                f.number <= PROFILE_STRING_TABLE && f.type == WIRE_BYTES;
  r->is_truncated = w.is_bad || r->bytes->is_truncated;
  if (messages != 0)
    return;
  const char *what = file_kind(r->bytes);
  violate(r, "not a profile in pprof's format%s%s", what ? ", but " : "",
          what ? what : "");
}

static void read_all(struct reader *r) {
  check_end(r);
  if (must_stop(r))
    return;
  each(r, PROFILE_STRING_TABLE, read_string);
  each(r, PROFILE_SAMPLE_TYPE, read_sample_type);
  if (!must_stop(r))
    merge_types(r);
  if (r->type_count == 0 || must_stop(r))
    return;
  read_head(r);
  each(r, PROFILE_MAPPING, read_mapping);
  each(r, PROFILE_FUNCTION, read_function);
  each(r, PROFILE_LOCATION, read_location);
  each(r, PROFILE_SAMPLE, read_sample);
}

const char *read_profile(struct profile *p, const struct bytes *bytes,
                         const struct read_report *report) {
  static char message[256]; // the caller prints it before the next file
  struct reader r = {.p = p, .bytes = bytes, .report = report};
  // Empty parts of a message are not NULL.
  r.stack = grow(NULL, &r.stack_capacity, 1, sizeof *r.stack);
  r.labels = grow(NULL, &r.label_capacity, 1, sizeof *r.labels);
  r.lines = grow(NULL, &r.line_capacity, 1, sizeof *r.lines);
  read_all(&r);
  p->is_truncated |= r.is_truncated;
  p->file_count++;
  free(r.strings);
  free(r.stack);
  free(r.values);
  free(r.labels);
  free(r.lines);
  idmap_clear(&r.mappings);
  idmap_clear(&r.functions);
  idmap_clear(&r.locations);
  if (r.violations == 0)
    return NULL;
  memcpy(message, r.message, sizeof message);
  return message;
}

const char *read_profile_file(struct profile *p, const char *path) {
  struct bytes bytes;
  const char *error = bytes_read(path, &bytes);
  if (!error && bytes.length == 0)
    error = "the file is empty";
  if (!error)
    error = bytes_unzip(&bytes);
  if (!error)
    error = read_profile(p, &bytes, NULL);
  free(bytes.at);
  return error;
}
