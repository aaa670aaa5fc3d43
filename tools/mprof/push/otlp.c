// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/otlp.h"

#include "files/wire.h"
#include "push/otlp_fields.h"
#include "push/resource.h"

// The key of the attribute of a mapping with its build id.
#define BUILD_ID "process.executable.build_id.gnu"

// The strings of the profile are the string table of the request, so a
// string_id is an index of this table. The other tables begin with the default
// element, so the index of an element of the profile is increased by 1.

struct writer {
  struct profile *p;
  struct put out;
};

// --- attributes ---

// Writes the value of an attribute (AnyValue) as a field.
static void put_any_text(struct put *out, unsigned field, const char *text) {
  const size_t start = begin_message(out, field);
  put_text(out, OTLP_ANY_STRING, text);
  end_message(out, start);
}

static void put_any_number(struct put *out, unsigned field, int64_t number) {
  const size_t start = begin_message(out, field);
  // The number is a member of a oneof, so 0 is written, too.
  put_varint(out, OTLP_ANY_INT << 3 | WIRE_VARINT);
  put_varint(out, (uint64_t)number);
  end_message(out, start);
}

static void put_resource(struct put *out, const struct resource *r) {
  const size_t start = begin_message(out, RESOURCE_PROFILES_RESOURCE);
  for (size_t i = 0; i < r->count; i++) {
    const size_t message = begin_message(out, RESOURCE_ATTRIBUTES);
    put_text(out, OTLP_ATTRIBUTE_KEY, r->attributes[i].key);
    put_any_text(out, OTLP_ATTRIBUTE_VALUE, r->attributes[i].value);
    end_message(out, message);
  }
  end_message(out, start);
}

// The attribute table has the labels of the samples, and then the build ids of
// those mappings that have one.
static uint64_t label_index(size_t label) { return (uint64_t)label + 1; }

static void put_attribute(struct writer *w, const struct label *l) {
  const size_t start = begin_message(&w->out, DICTIONARY_ATTRIBUTES);
  put_number(&w->out, OTLP_ATTRIBUTE_KEY, l->key);
  if (l->str)
    put_any_text(&w->out, OTLP_ATTRIBUTE_VALUE, w->p->strings[l->str]);
  else
    put_any_number(&w->out, OTLP_ATTRIBUTE_VALUE, l->number);
  put_number(&w->out, OTLP_ATTRIBUTE_UNIT, l->unit);
  end_message(&w->out, start);
}

static void put_attributes(struct writer *w) {
  struct profile *p = w->p;
  const string_id key = profile_text(p, BUILD_ID);
  for (size_t i = 0; i < p->label_count; i++)
    put_attribute(w, &p->labels[i]);
  for (size_t i = 0; i < p->mapping_count; i++)
    if (p->mappings[i].build_id)
      put_attribute(
          w, &(struct label){.key = key, .str = p->mappings[i].build_id});
}

// --- the dictionary ---

static void put_default(struct writer *w, unsigned table) {
  end_message(&w->out, begin_message(&w->out, table));
}

static void put_mappings(struct writer *w) {
  uint64_t next = label_index(w->p->label_count);
  for (size_t i = 0; i < w->p->mapping_count; i++) {
    const struct mapping *m = &w->p->mappings[i];
    const size_t start = begin_message(&w->out, DICTIONARY_MAPPINGS);
    put_number(&w->out, OTLP_MAPPING_START, m->start);
    put_number(&w->out, OTLP_MAPPING_LIMIT, m->limit);
    put_number(&w->out, OTLP_MAPPING_OFFSET, m->offset);
    put_number(&w->out, OTLP_MAPPING_FILE, m->file);
    if (m->build_id) {
      const size_t list = begin_message(&w->out, OTLP_MAPPING_ATTRIBUTES);
      put_varint(&w->out, next++);
      end_message(&w->out, list);
    }
    end_message(&w->out, start);
  }
}

static void put_location(struct writer *w, const struct location *l) {
  const size_t start = begin_message(&w->out, DICTIONARY_LOCATIONS);
  if (l->mapping != NO_MAPPING)
    put_number(&w->out, OTLP_LOCATION_MAPPING, (uint64_t)l->mapping + 1);
  put_number(&w->out, OTLP_LOCATION_ADDRESS, l->address);
  for (uint32_t i = 0; i < l->line_count; i++) {
    const struct line *line = &w->p->lines[l->first_line + i];
    const size_t message = begin_message(&w->out, OTLP_LOCATION_LINES);
    put_number(&w->out, OTLP_LINE_FUNCTION, (uint64_t)line->function + 1);
    put_number(&w->out, OTLP_LINE_LINE, (uint64_t)line->line);
    end_message(&w->out, message);
  }
  end_message(&w->out, start);
}

