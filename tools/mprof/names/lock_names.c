// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/lock_names.h"

#include "common/memory.h"
#include "names/worker.h"

#include <stdlib.h>
#include <string.h>

// The locks that get names. Each file takes a process.
// All mappings are compared with each lock.
enum { MAX_LOCKS = 16384, MAX_FILES = 256, MAX_MAPPINGS = 4096 };

struct lock {
  string_id text; // the address
  uint32_t mapping;
  uint64_t address;
};

// Returns whether the text is only an address.
static bool read_address(const char *text, uint64_t *address) {
  if (strncmp(text, "0x", 2) != 0 || strlen(text) > 18 ||
      text[2 + strspn(text + 2, "0123456789abcdef")] || !text[2])
    return false;
  *address = strtoull(text, NULL, 16);
  return true;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b) {
  return a->file == b->file && a->build_id == b->build_id;
}

// Returns whether another file was mapped at the begin of the mapping. Then the
// profile is the sum of several processes, and it is not known to which one an
// address belongs.
static bool is_ambiguous(const struct profile *p, const struct mapping *m) {
  for (uint32_t i = 0; i < p->mapping_count; i++) {
    const struct mapping *other = &p->mappings[i];
    if (other->start <= m->start && m->start < other->limit &&
        !is_same_file(other, m))
      return true;
  }
  return false;
}

// Returns the last mapping of a file that begins before the address, or
// NO_MAPPING. The data of a program or library follow its code.
static uint32_t mapping_before(const struct profile *p, uint64_t address) {
  uint32_t found = NO_MAPPING;
  for (uint32_t i = 0; i < p->mapping_count; i++)
    if (p->mappings[i].start <= address &&
        (found == NO_MAPPING ||
         p->mappings[i].start >= p->mappings[found].start))
      found = i;
  return found == NO_MAPPING || p->strings[p->mappings[found].file][0] != '/' ||
                 is_ambiguous(p, &p->mappings[found])
             ? NO_MAPPING
             : found;
}

// --- the answers ---

struct answers {
  struct profile *p;
  const struct lock *locks;
  size_t count;
  string_id *names; // by the string of the address; 0: none
};

static void set_name(struct answers *a, uint64_t index, const char *name) {
  const string_id text = a->locks[index].text;
  char *label = text_of("%s (%s)", name, a->p->strings[text]);
  a->names[text] = profile_text(a->p, label);
  free(label);
}

static void take_answers(struct answers *a, struct slice bytes) {
  enum { INDEX = 1, NAME = 5 };
  for (uint64_t at = 0; slice_number(bytes, at, 1) == MESSAGE_LOCK;) {
    const uint64_t index = slice_number(bytes, at + INDEX, 4);
    const char *name = slice_string(bytes, at + NAME);
    if (!name || index >= a->count)
      return;
    set_name(a, index, name);
    at += NAME + strlen(name) + 1;
  }
}

// Asks for the names of locks of one file.
static void ask(struct answers *a, const struct places *places) {
  const struct profile *p = a->p;
  const struct mapping *first = &p->mappings[a->locks->mapping];
  // Copies, because the profile's strings may move.
  char *path = text_of("%s", p->strings[first->file]),
       *id = text_of("%s", p->strings[first->build_id]);
  struct lock_query *queries = zeroed(a->count, sizeof *queries);
  for (size_t i = 0; i < a->count; i++) {
    const struct mapping *m = &p->mappings[a->locks[i].mapping];
    queries[i] = (struct lock_query){m->offset, a->locks[i].address - m->start};
  }
  const struct job job = {
      .path = path, .build_id = id, .locks = queries, .lock_count = a->count};
  const struct slice bytes = worker_ask(&job, places);
  take_answers(a, bytes);
  free(bytes.at);
  free(queries);
  free(path);
  free(id);
}

// --- the labels ---

static bool is_lock(const struct profile *p, const struct label *l) {
  return l->str != 0 && strcmp(p->strings[l->key], "lock") == 0;
}

static int compare(const void *a, const void *b, void *arg) {
  const struct profile *p = arg;
  const struct lock *x = a, *y = b;
  const struct mapping *m = &p->mappings[x->mapping],
                       *n = &p->mappings[y->mapping];
  if (m->file != n->file)
    return m->file < n->file ? -1 : 1;
  if (m->build_id != n->build_id)
    return m->build_id < n->build_id ? -1 : 1;
  return (x->text > y->text) - (x->text < y->text);
}

// Returns the different locks that may have names, sorted by file.
static struct lock *find_locks(struct profile *p, size_t *count) {
  struct lock *locks = NULL;
  size_t capacity = 0;
  bool *is_known = zeroed(p->string_count, sizeof *is_known);
  for (size_t i = 0; i < p->label_count && *count < MAX_LOCKS; i++) {
    const struct label *l = &p->labels[i];
    struct lock lock = {.text = l->str};
    if (!is_lock(p, l) || is_known[l->str])
      continue;
    is_known[l->str] = true;
    if (read_address(p->strings[l->str], &lock.address) &&
        (lock.mapping = mapping_before(p, lock.address)) != NO_MAPPING)
      *APPEND(locks, *count, capacity) = lock;
  }
  free(is_known);
  if (*count)
    qsort_r(locks, *count, sizeof *locks, compare, p);
  return locks;
}

void lock_names_find(struct profile *p, const struct places *places) {
  size_t count = 0;
  if (p->mapping_count > MAX_MAPPINGS)
    return;
  struct lock *locks = find_locks(p, &count);
  const size_t string_count = p->string_count;
  string_id *names = zeroed(string_count, sizeof *names);
  size_t files = 0;
  for (size_t first = 0, end; first < count && files++ < MAX_FILES;
       first = end) {
    for (end = first;
         end < count && is_same_file(&p->mappings[locks[first].mapping],
                                     &p->mappings[locks[end].mapping]);)
      end++;
    struct answers a = {p, &locks[first], end - first, names};
    ask(&a, places);
  }
  for (size_t i = 0; i < p->label_count && count; i++) {
    struct label *l = &p->labels[i];
    if (is_lock(p, l) && l->str < string_count && names[l->str])
      l->str = names[l->str];
  }
  free(names);
  free(locks);
}

size_t lock_name_length(const char *label) {
  const char *end = strstr(label, " (0x");
  return end ? (size_t)(end - label) : 0;
}
