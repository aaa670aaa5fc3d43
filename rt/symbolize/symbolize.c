// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions, files and lines of return addresses; see symbolize.h.
// Each address is looked up only once. names.c keeps the names, and
// symbolize_helper.c asks llvm-symbolizer for names that are not kept.

#include "symbolize/symbolize.h"

#include "lock_wait/hook_names.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/names.h"
#include "symbolize/symbolize_helper.h"
#include "sys/assert.h"
#include "sys/hash.h"
#include "sys/lock.h"

#include <string.h>

static struct {
  struct mprof_maps maps;
  unsigned uses;    // calls of mprof_symbolize_begin minus calls of _end
  bool wants_names; // the outermost mprof_symbolize_begin asked for names
  bool is_off;      // see mprof_symbolize_turn_off
} state;            // guarded by writer_lock

mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone) {
  return mprof_maps_shown(&state.maps, pc, gone);
}

// Returns whether m maps a file other than the main program. Compares the file
// names, because the main program may have several mappings.
static bool is_library(const struct mprof_mapping *m) {
  return strcmp(m->file, state.maps.v[0].file) != 0;
}

// Computes a number that identifies the module of the mapping m. Two modules
// that were loaded at the same address have different numbers. Code without a
// file gets a new number after each unload.
static uint64_t hash_module(const struct mprof_mapping *m) {
  const uint64_t unloads = m->noted_ns == 0 ? mprof_unloads_unloads() : 0;
  uint64_t h = mprof_hash(MPROF_HASH_EMPTY, m->file, strlen(m->file));
  h = mprof_hash(h, m->build_id, strlen(m->build_id));
  h = mprof_hash(h, (const char *)&m->bias, sizeof(m->bias));
  h = mprof_hash(h, (const char *)&m->noted_ns, sizeof(m->noted_ns));
  return mprof_hash(h, (const char *)&unloads, sizeof(unloads));
}

// Returns the number that identifies the module of the mapping `found`. Stores
// the number in the mapping, so that it is computed only once.
static uint64_t identify(const struct mprof_mapping *found) {
  struct mprof_mapping *m = &state.maps.v[found - state.maps.v];
  if (m->module == 0)
    m->module = hash_module(m);
  return m->module;
}

// Returns the names of the return address pc in the mapping m, or NULL if there
// are none.
static const struct mprof_names *find_names(mprof_pc pc,
                                            const struct mprof_mapping *m) {
  if (!state.wants_names)
    return NULL;
  const uint64_t module = identify(m);
  const struct mprof_names *names = mprof_names_find(pc, module);
  if (names != NULL)
    return names;
  const bool is_mapped = m < state.maps.v + state.maps.len;
  const char *reply = mprof_symbolize_ask(pc, m, is_mapped);
  return reply == NULL ? NULL : mprof_names_keep(pc, module, reply);
}

bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *),
                     void *arg) {
  const struct mprof_mapping *m =
      pc == 0 ? NULL : mprof_maps_find(&state.maps, pc - 1);
  if (m == NULL)
    return false;
  struct mprof_frame f = {.function = "",
                          .file = "",
                          .module = m->file,
                          .is_library = is_library(m),
                          .offset = pc - 1 - m->bias};
  const char *hooked = mprof_hooked_name(pc);
  if (hooked != NULL) {
    f.function = hooked;
    fn(&f, arg);
    return true;
  }
  const struct mprof_names *names = find_names(pc, m);
  for (size_t i = 0; names != NULL && i < names->len; i++) {
    f.function = names->v[i].function;
    f.file = names->v[i].file;
    f.line = names->v[i].line;
    f.start_line = names->v[i].start_line;
    fn(&f, arg);
  }
  if (names == NULL || names->len == 0)
    fn(&f, arg);
  return true;
}

void mprof_symbolize_turn_off(bool off) { state.is_off = off; }

int mprof_symbolize_begin(bool names) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  if (state.uses > 0) {
    state.uses++;
    return 0;
  }
  int error = mprof_unloads_read(&state.maps);
  if (error != 0)
    return error;
  state.uses = 1;
  state.wants_names = names && !state.is_off;
  return 0;
}

void mprof_symbolize_end(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && state.uses > 0);
  if (--state.uses > 0)
    return;
  mprof_symbolize_helper_stop();
  mprof_names_trim(mprof_unloads_unloads());
  mprof_maps_free(&state.maps);
}

void mprof_symbolize_forget(void) {
  mprof_symbolize_helper_forget();
  mprof_names_forget();
  memset(&state, 0, sizeof(state));
}
