// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/profile.h"

#include "common/memory.h"
#include "common/saturate.h"
#include "symbolize/symbolizer_protocol.h"

#include <stdlib.h>
#include <string.h>

// What an is_equal function compares: an element that may be in the table.
struct wanted {
  const struct profile *p;
  const void *element;
  const void *parts; // lines of a location, or labels of a sample
  size_t length, part_count;
  int64_t period; // of a sample
};

// --- strings ---

static bool is_string(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const char *s = w->p->strings[index];
  return strncmp(s, w->element, w->length) == 0 && s[w->length] == '\0';
}

static char *copy_string(struct profile *p, const char *bytes, size_t length) {
  enum { CHUNK = 1 << 16 };
  if (length + 1 > p->chunk_left) {
    p->chunk_left = length + 1 > CHUNK ? length + 1 : CHUNK;
    p->chunk = zeroed(p->chunk_left, 1);
    *APPEND(p->chunks, p->chunk_count, p->chunk_capacity) = p->chunk;
  }
  char *copy = p->chunk;
  memcpy(copy, bytes, length);
  copy[length] = '\0';
  p->chunk += length + 1;
  p->chunk_left -= length + 1;
  return copy;
}

string_id profile_string(struct profile *p, const char *bytes, size_t length) {
  length = strnlen(bytes, length);
  const struct wanted w = {.p = p, .element = bytes, .length = length};
  const string_id next = (string_id)p->string_count;
  const string_id id = intern_find(
      &p->string_set, intern_hash(0, bytes, length), next, is_string, &w);
  if (id == next)
    *APPEND(p->strings, p->string_count, p->capacity.strings) =
        copy_string(p, bytes, length);
  return id;
}

string_id profile_text(struct profile *p, const char *text) {
  return profile_string(p, text, strlen(text));
}

bool profile_file_is_jit(const char *file) {
  return strncmp(file, MPROF_JIT_FILE " ", strlen(MPROF_JIT_FILE) + 1) == 0;
}

struct profile *profile_new(void) {
  struct profile *p = zeroed(1, sizeof *p);
  // Ranges of these arrays may be empty, but never NULL.
  p->lines = grow(NULL, &p->capacity.lines, 1, sizeof *p->lines);
  p->labels = grow(NULL, &p->capacity.labels, 1, sizeof *p->labels);
  p->stack_locations =
      grow(NULL, &p->capacity.stack_locations, 1, sizeof *p->stack_locations);
  p->values = grow(NULL, &p->capacity.values, 1, sizeof *p->values);
  profile_text(p, "");
  profile_text(p, "heap_rate"); // HEAP_RATE
  return p;
}

void profile_free(struct profile *p) {
  void *const arrays[] = {
      p->strings, p->mappings, p->functions,       p->lines,  p->locations,
      p->labels,  p->samples,  p->stack_locations, p->values, p->comments};
  struct intern *const sets[] = {&p->string_set,   &p->mapping_set,
                                 &p->function_set, &p->location_set,
                                 &p->sample_set,   &p->comment_set};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    intern_free(sets[i]);
  for (size_t i = 0; i < p->chunk_count; i++)
    free(p->chunks[i]);
  free(p->chunks);
  free(p);
}

// --- mappings and functions ---

// The same file may be mapped at another address in another process. pprof
// compares the size, the offset and the build id in that case, but addresses
// of its locations would then have to be moved; MProf keeps both mappings.
static bool is_mapping(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct mapping *a = &w->p->mappings[index], *b = w->element;
  return a->start == b->start && a->limit == b->limit &&
         a->offset == b->offset && a->file == b->file &&
         a->build_id == b->build_id;
}

uint32_t profile_mapping(struct profile *p, const struct mapping *m) {
  const struct wanted w = {.p = p, .element = m};
  const uint64_t key[] = {m->start, m->limit, m->offset, m->file, m->build_id};
  const uint32_t next = (uint32_t)p->mapping_count;
  const uint32_t id = intern_find(
      &p->mapping_set, intern_hash(0, key, sizeof key), next, is_mapping, &w);
  if (id == next)
    *APPEND(p->mappings, p->mapping_count, p->capacity.mappings) = *m;
  return id;
}

static bool is_function(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct function *a = &w->p->functions[index], *b = w->element;
  return a->name == b->name && a->system_name == b->system_name &&
         a->file == b->file && a->start_line == b->start_line;
}

uint32_t profile_function(struct profile *p, const struct function *f) {
  const struct wanted w = {.p = p, .element = f};
  const uint64_t key[] = {f->name, f->system_name, f->file,
                          (uint64_t)f->start_line};
  const uint32_t next = (uint32_t)p->function_count;
  const uint32_t id = intern_find(
      &p->function_set, intern_hash(0, key, sizeof key), next, is_function, &w);
  if (id == next)
    *APPEND(p->functions, p->function_count, p->capacity.functions) = *f;
  return id;
}

// --- locations ---

static bool are_lines(const struct line *a, const struct line *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i].function != b[i].function || a[i].line != b[i].line)
      return false;
  return true;
}

static bool is_location(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct location *a = &w->p->locations[index], *b = w->element;
  return a->address == b->address && a->mapping == b->mapping &&
         a->line_count == b->line_count &&
         are_lines(&w->p->lines[a->first_line], w->parts, a->line_count);
}

static uint32_t hash_lines(uint32_t hash, const struct line *lines, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t key[] = {lines[i].function, (uint64_t)lines[i].line};
    hash = intern_hash(hash, key, sizeof key);
  }
  return hash;
}

static size_t add_lines(struct profile *p, const struct line *lines, size_t n) {
  const size_t first = p->line_count;
  for (size_t i = 0; i < n; i++)
    *APPEND(p->lines, p->line_count, p->capacity.lines) = lines[i];
  return first;
}

