// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/otlp_117.h"

#include "push/otlp_fields.h"
#include "push/otlp_parts.h"
#include "push/random_id.h"

// The numbers of those fields that differ from today's (otlp_fields.h). The
// messages of mappings, lines and functions are the same. Their indices begin
// with 0, and a location without a mapping has no index.
enum {
  PROFILE_SAMPLE_TYPES = 1,
  PROFILE_SAMPLES = 2,
  PROFILE_MAPPINGS = 3,
  PROFILE_LOCATIONS = 4,
  PROFILE_LOCATION_INDICES = 5, // packed; the stacks of all samples
  PROFILE_FUNCTIONS = 6,
  PROFILE_ATTRIBUTES = 7,
  PROFILE_ATTRIBUTE_UNITS = 8,
  PROFILE_STRINGS = 10,
  PROFILE_TIME = 11,
  PROFILE_DURATION = 12,
  PROFILE_PERIOD_TYPE = 13,
  PROFILE_PERIOD = 14,
  PROFILE_COMMENTS = 15, // packed
  PROFILE_DEFAULT_TYPE = 16,
  PROFILE_ID = 17,

  SAMPLE_FIRST_LOCATION = 1,
  SAMPLE_LOCATION_COUNT = 2,
  SAMPLE_VALUES = 3,     // packed
  SAMPLE_ATTRIBUTES = 4, // packed

  ATTRIBUTE_UNIT_KEY = 1,
  ATTRIBUTE_UNIT_UNIT = 2,
};

struct writer {
  struct profile *p;
  struct put out;
};

static void put_type(struct writer *w, unsigned field,
                     const struct value_type *t) {
  const size_t start = begin_message(&w->out, field);
  put_number(&w->out, OTLP_TYPE_TYPE, t->type);
  put_number(&w->out, OTLP_TYPE_UNIT, t->unit);
  end_message(&w->out, start);
}

static void put_sample(struct writer *w, size_t index) {
  const struct profile *p = w->p;
  const struct sample *s = &p->samples[index];
  const size_t start = begin_message(&w->out, PROFILE_SAMPLES);
  put_number(&w->out, SAMPLE_FIRST_LOCATION, s->first_location);
  put_number(&w->out, SAMPLE_LOCATION_COUNT, s->location_count);
  size_t list = begin_message(&w->out, SAMPLE_VALUES);
  for (unsigned i = 0; i < p->type_count; i++)
    put_varint(&w->out, (uint64_t)p->values[index * p->type_count + i]);
  end_message(&w->out, list);
  if (s->label_count) {
    list = begin_message(&w->out, SAMPLE_ATTRIBUTES);
    for (uint32_t i = 0; i < s->label_count; i++)
      put_varint(&w->out, (uint64_t)s->first_label + i);
    end_message(&w->out, list);
  }
  end_message(&w->out, start);
}

// next: index of the attribute with the build id of the mapping.
static void put_mapping(struct writer *w, const struct mapping *m,
                        uint64_t next) {
  const size_t start = begin_message(&w->out, PROFILE_MAPPINGS);
  put_number(&w->out, OTLP_MAPPING_START, m->start);
  put_number(&w->out, OTLP_MAPPING_LIMIT, m->limit);
  put_number(&w->out, OTLP_MAPPING_OFFSET, m->offset);
  put_number(&w->out, OTLP_MAPPING_FILE, m->file);
  if (m->build_id) {
    const size_t list = begin_message(&w->out, OTLP_MAPPING_ATTRIBUTES);
    put_varint(&w->out, next);
    end_message(&w->out, list);
  }
  end_message(&w->out, start);
}

static void put_location(struct writer *w, const struct location *l) {
  const size_t start = begin_message(&w->out, PROFILE_LOCATIONS);
  if (l->mapping != NO_MAPPING) {
    // The index is a member of a oneof, so 0 is written, too.
    put_varint(&w->out, OTLP_LOCATION_MAPPING << 3);
    put_varint(&w->out, l->mapping);
  }
  put_number(&w->out, OTLP_LOCATION_ADDRESS, l->address);
  for (uint32_t i = 0; i < l->line_count; i++) {
    const struct line *line = &w->p->lines[l->first_line + i];
    const size_t message = begin_message(&w->out, OTLP_LOCATION_LINES);
    put_number(&w->out, OTLP_LINE_FUNCTION, line->function);
    put_number(&w->out, OTLP_LINE_LINE, (uint64_t)line->line);
    end_message(&w->out, message);
  }
  end_message(&w->out, start);
}

static void put_function(struct writer *w, const struct function *f) {
  const size_t start = begin_message(&w->out, PROFILE_FUNCTIONS);
  put_number(&w->out, OTLP_FUNCTION_NAME, f->name);
  put_number(&w->out, OTLP_FUNCTION_SYSTEM_NAME, f->system_name);
  put_number(&w->out, OTLP_FUNCTION_FILE, f->file);
  put_number(&w->out, OTLP_FUNCTION_START_LINE, (uint64_t)f->start_line);
  end_message(&w->out, start);
}