static void put_function(struct writer *w, const struct function *f) {
  const size_t start = begin_message(&w->out, DICTIONARY_FUNCTIONS);
  put_number(&w->out, OTLP_FUNCTION_NAME, f->name);
  put_number(&w->out, OTLP_FUNCTION_SYSTEM_NAME, f->system_name);
  put_number(&w->out, OTLP_FUNCTION_FILE, f->file);
  put_number(&w->out, OTLP_FUNCTION_START_LINE, (uint64_t)f->start_line);
  end_message(&w->out, start);
}

static void put_stack(struct writer *w, const struct sample *s) {
  const size_t start = begin_message(&w->out, DICTIONARY_STACKS);
  const size_t list = begin_message(&w->out, OTLP_STACK_LOCATIONS);
  for (uint32_t i = 0; i < s->location_count; i++)
    put_varint(&w->out,
               (uint64_t)w->p->stack_locations[s->first_location + i] + 1);
  end_message(&w->out, list);
  end_message(&w->out, start);
}

static void put_dictionary(struct writer *w) {
  const struct profile *p = w->p;
  const size_t start = begin_message(&w->out, REQUEST_DICTIONARY);
  for (unsigned table = DICTIONARY_MAPPINGS; table <= DICTIONARY_STACKS;
       table++)
    if (table != DICTIONARY_STRINGS)
      put_default(w, table);
  put_mappings(w);
  for (size_t i = 0; i < p->location_count; i++)
    put_location(w, &p->locations[i]);
  for (size_t i = 0; i < p->function_count; i++)
    put_function(w, &p->functions[i]);
  for (size_t i = 0; i < p->sample_count; i++)
    put_stack(w, &p->samples[i]);
  put_attributes(w);
  for (size_t i = 0; i < p->string_count; i++)
    put_text(&w->out, DICTIONARY_STRINGS, p->strings[i]);
  end_message(&w->out, start);
}

// --- profiles ---

static void put_type(struct writer *w, unsigned field,
                     const struct value_type *t) {
  const size_t start = begin_message(&w->out, field);
  put_number(&w->out, OTLP_TYPE_TYPE, t->type);
  put_number(&w->out, OTLP_TYPE_UNIT, t->unit);
  end_message(&w->out, start);
}

static void put_sample(struct writer *w, size_t index, int64_t value) {
  const struct sample *s = &w->p->samples[index];
  const size_t start = begin_message(&w->out, OTLP_PROFILE_SAMPLES);
  put_number(&w->out, OTLP_SAMPLE_STACK, (uint64_t)index + 1);
  if (s->label_count) {
    const size_t list = begin_message(&w->out, OTLP_SAMPLE_ATTRIBUTES);
    for (uint32_t i = 0; i < s->label_count; i++)
      put_varint(&w->out, label_index(s->first_label + i));
    end_message(&w->out, list);
  }
  const size_t list = begin_message(&w->out, OTLP_SAMPLE_VALUES);
  put_varint(&w->out, (uint64_t)value);
  end_message(&w->out, list);
  end_message(&w->out, start);
}

static void put_profile(struct writer *w, unsigned type) {
  const struct profile *p = w->p;
  uint8_t id[RANDOM_ID];
  const size_t start = begin_message(&w->out, SCOPE_PROFILES_PROFILES);
  put_type(w, OTLP_PROFILE_SAMPLE_TYPE, &p->types[type]);
  for (size_t i = 0; i < p->sample_count; i++)
    if (p->values[i * p->type_count + type])
      put_sample(w, i, p->values[i * p->type_count + type]);
  put_fixed64(&w->out, OTLP_PROFILE_TIME, (uint64_t)p->time_ns);
  put_number(&w->out, OTLP_PROFILE_DURATION, (uint64_t)p->duration_ns);
  put_type(w, OTLP_PROFILE_PERIOD_TYPE, &p->period_type);
  put_number(&w->out, OTLP_PROFILE_PERIOD, (uint64_t)p->period);
  random_id(id);
  put_data(&w->out, OTLP_PROFILE_ID, id, sizeof id);
  end_message(&w->out, start);
}

static void put_scope(struct put *out) {
  const size_t start = begin_message(out, SCOPE_PROFILES_SCOPE);
  put_text(out, SCOPE_NAME, "mprof");
  put_text(out, SCOPE_VERSION, MPROF_VERSION);
  end_message(out, start);
}

struct bytes otlp_request(struct profile *p, const struct resource *resource) {
  struct writer w = {.p = p};
  const size_t start = begin_message(&w.out, REQUEST_RESOURCE_PROFILES);
  put_resource(&w.out, resource);
  const size_t scope = begin_message(&w.out, RESOURCE_PROFILES_SCOPE_PROFILES);
  put_scope(&w.out);
  for (unsigned i = 0; i < p->type_count; i++)
    put_profile(&w, i);
  end_message(&w.out, scope);
  end_message(&w.out, start);
  put_dictionary(&w);
  return w.out.bytes;
}
