// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions, files and lines of return addresses; see symbolize.h.
// Each address is looked up only once. names.c keeps the names. For names that
// are not kept, symbolizers.c asks the command mprof.

#include "symbolize/symbolize.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/names.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "sys/sort.h"
#include "unwind/python.h"
#include "unwind/rules.h"

#include <string.h>

static struct {
  struct mprof_maps maps;
  unsigned uses;     // calls of mprof_symbolize_begin minus calls of _end
  bool wants_names;  // the outermost mprof_symbolize_begin asked for names
  bool only_known;   // see mprof_symbolize_only_known
  bool is_off;       // see mprof_symbolize_turn_off
  bool keeps_helper; // see mprof_symbolize_keep_helper
  bool collects;     // between mprof_symbolize_collect and _look_up
  struct mprof_pc_table wanted; // collected addresses without known names
} state;                        // guarded by writer_lock

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

// Returns the mapping m of state.maps, to store in it what was found out.
static struct mprof_mapping *writable(const struct mprof_mapping *m) {
  return &state.maps.v[m - state.maps.v];
}

// Returns the number that identifies the module of the mapping m. Stores the
// number in the mapping, so that it is computed only once.
static uint64_t identify(const struct mprof_mapping *m) {
  if (m->module == 0)
    writable(m)->module = hash_module(m);
  return m->module;
}

// --- looking up many addresses together ---
//
// For each request, mprof reads the symbol table and the debug information of
// the functions that are asked about. So one request for all addresses of a
// file is much faster than a request for each.

// So many addresses are looked up at once, so that the table of them stays
// small. mprof needs about a second for them.
enum { WANTED_MAX = 20000 };

static bool is_lower(const void *a, const void *b) { return a < b; }

struct kept {
  uint64_t module;
  const struct mprof_names *names; // of the last address
};

static void keep(mprof_pc pc, const char *frames, void *arg) {
  struct kept *k = arg;
  k->names = mprof_names_keep(pc, k->module, frames);
}

static void keep_new(mprof_pc pc, const char *frames, void *arg) {
  const struct kept *k = arg;
  if (mprof_names_find(pc, k->module) == NULL)
    keep(pc, frames, arg);
}

// Returns the names of pc, in the mapping m, if they are known without a
// question: in this process, or because they were kept for an earlier one.
static const struct mprof_names *find_known(mprof_pc pc,
                                            const struct mprof_mapping *m) {
  struct kept k = {identify(m), NULL};
  const struct mprof_names *names = mprof_names_find(pc, k.module);
  if (names != NULL || m->is_recalled || m->is_jit)
    return names;
  writable(m)->is_recalled = true;
  mprof_symbolizers_recall(m, keep_new, &k);
  return mprof_names_find(pc, k.module);
}

// Asks mprof about the n addresses in the mapping m, unless it has failed to
// read this file. Stores their names.
static void ask(const struct mprof_mapping *m, const mprof_pc *pc, size_t n,
                struct kept *k) {
  if (!m->is_unreadable && !mprof_symbolizers_ask(m, pc, n, keep, k))
    writable(m)->is_unreadable = true;
}

// Asks about the n sorted addresses, and keeps the names. The addresses of one
// module follow each other.
static void look_up(const mprof_pc *pc, size_t n) {
  for (size_t first = 0, end; first < n; first = end) {
    const struct mprof_mapping *m = mprof_maps_find(&state.maps, pc[first] - 1);
    for (end = first + 1; end < n; end++)
      if (m == NULL || mprof_maps_find(&state.maps, pc[end] - 1) != m)
        break;
    struct kept k = {m == NULL ? 0 : identify(m), NULL};
    if (m != NULL)
      ask(m, pc + first, end - first, &k);
  }
}

bool mprof_symbolize_collect(struct mprof_outfile *f) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && !state.collects);
  if (state.uses == 0 || !state.wants_names || state.only_known)
    return false;
  state.collects = true;
  if (f != NULL)
    f->is_muted = true;
  return true;
}

// Looks up the names of the addresses in state.wanted, and empties it.
static void look_up_wanted(void) {
  const struct mprof_pc_table *t = &state.wanted;
  const size_t bytes = t->used * sizeof(mprof_pc);
  mprof_pc *pc = t->used > 0 ? mprof_os_map(bytes) : NULL;
  size_t n = 0;
  for (size_t i = 0; pc != NULL && i < t->count; i++)
    if (t->slots[i].pc != 0)
      pc[n++] = t->slots[i].pc;
  if (pc != NULL) {
    mprof_sort((void **)pc, n, is_lower);
    look_up(pc, n);
    mprof_os_unmap(pc, bytes);
  }
  mprof_pc_table_free(&state.wanted);
}

void mprof_symbolize_want(mprof_pc pc) {
  const struct mprof_mapping *m =
      pc == 0 ? NULL : mprof_maps_find(&state.maps, pc - 1);
  if (m == NULL || !mprof_maps_may_have_names(m) || m->is_unreadable ||
      mprof_hooked_name(pc) != NULL || find_known(pc, m) != NULL)
    return;
  // Without memory for the table, the writer asks about each address.
  mprof_pc_table_get(&state.wanted, pc);
  if (state.wanted.used == WANTED_MAX)
    look_up_wanted();
}