uint32_t profile_location(struct profile *p, const struct location *location,
                          const struct line *lines) {
  const struct wanted w = {.p = p, .element = location, .parts = lines};
  const uint64_t key[] = {location->address, location->mapping};
  const uint32_t hash =
      hash_lines(intern_hash(0, key, sizeof key), lines, location->line_count);
  const uint32_t next = (uint32_t)p->location_count;
  const uint32_t id =
      intern_find(&p->location_set, hash, next, is_location, &w);
  if (id == next) {
    struct location *l =
        APPEND(p->locations, p->location_count, p->capacity.locations);
    *l = *location;
    l->first_line = add_lines(p, lines, location->line_count);
  }
  return id;
}

void profile_set_lines(struct profile *p, uint32_t location,
                       const struct line *lines, uint32_t count) {
  struct location *l = &p->locations[location];
  l->first_line = add_lines(p, lines, count);
  l->line_count = count;
}

// --- samples ---

static bool are_labels(const struct label *a, const struct label *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i].key != b[i].key || a[i].str != b[i].str ||
        a[i].unit != b[i].unit || a[i].number != b[i].number)
      return false;
  return true;
}

static bool is_sample(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct sample *s = &w->p->samples[index];
  return s->location_count == w->length && s->label_count == w->part_count &&
         s->period == w->period &&
         memcmp(&w->p->stack_locations[s->first_location], w->element,
                w->length * sizeof(uint32_t)) == 0 &&
         are_labels(&w->p->labels[s->first_label], w->parts, w->part_count);
}

static uint32_t hash_sample(const struct wanted *w) {
  uint32_t hash = intern_hash(0, &w->period, sizeof w->period);
  hash = intern_hash(hash, w->element, w->length * sizeof(uint32_t));
  const struct label *labels = w->parts;
  for (size_t i = 0; i < w->part_count; i++) {
    const uint64_t key[] = {labels[i].key, labels[i].str, labels[i].unit,
                            (uint64_t)labels[i].number};
    hash = intern_hash(hash, key, sizeof key);
  }
  return hash;
}

static void append_sample(struct profile *p, const struct wanted *w) {
  *APPEND(p->samples, p->sample_count, p->capacity.samples) =
      (struct sample){.first_location = p->stack_location_count,
                      .first_label = p->label_count,
                      .location_count = (uint32_t)w->length,
                      .label_count = (uint32_t)w->part_count,
                      .period = w->period};
  const uint32_t *locations = w->element;
  for (size_t i = 0; i < w->length; i++)
    *APPEND(p->stack_locations, p->stack_location_count,
            p->capacity.stack_locations) = locations[i];
  const struct label *labels = w->parts;
  for (size_t i = 0; i < w->part_count; i++)
    *APPEND(p->labels, p->label_count, p->capacity.labels) = labels[i];
  for (unsigned i = 0; i < p->type_count; i++)
    *APPEND(p->values, p->value_count, p->capacity.values) = 0;
}

void profile_sample(struct profile *p, const uint32_t *locations,
                    uint32_t location_count, const struct label *labels,
                    uint32_t label_count, int64_t period,
                    const int64_t *values) {
  const struct wanted w = {.p = p,
                           .element = locations,
                           .length = location_count,
                           .parts = labels,
                           .part_count = label_count,
                           .period = period};
  const uint32_t next = (uint32_t)p->sample_count;
  const uint32_t id =
      intern_find(&p->sample_set, hash_sample(&w), next, is_sample, &w);
  if (id == next)
    append_sample(p, &w);
  int64_t *sums = &p->values[(size_t)id * p->type_count];
  for (unsigned i = 0; i < p->type_count; i++)
    sums[i] = saturating_add(sums[i], values[i]);
}

bool profile_has_heap_period(const struct profile *p) {
  return strcmp(p->strings[p->period_type.type], "space") == 0 &&
         strcmp(p->strings[p->period_type.unit], "bytes") == 0;
}

bool profile_has_other_periods(const struct profile *p) {
  for (size_t i = 0; i < p->sample_count; i++)
    if (p->samples[i].period != p->period)
      return true;
  return false;
}

static bool is_comment(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  return w->p->comments[index] == *(const string_id *)w->element;
}

void profile_comment(struct profile *p, string_id comment) {
  const struct wanted w = {.p = p, .element = &comment};
  const uint32_t next = (uint32_t)p->comment_count;
  if (intern_find(&p->comment_set, intern_hash(0, &comment, sizeof comment),
                  next, is_comment, &w) == next)
    *APPEND(p->comments, p->comment_count, p->capacity.comments) = comment;
}

// --- value types ---

const struct label *profile_label(const struct profile *p,
                                  const struct sample *s, const char *key) {
  for (uint32_t i = 0; i < s->label_count; i++) {
    const struct label *l = &p->labels[s->first_label + i];
    if (strcmp(p->strings[l->key], key) == 0)
      return l;
  }
  return NULL;
}

int profile_find_type(const struct profile *p, const char *name) {
  for (unsigned i = 0; i < p->type_count; i++)
    if (strcmp(p->strings[p->types[i].type], name) == 0)
      return (int)i;
  return -1;
}

uint64_t profile_sum(const struct profile *p, const char *type) {
  const int column = profile_find_type(p, type);
  uint64_t sum = 0;
  for (size_t i = 0; column >= 0 && i < p->sample_count; i++)
    sum += (uint64_t)p->values[i * p->type_count + (size_t)column];
  return sum;
}

unsigned profile_default_type(const struct profile *p) {
  const int named =
      p->default_type ? profile_find_type(p, p->strings[p->default_type]) : -1;
  return named >= 0 ? (unsigned)named : p->type_count - 1;
}
