// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/write_profile.h"

#include "common/memory.h"
#include "files/bytes.h"
#include "files/profile_fields.h"
#include "files/wire.h"

#include <stdlib.h>
#include <string.h>

struct writer {
  const struct profile *p;
  struct put out;
  // The number in the file of each string and function that was used, or 0.
  uint64_t *string_numbers, *function_ids;
  string_id *strings; // the strings in the order of their numbers
  uint32_t *functions;
  size_t string_count, string_capacity, function_count, function_capacity;
};

// --- fields ---

static void put_string(struct writer *w, unsigned field, string_id string) {
  uint64_t *number = &w->string_numbers[string];
  if (string && !*number) {
    *number = w->string_count + 1; // string 0 is ""
    *APPEND(w->strings, w->string_count, w->string_capacity) = string;
  }
  put_number(&w->out, field, *number);
}

// --- messages ---

static void put_message(struct writer *w, unsigned number,
                        const struct field *fields, const void *object,
                        uint64_t id) {
  const size_t start = begin_message(&w->out, number);
  for (const struct field *f = fields; f->kind != FIELD_END; f++) {
    const void *at = (const char *)object + f->offset;
    if (f->kind == FIELD_STRING)
      put_string(w, f->number, *(const string_id *)at);
    else
      put_number(&w->out, f->number,
                 f->kind == FIELD_ID     ? id
                 : f->kind == FIELD_FLAG ? *(const bool *)at
                                         : *(const uint64_t *)at);
  }
  end_message(&w->out, start);
}

static void put_label(struct writer *w, const struct label *l) {
  put_message(w, SAMPLE_LABEL, label_fields, l, 0);
}

// Writes the label of a sample whose period is not that of the file.
static void put_period(struct writer *w, int64_t period) {
  // Each block is counted with the period 1, and with none. A label needs a
  // number.
  put_label(w, &(struct label){.key = HEAP_RATE,
                               .number = period > 1 ? period : 1,
                               .unit = w->p->period_type.unit});
}

static void put_sample(struct writer *w, size_t index) {
  const struct profile *p = w->p;
  const struct sample *s = &p->samples[index];
  const size_t start = begin_message(&w->out, PROFILE_SAMPLE);
  if (s->location_count) {
    const size_t stack = begin_message(&w->out, SAMPLE_LOCATION_ID);
    for (uint32_t i = 0; i < s->location_count; i++)
      put_varint(&w->out,
                 (uint64_t)p->stack_locations[s->first_location + i] + 1);
    end_message(&w->out, stack);
  }
  const size_t values = begin_message(&w->out, SAMPLE_VALUE);
  for (unsigned i = 0; i < p->type_count; i++)
    put_varint(&w->out, (uint64_t)p->values[index * p->type_count + i]);
  end_message(&w->out, values);
  for (uint32_t i = 0; i < s->label_count; i++)
    put_label(w, &p->labels[s->first_label + i]);
  if (s->period != p->period && profile_has_heap_period(p))
    put_period(w, s->period);
  end_message(&w->out, start);
}

static void put_line(struct writer *w, const struct line *l) {
  uint64_t *id = &w->function_ids[l->function];
  if (!*id) {
    *id = w->function_count + 1;
    *APPEND(w->functions, w->function_count, w->function_capacity) =
        l->function;
  }
  const size_t start = begin_message(&w->out, LOCATION_LINE);
  put_number(&w->out, LINE_FUNCTION_ID, *id);
  put_number(&w->out, LINE_LINE, (uint64_t)l->line);
  end_message(&w->out, start);
}

static void put_location(struct writer *w, size_t index) {
  const struct location *l = &w->p->locations[index];
  const size_t start = begin_message(&w->out, PROFILE_LOCATION);
  put_number(&w->out, LOCATION_ID, index + 1);
  put_number(&w->out, LOCATION_MAPPING_ID,
             l->mapping == NO_MAPPING ? 0 : (uint64_t)l->mapping + 1);
  put_number(&w->out, LOCATION_ADDRESS, l->address);
  for (uint32_t i = 0; i < l->line_count; i++)
    put_line(w, &w->p->lines[l->first_line + i]);
  end_message(&w->out, start);
}

static void put_comments(struct writer *w) {
  const struct profile *p = w->p;
  for (size_t i = 0; i < p->comment_count; i++)
    // The empty comment is string 0, which put_string would omit.
    if (p->comments[i])
      put_string(w, PROFILE_COMMENT, p->comments[i]);
}

static void put_strings(struct writer *w) {
  end_message(&w->out,
              begin_message(&w->out, PROFILE_STRING_TABLE)); // string 0
  for (size_t i = 0; i < w->string_count; i++) {
    const char *text = w->p->strings[w->strings[i]];
    put_data(&w->out, PROFILE_STRING_TABLE, text, strlen(text));
  }
}

static void put_profile(struct writer *w) {
  const struct profile *p = w->p;
  for (unsigned i = 0; i < p->type_count; i++)
    put_message(w, PROFILE_SAMPLE_TYPE, value_type_fields, &p->types[i], 0);
  for (size_t i = 0; i < p->sample_count; i++)
    put_sample(w, i);
  for (size_t i = 0; i < p->mapping_count; i++)
    put_message(w, PROFILE_MAPPING, mapping_fields, &p->mappings[i], i + 1);
  for (size_t i = 0; i < p->location_count; i++)
    put_location(w, i);
  // put_location has numbered the functions.
  for (size_t i = 0; i < w->function_count; i++)
    put_message(w, PROFILE_FUNCTION, function_fields,
                &p->functions[w->functions[i]], i + 1);
  put_string(w, PROFILE_DROP_FRAMES, p->drop_frames);
  put_string(w, PROFILE_KEEP_FRAMES, p->keep_frames);
  put_number(&w->out, PROFILE_TIME_NANOS, (uint64_t)p->time_ns);
  put_number(&w->out, PROFILE_DURATION_NANOS, (uint64_t)p->duration_ns);
  if (p->period_type.type || p->period_type.unit)
    put_message(w, PROFILE_PERIOD_TYPE, value_type_fields, &p->period_type, 0);
  put_number(&w->out, PROFILE_PERIOD, (uint64_t)p->period);
  put_comments(w);
  put_string(w, PROFILE_DEFAULT_SAMPLE_TYPE, p->default_type);
  // Last, because all other messages number the strings.
  put_strings(w);
}

struct bytes write_profile(const struct profile *p) {
  struct writer w = {.p = p,
                     .string_numbers = zeroed(p->string_count, 8),
                     .function_ids = zeroed(p->function_count, 8)};
  put_profile(&w);
  free(w.string_numbers);
  free(w.function_ids);
  free(w.strings);
  free(w.functions);
  struct bytes zipped = bytes_zip(&w.out.bytes);
  free(w.out.bytes.at);
  return zipped;
}

const char *write_profile_file(const struct profile *p, const char *path) {
  struct bytes bytes = write_profile(p);
  const char *error = bytes_write(path, &bytes);
  free(bytes.at);
  return error;
}