// --- attributes ---

static void put_attribute(struct writer *w, const char *key,
                          const struct label *l) {
  const size_t start = begin_message(&w->out, PROFILE_ATTRIBUTES);
  put_text(&w->out, OTLP_ATTRIBUTE_KEY, key);
  if (l->str)
    otlp_put_text(&w->out, OTLP_ATTRIBUTE_VALUE, w->p->strings[l->str]);
  else
    otlp_put_number(&w->out, OTLP_ATTRIBUTE_VALUE, l->number);
  end_message(&w->out, start);
}

// Writes the labels of the samples, and then the build ids of those mappings
// that have one.
static void put_attributes(struct writer *w) {
  const struct profile *p = w->p;
  for (size_t i = 0; i < p->label_count; i++)
    put_attribute(w, p->strings[p->labels[i].key], &p->labels[i]);
  for (size_t i = 0; i < p->mapping_count; i++)
    if (p->mappings[i].build_id)
      put_attribute(w, OTLP_BUILD_ID,
                    &(struct label){.str = p->mappings[i].build_id});
}

// Writes the units of the attributes. An attribute's unit depends only on its
// key, so each key is written once.
static void put_units(struct writer *w) {
  const struct profile *p = w->p;
  string_id last = 0;
  for (size_t i = 0; i < p->label_count; i++) {
    const struct label *l = &p->labels[i];
    if (!l->unit || l->key == last)
      continue;
    last = l->key;
    const size_t start = begin_message(&w->out, PROFILE_ATTRIBUTE_UNITS);
    put_number(&w->out, ATTRIBUTE_UNIT_KEY, l->key);
    put_number(&w->out, ATTRIBUTE_UNIT_UNIT, l->unit);
    end_message(&w->out, start);
  }
}

// --- the profile ---

static void put_tables(struct writer *w) {
  const struct profile *p = w->p;
  uint64_t next = p->label_count;
  for (size_t i = 0; i < p->mapping_count; i++) {
    put_mapping(w, &p->mappings[i], next);
    next += p->mappings[i].build_id != 0;
  }
  for (size_t i = 0; i < p->location_count; i++)
    put_location(w, &p->locations[i]);
  const size_t list = begin_message(&w->out, PROFILE_LOCATION_INDICES);
  for (size_t i = 0; i < p->stack_location_count; i++)
    put_varint(&w->out, p->stack_locations[i]);
  end_message(&w->out, list);
  for (size_t i = 0; i < p->function_count; i++)
    put_function(w, &p->functions[i]);
  put_attributes(w);
  put_units(w);
  for (size_t i = 0; i < p->string_count; i++)
    put_text(&w->out, PROFILE_STRINGS, p->strings[i]);
}

static void put_comments(struct writer *w) {
  const size_t list = begin_message(&w->out, PROFILE_COMMENTS);
  for (size_t i = 0; i < w->p->comment_count; i++)
    put_varint(&w->out, w->p->comments[i]);
  end_message(&w->out, list);
}

static void put_profile(struct writer *w) {
  const struct profile *p = w->p;
  uint8_t id[RANDOM_ID];
  const size_t start = begin_message(&w->out, SCOPE_PROFILES_PROFILES);
  for (unsigned i = 0; i < p->type_count; i++)
    put_type(w, PROFILE_SAMPLE_TYPES, &p->types[i]);
  for (size_t i = 0; i < p->sample_count; i++)
    put_sample(w, i);
  put_tables(w);
  put_number(&w->out, PROFILE_TIME, (uint64_t)p->time_ns);
  put_number(&w->out, PROFILE_DURATION, (uint64_t)p->duration_ns);
  put_type(w, PROFILE_PERIOD_TYPE, &p->period_type);
  put_number(&w->out, PROFILE_PERIOD, (uint64_t)p->period);
  put_comments(w);
  put_number(&w->out, PROFILE_DEFAULT_TYPE, p->default_type);
  random_id(id);
  put_data(&w->out, PROFILE_ID, id, sizeof id);
  end_message(&w->out, start);
}

struct bytes otlp_117_request(struct profile *p,
                              const struct resource *resource) {
  struct writer w = {.p = p};
  const size_t start = begin_message(&w.out, REQUEST_RESOURCE_PROFILES);
  otlp_put_resource(&w.out, resource);
  const size_t scope = begin_message(&w.out, RESOURCE_PROFILES_SCOPE_PROFILES);
  otlp_put_scope(&w.out);
  put_profile(&w);
  end_message(&w.out, scope);
  end_message(&w.out, start);
  return w.out.bytes;
}
