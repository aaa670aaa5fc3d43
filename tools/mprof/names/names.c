// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/names.h"

#include "common/memory.h"
#include "common/plural.h"
#include "names/cut_name.h"
#include "names/slice.h"
#include "names/worker.h"
#include "symbolize/short_name.h"

#include <stdlib.h>
#include <string.h>

// A program has some hundreds of libraries at most. A damaged profile may name
// more, and each one takes a process.
enum { MAX_FILES = 4096 };

// A location whose name is wanted, and its place in the file.
struct wanted {
  string_id file, build_id;
  uint64_t offset;
  uint32_t location;
};

static bool is_wanted(const struct profile *p, const struct location *l,
                      enum names_mode mode) {
  if (l->mapping == NO_MAPPING || (l->line_count && mode != NAMES_FILES))
    return false;
  const struct mapping *m = &p->mappings[l->mapping];
  const char *file = p->strings[m->file];
  // [vdso] and [mprof] are no files.
  return (profile_file_is_jit(file) ? mode != NAMES_FILES : file[0] == '/') &&
         !(mode == NAMES_AUTOMATIC && m->has_functions);
}

bool names_are_wanted(const struct profile *p, enum names_mode mode) {
  for (size_t i = 0; i < p->location_count; i++)
    if (is_wanted(p, &p->locations[i], mode))
      return true;
  return false;
}

static int compare(const void *a, const void *b) {
  const struct wanted *x = a, *y = b;
  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  if (x->build_id != y->build_id)
    return x->build_id < y->build_id ? -1 : 1;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return (x->location > y->location) - (x->location < y->location);
}

// --- messages of the worker ---

struct replies {
  struct profile *p;
  const struct names_request *request;
  const struct job *job;
  const struct wanted *wanted; // sorted by offset
  size_t wanted_count, named;
  size_t cut; // frames with shortened names
  struct slice bytes;
  uint64_t at;
  bool is_bad;
};

static uint64_t take_number(struct replies *r, unsigned size) {
  if (!slice_part(r->bytes, r->at, size).at)
    r->is_bad = true;
  const uint64_t value = slice_number(r->bytes, r->at, size);
  r->at += size;
  return value;
}

static const char *take_text(struct replies *r) {
  const char *text = slice_string(r->bytes, r->at);
  if (!text) {
    r->is_bad = true;
    return "";
  }
  r->at += strlen(text) + 1;
  return text;
}

static void warn(const struct replies *r, char *text) {
  if (r->request->warn)
    r->request->warn(r->request->arg, text);
  free(text);
}

static void take_problem(struct replies *r) {
  const char *problem = take_text(r);
  if (!r->is_bad)
    warn(r, text_of("%s", problem));
}

// Gives the lines to all locations with the offset.
static void name_locations(struct replies *r, uint64_t offset,
                           const struct line *lines, uint32_t count) {
  size_t low = 0, high = r->wanted_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r->wanted[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < r->wanted_count && r->wanted[low].offset == offset; low++) {
    const uint32_t location = r->wanted[low].location;
    // A damaged answer may name a location twice.
    r->named += r->p->locations[location].line_count == 0;
    profile_set_lines(r->p, location, lines, count);
    struct mapping *m = &r->p->mappings[r->p->locations[location].mapping];
    m->has_functions = m->has_files = m->has_lines = m->has_inlined = true;
  }
}

static void take_frames(struct replies *r) {
  enum { MAX_LINES = 256 };
  struct line lines[MAX_LINES];
  const uint64_t index = take_number(r, 4), count = take_number(r, 4);
  if (index >= r->job->count || count > MAX_LINES) {
    r->is_bad = true;
    return;
  }
  for (uint64_t i = 0; i < count; i++) {
    const int64_t line = (int64_t)take_number(r, 8),
                  start = (int64_t)take_number(r, 8);
    const char *name = take_text(r), *file = take_text(r);
    if (r->is_bad)
      return;
    r->cut += strstr(name, MPROF_CUT_MARK) || strstr(file, MPROF_CUT_MARK);
    const string_id id = profile_text(r->p, name);
    const struct function f = {id, mprof_name_is_foreign(name) ? 0 : id,
                               profile_text(r->p, file), start};
    lines[i] = (struct line){profile_function(r->p, &f), line};
  }
  if (r->request->mode != NAMES_FILES && count)
    name_locations(r, r->job->offsets[index], lines, (uint32_t)count);
}

static void take_used(struct replies *r) {
  const char *path = take_text(r), *name = take_text(r);
  if (!r->is_bad && r->request->used)
    r->request->used(r->request->arg, path, name);
}

// Reads all messages. Returns false if the worker ended too early.
static bool take_messages(struct replies *r) {
  while (!r->is_bad)
    switch (take_number(r, 1)) {
    case MESSAGE_PROBLEM:
      take_problem(r);
      break;
    case MESSAGE_FRAMES:
      take_frames(r);
      break;
    case MESSAGE_USED:
      take_used(r);
      break;
    case MESSAGE_END:
      return true;
    default:
      r->is_bad = true;
    }
  return false;
}

// --- files ---

// Finds the names of the locations of one file. Returns how many have names.
static size_t name_file(struct profile *p, const struct names_request *request,
                        const struct wanted *wanted, size_t count) {
  // Copies, because the profile's strings may move.
  char *path = text_of("%s", p->strings[wanted->file]),
       *id = text_of("%s", p->strings[wanted->build_id]);
  uint64_t *offsets = zeroed(count, sizeof *offsets);
  struct job job = {.path = path,
                    .build_id = id,
                    .offsets = offsets,
                    .until_ns = p->time_ns,
                    .has_addresses = request->mode == NAMES_AT_ADDRESSES};
  for (size_t i = 0; i < count; i++)
    if (i == 0 || wanted[i].offset != wanted[i - 1].offset)
      offsets[job.count++] = wanted[i].offset;
  struct replies r = {.p = p,
                      .request = request,
                      .job = &job,
                      .wanted = wanted,
                      .wanted_count = count,
                      .bytes = worker_ask(&job, &request->places)};
  if (!take_messages(&r))
    warn(&r, text_of("%s or its debug information is damaged or too large; "
                     "some of its frames have no names",
                     path));
  if (r.cut)
    warn(&r, text_of("%zu frame%s of %s %s a long name that was shortened; "
                     "it contains " MPROF_CUT_MARK,
                     r.cut, plural(r.cut), path, r.cut == 1 ? "has" : "have"));
  free(r.bytes.at);
  free(offsets);
  free(path);
  free(id);
  return r.named;
}

size_t names_find(struct profile *p, const struct names_request *request) {
  struct wanted *wanted = NULL;
  size_t count = 0, capacity = 0, named = 0;
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    if (!is_wanted(p, l, request->mode))
      continue;
    const struct mapping *m = &p->mappings[l->mapping];
    *APPEND(wanted, count, capacity) = (struct wanted){
        m->file, m->build_id, l->address - m->start + m->offset, (uint32_t)i};
  }
  if (count)
    qsort(wanted, count, sizeof *wanted, compare);
  size_t files = 0;
  for (size_t first = 0, end; first < count; first = end) {
    if (files++ == MAX_FILES) {
      if (request->warn)
        request->warn(request->arg, "the profile has too many files; some "
                                    "frames have no names");
      break;
    }
    for (end = first; end < count && wanted[end].file == wanted[first].file &&
                      wanted[end].build_id == wanted[first].build_id;)
      end++;
    named += name_file(p, request, &wanted[first], end - first);
  }
  free(wanted);
  return named;
}
