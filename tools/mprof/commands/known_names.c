// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/known_names.h"

#include "commands/add_names.h"
#include "common/idmap.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

// An address that has been looked up. count 0: it has no name.
struct known_place {
  string_id file, build_id;
  uint64_t offset;
  size_t first_line; // in names.lines
  uint32_t count;
};

struct known_names {
  struct profile *names; // has the strings and functions
  struct idmap addresses;
  struct known_place *places;
  size_t count, capacity;
  // The labels of locks: the string after the search, by that before it.
  struct idmap labels;
};

struct known_names *known_names_new(void) {
  struct known_names *known = zeroed(1, sizeof *known);
  known->names = profile_new();
  return known;
}

// --- functions ---

// Returns whether names of the location are searched for.
static bool is_unnamed(const struct profile *p, const struct location *l) {
  if (l->line_count || l->mapping == NO_MAPPING)
    return false;
  const struct mapping *m = &p->mappings[l->mapping];
  return p->strings[m->file][0] == '/' && !m->has_functions;
}

static const struct known_place *find(const struct known_names *known,
                                      const struct profile *p,
                                      const struct location *l) {
  size_t index;
  if (!idmap_find(&known->addresses, l->address, &index))
    return NULL;
  const struct known_place *place = &known->places[index];
  const struct mapping *m = &p->mappings[l->mapping];
  const char **strings = known->names->strings;
  // Another library may have been loaded at the address since then.
  return place->offset == l->address - m->start + m->offset &&
                 strcmp(strings[place->file], p->strings[m->file]) == 0 &&
                 strcmp(strings[place->build_id], p->strings[m->build_id]) == 0
             ? place
             : NULL;
}

static struct line copy_line(const struct profile *from, struct profile *to,
                             struct line line) {
  const struct function *f = &from->functions[line.function];
  const struct function copy = {profile_text(to, from->strings[f->name]),
                                profile_text(to, from->strings[f->system_name]),
                                profile_text(to, from->strings[f->file]),
                                f->start_line};
  return (struct line){profile_function(to, &copy), line.line};
}

// Remembers the names of the location, or that it has none.
static void learn(struct known_names *known, const struct profile *p,
                  const struct location *l) {
  struct profile *names = known->names;
  const struct mapping *m = &p->mappings[l->mapping];
  const struct known_place place = {
      .file = profile_text(names, p->strings[m->file]),
      .build_id = profile_text(names, p->strings[m->build_id]),
      .offset = l->address - m->start + m->offset,
      .first_line = names->line_count,
      .count = l->line_count};
  for (uint32_t i = 0; i < l->line_count; i++) {
    const struct line line = copy_line(p, names, p->lines[l->first_line + i]);
    *APPEND(names->lines, names->line_count, names->capacity.lines) = line;
  }
  size_t index;
  if (idmap_find(&known->addresses, l->address, &index)) {
    known->places[index] = place;
    return;
  }
  idmap_add(&known->addresses, l->address, known->count);
  *APPEND(known->places, known->count, known->capacity) = place;
}

static void name(const struct known_names *known, struct profile *p,
                 uint32_t location, const struct known_place *place) {
  struct line *lines = zeroed(place->count + 1, sizeof *lines);
  for (uint32_t i = 0; i < place->count; i++)
    lines[i] =
        copy_line(known->names, p, known->names->lines[place->first_line + i]);
  if (place->count)
    profile_set_lines(p, location, lines, place->count);
  free(lines);
}

// --- locks ---

static bool is_lock(const struct profile *p, const struct label *l) {
  return l->str && strcmp(p->strings[l->key], "lock") == 0 &&
         strncmp(p->strings[l->str], "0x", 2) == 0;
}

// Returns the label that the search has found for the address, or NULL.
static const char *label_of(const struct known_names *known, const char *lock) {
  size_t label;
  return idmap_find(&known->labels, profile_text(known->names, lock), &label)
             ? known->names->strings[label]
             : NULL;
}

// --- both ---

static bool knows_all(const struct known_names *known,
                      const struct profile *p) {
  for (size_t i = 0; i < p->location_count; i++)
    if (is_unnamed(p, &p->locations[i]) && !find(known, p, &p->locations[i]))
      return false;
  for (size_t i = 0; i < p->label_count; i++)
    if (is_lock(p, &p->labels[i]) &&
        !label_of(known, p->strings[p->labels[i].str]))
      return false;
  return true;
}

static void apply(const struct known_names *known, struct profile *p) {
  for (uint32_t i = 0; i < p->location_count; i++)
    if (is_unnamed(p, &p->locations[i]))
      name(known, p, i, find(known, p, &p->locations[i]));
  for (size_t i = 0; i < p->label_count; i++)
    if (is_lock(p, &p->labels[i]))
      p->labels[i].str =
          profile_text(p, label_of(known, p->strings[p->labels[i].str]));
}

// Forgets everything if a program makes ever new addresses.
static void limit(struct known_names *known) {
  enum { MAX_PLACES = 1 << 20, MAX_LABELS = 1 << 12 };
  if (known->count < MAX_PLACES && known->labels.count < MAX_LABELS)
    return;
  profile_free(known->names);
  idmap_clear(&known->addresses);
  free(known->places);
  idmap_clear(&known->labels);
  *known = (struct known_names){.names = profile_new()};
}

void known_names_add(struct known_names *known, const struct options *options,
                     struct profile *p) {
  if (knows_all(known, p)) {
    add_names_demangle(p);
    apply(known, p);
    return;
  }
  limit(known);
  bool *is_new = zeroed(p->location_count + 1, sizeof *is_new);
  string_id *locks = zeroed(p->label_count + 1, sizeof *locks);
  for (size_t i = 0; i < p->location_count; i++)
    is_new[i] = is_unnamed(p, &p->locations[i]);
  for (size_t i = 0; i < p->label_count; i++)
    locks[i] = is_lock(p, &p->labels[i]) ? p->labels[i].str : 0;
  add_names(options, p, NAMES_AUTOMATIC);
  for (size_t i = 0; i < p->location_count; i++)
    if (is_new[i])
      learn(known, p, &p->locations[i]);
  for (size_t i = 0; i < p->label_count; i++) {
    const char *lock = p->strings[locks[i]];
    if (!locks[i] || label_of(known, lock))
      continue;
    idmap_add(&known->labels, profile_text(known->names, lock),
              profile_text(known->names, p->strings[p->labels[i].str]));
  }
  free(is_new);
  free(locks);
}
