// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the mappings, functions and locations of a profile; see
// pprof_locations.h.

#include "write/pprof_locations.h"

#include "bucket/bucket.h"
#include "symbolize/maps.h"
#include "symbolize/pctable.h"
#include "symbolize/short_name.h"
#include "symbolize/skip_frames.h"
#include "symbolize/symbolize.h"
#include "symbolize/wrappers.h"
#include "sys/text.h"
#include "write/pb.h"
#include "write/pprof_writer.h"
#include "write/profile_proto.h"

#include <errno.h>
#include <string.h>

// Maximum number of locations with function names. An external process
// symbolizes each location, which takes about 50 us. Locations beyond this
// limit have only addresses.
enum { NAMED_LOCATIONS_MAX = 20000 };

// --- mappings ---

static void put_mapping(struct mprof_pprof *w, const struct mprof_mapping *m) {
  uint64_t file = mprof_pprof_put_name(w, m->file);
  uint64_t build_id =
      m->build_id[0] == '\0' ? 0 : mprof_pprof_put_name(w, m->build_id);
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, MAPPING_ID, m->id);
  mprof_pb_uint64_opt(&w->pb, MAPPING_START, m->start);
  mprof_pb_uint64_opt(&w->pb, MAPPING_LIMIT, m->limit);
  mprof_pb_uint64_opt(&w->pb, MAPPING_OFFSET, m->offset);
  mprof_pb_uint64_opt(&w->pb, MAPPING_FILENAME, file);
  mprof_pb_uint64_opt(&w->pb, MAPPING_BUILD_ID, build_id);
  for (int tag = MAPPING_HAS_FUNCTIONS; tag <= MAPPING_HAS_INLINE_FRAMES; tag++)
    mprof_pb_bool_opt(&w->pb, tag, m->has_names);
  mprof_pb_end_message(&w->pb, PROFILE_MAPPING, start);
  mprof_pprof_emit(w);
}

// Adds mapping m to the list of mappings that will be written, and sets its id.
static void list_mapping(struct mprof_pprof *w, struct mprof_mapping *m) {
  *w->last_mapping = m;
  w->last_mapping = &m->next;
  m->id = ++w->mappings;
}

void mprof_pprof_list_mappings(struct mprof_pprof *w) {
  w->last_mapping = &w->first_mapping;
  for (size_t i = 0; i < w->maps.len; i++)
    list_mapping(w, &w->maps.v[i]);
}

void mprof_pprof_put_mappings(struct mprof_pprof *w) {
  for (const struct mprof_mapping *m = w->first_mapping; m; m = m->next)
    put_mapping(w, m);
}

// --- functions ---

// Writes the function f, whose name the symbolizer has demangled. If a
// function's name and system name are equal, readers remove the parameters from
// the name, but not the result type of a template. Then the pattern drop_frames
// would not match the name of a wrapper (mprof_wrapper). Therefore this
// function writes the plain name of a wrapper, without result type and
// parameters. The plain name differs from the system name, so readers do not
// change it.
static void put_function(struct mprof_pprof *w, uint64_t id,
                         const struct mprof_frame *f) {
  char plain[MPROF_WRAPPER_NAME];
  struct mprof_text t = MPROF_TEXT(plain);
  uint64_t system_name = mprof_pprof_intern(w, f->function), name = system_name;
  uint64_t file = mprof_pprof_intern(w, f->file);
  if (mprof_wrapper_name(&t, f->function)) {
    name = mprof_pprof_intern(w, plain);
    // Omits a system name that is equal to the plain name. Otherwise readers
    // would remove the "()" from the plain name of an operator().
    if (name == system_name)
      system_name = 0;
  } else if (mprof_name_is_foreign(f->function)) {
    system_name = 0; // readers would remove what is in brackets
  }
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, FUNCTION_ID, id);
  mprof_pb_uint64(&w->pb, FUNCTION_NAME, name);
  mprof_pb_uint64_opt(&w->pb, FUNCTION_SYSTEM_NAME, system_name);
  mprof_pb_uint64_opt(&w->pb, FUNCTION_FILENAME, file);
  mprof_pb_int64_opt(&w->pb, FUNCTION_START_LINE, f->start_line);
  mprof_pb_end_message(&w->pb, PROFILE_FUNCTION, start);
  mprof_pprof_emit(w);
}

// Adds the function f to the current location. The argument of this callback is
// the struct mprof_pprof.
static void add_line(const struct mprof_frame *f, void *arg) {
  struct mprof_pprof *w = arg;
  if (f->function[0] == '\0' || w->lines_len == MPROF_PPROF_LINES_MAX)
    return;
  uint64_t h = mprof_pprof_hash(mprof_pprof_hash(MPROF_HASH_EMPTY, f->function),
                                f->file);
  struct mprof_pc_slot *slot = mprof_pprof_slot_of(w, &w->functions_of, h);
  if (slot == NULL)
    return;
  if (slot->value == 0) {
    slot->value = ++w->functions;
    put_function(w, slot->value, f);
  }
  w->lines[w->lines_len++] =
      (struct mprof_pprof_line){.function = slot->value, .number = f->line};
}

// --- locations ---

