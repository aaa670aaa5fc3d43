// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/types.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "names/block_type.h"
#include "view/estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the type of a stack ---

// Returns the text of the type in the profile's strings.
static string_id text_of_type(struct profile *p, struct block_type_name type,
                              bool is_string, bool is_whole) {
  static const char suffix[] = " (std::basic_string)";
  char *text = zeroed(type.length + sizeof suffix, 1);
  block_type_text(text, type, is_whole);
  if (is_string)
    strcat(text, suffix);
  const string_id id = profile_text(p, text);
  free(text);
  return id;
}

// Finds the type of the sample's blocks. Reads all frames of the profile,
// because views leave out those of allocators. Returns 0 if none tells the
// type.
static string_id type_of(struct profile *p, const struct sample *s,
                         bool is_whole) {
  struct block_type_name type = {NULL, 0};
  for (uint32_t i = 0; i < s->location_count; i++) {
    const struct location *l =
        &p->locations[p->stack_locations[s->first_location + i]];
    for (uint32_t k = 0; k < l->line_count; k++) {
      const struct line *line = &p->lines[l->first_line + k];
      struct block_type_name found;
      const enum block_type kind =
          block_type_of(p->strings[p->functions[line->function].name],
                        l->line_count > 1, &found);
      if (kind == BLOCK_TYPE_FOUND && !type.text)
        type = found; // the caller says whether it is part of a string
      else if (kind == BLOCK_TYPE_STRING)
        return text_of_type(p, type.text ? type : found, true, is_whole);
      else if (kind == BLOCK_TYPE_UNKNOWN)
        return type.text ? text_of_type(p, type, false, is_whole) : 0;
    }
    if (l->line_count == 0)
      break;
  }
  return type.text ? text_of_type(p, type, false, is_whole) : 0;
}

// --- the table ---

struct adder {
  struct type_table *table;
  struct idmap rows; // by name
};

static struct type_row *row_of(struct adder *a, string_id name) {
  struct type_table *t = a->table;
  const size_t index = idmap_get(&a->rows, name, t->count);
  if (index == t->count)
    *APPEND(t->rows, t->count, t->capacity) = (struct type_row){.name = name};
  return &t->rows[index];
}

static void add_values(struct type_values *to, const struct type_values *v) {
  add_to(&to->bytes, v->bytes);
  add_to(&to->objects, v->objects);
  to->bytes_variance += v->bytes_variance;
  to->objects_variance += v->objects_variance;
}

// Finds the value types PREFIX_space and PREFIX_objects, of which one is the
// view's.
static bool find_types(const struct view *v, struct type_table *t) {
  char name[64];
  const char *end = strrchr(v->type_name, '_');
  if (!end || end - v->type_name > 40)
    return false;
  const int length = (int)(end - v->type_name);
  t->is_by_objects = strcmp(end, "_objects") == 0;
  if (!t->is_by_objects && strcmp(end, "_space") != 0)
    return false;
  snprintf(name, sizeof name, "%.*s_space", length, v->type_name);
  const int bytes = profile_find_type(v->profile, name);
  snprintf(name, sizeof name, "%.*s_objects", length, v->type_name);
  const int objects = profile_find_type(v->profile, name);
  t->bytes_type = (unsigned)bytes;
  t->objects_type = (unsigned)objects;
  return bytes >= 0 && objects >= 0;
}

static const struct type_table *sorted; // for compare; one thread sorts
static const struct profile *sorted_profile;

static int compare(const void *x, const void *y) {
  const struct type_row *a = x, *b = y;
  const bool by_objects = sorted->is_by_objects;
  const int64_t v = size_of(by_objects ? a->values.objects : a->values.bytes);
  const int64_t w = size_of(by_objects ? b->values.objects : b->values.bytes);
  if (v != w)
    return v > w ? -1 : 1;
  return strcmp(sorted_profile->strings[a->name],
                sorted_profile->strings[b->name]);
}

bool types_of(const struct view *v, bool has_full_names, struct type_table *t) {
  struct profile *p = v->profile;
  *t = (struct type_table){0};
  if (!find_types(v, t))
    return false;
  struct adder a = {.table = t};
  for (size_t i = 0; i < v->stack_count; i++) {
    const struct sample *s = &p->samples[v->stacks[i].sample];
    const int64_t *values =
        &p->values[(size_t)v->stacks[i].sample * p->type_count];
    const int64_t bytes = values[t->bytes_type],
                  objects = values[t->objects_type];
    const struct type_values own = {
        bytes, objects, estimate_variance(p, s, t->bytes_type, bytes),
        estimate_variance(p, s, t->objects_type, objects)};
    const string_id name = type_of(p, s, has_full_names);
    add_values(&row_of(&a, name)->values, &own);
    add_values(&t->total, &own);
    if (!name)
      add_to(&t->unknown, size_of(v->stacks[i].value));
  }
  idmap_clear(&a.rows);
  sorted = t;
  sorted_profile = p;
  if (t->count)
    qsort(t->rows, t->count, sizeof *t->rows, compare);
  return true;
}

void types_free(struct type_table *t) { free(t->rows); }