bool mprof_symbolize_want_stack(const struct mprof_bucket *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  for (size_t i = 0; state.collects && i < b->stack_len; i++)
    mprof_symbolize_want(
        mprof_maps_shown(&state.maps, b->stack[i], mprof_bucket_gone(b)));
  return state.collects;
}

void mprof_symbolize_look_up(struct mprof_outfile *f) {
  look_up_wanted();
  state.collects = false;
  if (f != NULL)
    f->is_muted = false;
}

void mprof_symbolize_only_known(void) { state.only_known = true; }

// --- names of an address ---

// Returns the names of the return address pc in the mapping m, or NULL if there
// are none.
static const struct mprof_names *find_names(mprof_pc pc,
                                            const struct mprof_mapping *m) {
  if (!state.wants_names)
    return NULL;
  const struct mprof_names *names = find_known(pc, m);
  if (names != NULL || state.only_known || state.collects)
    return names;
  struct kept k = {identify(m), NULL};
  ask(m, &pc, 1, &k);
  return k.names;
}

bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *),
                     void *arg) {
  struct mprof_python_line python;
  if (mprof_python_find(pc, &python)) {
    fn(&(struct mprof_frame){.function = python.function,
                             .file = python.file,
                             .line = python.line,
                             .start_line = python.start_line,
                             .module = MPROF_PYTHON_MODULE,
                             .is_library = true,
                             .offset = pc - 1 - MPROF_PYTHON_BEGIN},
       arg);
    return true;
  }
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
  if (names == NULL || names->len == 0) {
    const char *made = m->is_jit ? mprof_jit_object_name(pc - 1) : NULL;
    f.function = made != NULL ? made : "";
    fn(&f, arg);
  }
  return true;
}

// --- variables ---

// Returns the last mapping of a file that begins before the address, or NULL.
// The data of a program or library follow its code.
static const struct mprof_mapping *mapping_before(uintptr_t address) {
  const struct mprof_mapping *found = NULL;
  for (size_t i = 0; i < state.maps.len; i++) {
    const struct mprof_mapping *m = &state.maps.v[i];
    if (m->start <= address && (found == NULL || m->start >= found->start))
      found = m;
  }
  return found != NULL && mprof_maps_is_file(found) ? found : NULL;
}

struct variables {
  mprof_variable_fn *fn;
  void *arg;
};

static void pass_variable(mprof_pc address, const char *name, void *arg) {
  const struct variables *v = arg;
  if (*name != '\0')
    v->fn(address, name, v->arg);
}

void mprof_symbolize_variables(uintptr_t *addresses, size_t n,
                               mprof_variable_fn *fn, void *arg) {
  struct variables v = {fn, arg};
  if (!state.wants_names || state.only_known)
    return;
  mprof_sort((void **)addresses, n, is_lower);
  for (size_t first = 0, end; first < n; first = end) {
    const struct mprof_mapping *m = mapping_before(addresses[first]);
    for (end = first + 1; end < n; end++)
      if (mapping_before(addresses[end]) != m)
        break;
    if (m != NULL && !m->is_unreadable)
      mprof_symbolizers_ask_variables(m, addresses + first, end - first,
                                      pass_variable, &v);
  }
}

// --- functions that are left out ---

static void count_function(const struct mprof_frame *f, void *arg) {
  (void)f;
  ++*(unsigned *)arg;
}

// (Go: skip of runtime_expandFinalInlineFrame's callers)
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names) {
  struct mprof_skipped s = {.functions = b->skip};
  while (s.functions > 0 && s.frames < b->stack_len) {
    unsigned n = 0;
    if (has_names)
      mprof_symbolize(
          mprof_symbolize_shown(b->stack[s.frames], mprof_bucket_gone(b)),
          count_function, &n);
    if (n == 0)
      n = 1; // without names, a frame counts as one function
    if (n > s.functions)
      break;
    s.functions -= n;
    s.frames++;
  }
  return s;
}

// --- begin and end ---

void mprof_symbolize_turn_off(bool off) { state.is_off = off; }
bool mprof_symbolize_is_off(void) { return state.is_off; }

void mprof_symbolize_keep_helper(bool does) {
  state.keeps_helper = does;
  mprof_symbolizers_be_patient(does);
}

void mprof_symbolize_drop_helper(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && state.uses == 0);
  mprof_symbolizers_stop();
}

int mprof_symbolize_begin(bool names) {
  return mprof_symbolize_begin_with(names, NULL);
}

int mprof_symbolize_begin_with(bool names, const struct mprof_maps *maps) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  if (state.uses > 0) {
    state.uses++;
    return 0;
  }
  int error = maps != NULL ? mprof_maps_copy(&state.maps, maps)
                           : mprof_unloads_read(&state.maps);
  if (error != 0)
    return error;
  state.uses = 1;
  state.wants_names = names && !state.is_off;
  state.only_known = false;
  return 0;
}

void mprof_symbolize_end(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && state.uses > 0);
  if (--state.uses > 0)
    return;
  if (state.keeps_helper)
    mprof_symbolizers_rest();
  else
    mprof_symbolizers_stop();
  mprof_names_trim(mprof_unloads_unloads());
  mprof_maps_free(&state.maps);
}

void mprof_symbolize_forget(void) {
  mprof_symbolizers_forget();
  mprof_names_forget();
  mprof_maps_file_forget();
  memset(&state, 0, sizeof(state));
}