// Writes a location with the functions in w->lines.
static void put_location(struct mprof_pprof *w, uint64_t id, uint64_t mapping,
                         uint64_t address) {
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, LOCATION_ID, id);
  mprof_pb_uint64(&w->pb, LOCATION_MAPPING_ID, mapping);
  mprof_pb_uint64_opt(&w->pb, LOCATION_ADDRESS, address);
  for (size_t i = 0; i < w->lines_len; i++) {
    size_t line = mprof_pb_start_message(&w->pb);
    mprof_pb_uint64(&w->pb, LINE_FUNCTION_ID, w->lines[i].function);
    mprof_pb_int64_opt(&w->pb, LINE_LINE, w->lines[i].number);
    mprof_pb_end_message(&w->pb, LOCATION_LINE, line);
  }
  mprof_pb_end_message(&w->pb, PROFILE_LOCATION, start);
  mprof_pprof_emit(w);
}

// Removes the `skip` innermost functions from the current location.
static void drop_lines(struct mprof_pprof *w, unsigned skip) {
  if (skip > w->lines_len)
    skip = (unsigned)w->lines_len;
  w->lines_len -= skip;
  memmove(w->lines, w->lines + skip, w->lines_len * sizeof(w->lines[0]));
}

// Writes a new location for the return address pc, without its `skip` innermost
// functions. Returns the location's id. Returns 0 if no mapping contains pc.
static uint64_t new_location(struct mprof_pprof *w, mprof_pc pc,
                             unsigned skip) {
  const struct mprof_mapping *found = mprof_maps_find(&w->maps, pc - 1);
  if (found == NULL)
    return 0;
  struct mprof_mapping *m = &w->maps.v[found - w->maps.v];
  if (m->id == 0)
    list_mapping(w, m);
  w->lines_len = 0;
  if (w->wants_names && w->named < NAMED_LOCATIONS_MAX) {
    w->named++;
    mprof_symbolize(pc, add_line, w);
    drop_lines(w, skip);
  }
  if (w->lines_len > 0)
    m->has_names = true;
  uint64_t id = ++w->locations;
  put_location(w, id, m->id, pc - 1); // pc - 1 is in the call instruction
  return id;
}

// Value in w->table for an address that no mapping contains.
#define UNMAPPED UINT64_MAX

// Returns the id of the location for the return address pc, without its `skip`
// innermost functions. Writes the location when it is first needed. Returns 0
// if no mapping contains pc.
// pc: a result of mprof_maps_shown.
static uint64_t locate(struct mprof_pprof *w, mprof_pc pc, unsigned skip) {
  if (pc == 0)
    return 0;
  // No address uses the bits 56 to 63, so these bits of the key hold `skip`.
  struct mprof_pc_slot *s =
      mprof_pc_table_get(&w->table, pc | (mprof_pc)skip << 56);
  if (s == NULL) {
    w->error = -ENOMEM;
    return 0;
  }
  if (s->value == 0) {
    uint64_t id = new_location(w, pc, skip);
    s->value = id == 0 ? UNMAPPED : id;
  }
  return s->value == UNMAPPED ? 0 : s->value;
}

static uint64_t locate_pseudo(struct mprof_pprof *w,
                              enum mprof_pprof_pseudo which) {
  const struct mprof_frame f = {
      .function = which == MPROF_PPROF_PSEUDO_TRUNCATED ? "[truncated]"
                                                        : w->empty_stack,
      .file = ""};
  uint64_t *id = &w->pseudo_locations[which];
  if (*id == 0) {
    if (w->pseudo.id == 0) {
      // No reader finds a file of this name, so no reader tries to symbolize
      // the pseudo frames.
      w->pseudo = (struct mprof_mapping){.limit = MPROF_PPROF_PSEUDO_FRAMES,
                                         .file = "[mprof]",
                                         .has_names = true};
      list_mapping(w, &w->pseudo);
    }
    w->lines_len = 0;
    add_line(&f, w);
    *id = ++w->locations;
    put_location(w, *id, w->pseudo.id, which);
  }
  return *id;
}

// --- stacks ---

size_t mprof_pprof_locate_stack(struct mprof_pprof *w,
                                const struct mprof_bucket *b) {
  size_t n = 0;
  bool is_cut = b->end != MPROF_STACK_COMPLETE;
  const uint32_t gone = mprof_bucket_gone(b);
  const struct mprof_skipped skipped = mprof_stack_skipped(b, w->wants_names);
  for (uint32_t i = skipped.frames;
       i < b->stack_len && n < MPROF_MAX_STACK_DEPTH; i++) {
    uint64_t id = locate(w, mprof_maps_shown(&w->maps, b->stack[i], gone),
                         i == skipped.frames ? skipped.functions : 0);
    if (id == 0) {
      is_cut = true;
      break;
    }
    w->ids[n++] = id;
  }
  if (is_cut)
    w->ids[n++] = locate_pseudo(w, MPROF_PPROF_PSEUDO_TRUNCATED);
  if (n == 0 && w->empty_stack != NULL)
    w->ids[n++] = locate_pseudo(w, MPROF_PPROF_PSEUDO_EMPTY);
  return n;
}
