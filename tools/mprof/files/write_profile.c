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

static void put_value_type(struct writer *w, unsigned field,
                           const struct value_type *type) {
  const size_t start = begin_message(&w->out, field);
  put_string(w, VALUE_TYPE_TYPE, type->type);
  put_string(w, VALUE_TYPE_UNIT, type->unit);
  end_message(&w->out, start);
}

static void put_label(struct writer *w, const struct label *l) {
  const size_t start = begin_message(&w->out, SAMPLE_LABEL);
  put_string(w, LABEL_KEY, l->key);
  put_string(w, LABEL_STR, l->str);
  put_number(&w->out, LABEL_NUM, (uint64_t)l->number);
  put_string(w, LABEL_NUM_UNIT, l->unit);
  end_message(&w->out, start);
}

// Writes the label of a sample whose period is not that of the file.
static void put_period(struct writer *w, int64_t period) {
  const size_t start = begin_message(&w->out, SAMPLE_LABEL);
  put_string(w, LABEL_KEY, HEAP_RATE);
  // Each block is counted with the period 1, and with none. A label needs a
  // number.
  put_number(&w->out, LABEL_NUM, period > 1 ? (uint64_t)period : 1);
  put_string(w, LABEL_NUM_UNIT, w->p->period_type.unit);
  end_message(&w->out, start);
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

static void put_mapping(struct writer *w, size_t index) {
  const struct mapping *m = &w->p->mappings[index];
  const size_t start = begin_message(&w->out, PROFILE_MAPPING);
  put_number(&w->out, MAPPING_ID, index + 1);
  put_number(&w->out, MAPPING_START, m->start);
  put_number(&w->out, MAPPING_LIMIT, m->limit);
  put_number(&w->out, MAPPING_OFFSET, m->offset);
  put_string(w, MAPPING_FILENAME, m->file);
  put_string(w, MAPPING_BUILD_ID, m->build_id);
  put_number(&w->out, MAPPING_HAS_FUNCTIONS, m->has_functions);
  put_number(&w->out, MAPPING_HAS_FILENAMES, m->has_files);
  put_number(&w->out, MAPPING_HAS_LINE_NUMBERS, m->has_lines);
  put_number(&w->out, MAPPING_HAS_INLINE_FRAMES, m->has_inlined);
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

static void put_function(struct writer *w, size_t number) {
  const struct function *f = &w->p->functions[w->functions[number]];
  const size_t start = begin_message(&w->out, PROFILE_FUNCTION);
  put_number(&w->out, FUNCTION_ID, number + 1);
  put_string(w, FUNCTION_NAME, f->name);
  put_string(w, FUNCTION_SYSTEM_NAME, f->system_name);
  put_string(w, FUNCTION_FILENAME, f->file);
  put_number(&w->out, FUNCTION_START_LINE, (uint64_t)f->start_line);
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
    put_value_type(w, PROFILE_SAMPLE_TYPE, &p->types[i]);
  for (size_t i = 0; i < p->sample_count; i++)
    put_sample(w, i);
  for (size_t i = 0; i < p->mapping_count; i++)
    put_mapping(w, i);
  for (size_t i = 0; i < p->location_count; i++)
    put_location(w, i);
  // put_location has numbered the functions.
  for (size_t i = 0; i < w->function_count; i++)
    put_function(w, i);
  put_string(w, PROFILE_DROP_FRAMES, p->drop_frames);
  put_string(w, PROFILE_KEEP_FRAMES, p->keep_frames);
  put_number(&w->out, PROFILE_TIME_NANOS, (uint64_t)p->time_ns);
  put_number(&w->out, PROFILE_DURATION_NANOS, (uint64_t)p->duration_ns);
  if (p->period_type.type || p->period_type.unit)
    put_value_type(w, PROFILE_PERIOD_TYPE, &p->period_type);
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
