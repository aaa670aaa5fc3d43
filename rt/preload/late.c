// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Redirects the calls of all modules to MProf and back, for a library that was
// loaded by dlopen; see preload.h.
//
// A reference is changed only if it is bound to the function that MProf's
// definition calls, or not bound yet. So a module with an allocator of its own
// keeps it. Threads that run in MProf's functions when the references change
// back return from them later; the library is never unloaded.

#include "preload/preload.h"

#include "entry/entry.h"
#include "heap/beneath.h"
#include "process/modules.h"

#include <errno.h>
#include <link.h>
#include <string.h>

// --- how the library was loaded ---

extern const char __ehdr_start[] MPROF_HIDDEN; // where the library begins

struct order {
  bool is_libc_seen, is_late;
};

static bool is_this_library(const struct dl_phdr_info *info) {
  return mprof_module_contains(info, (uintptr_t)__ehdr_start);
}

// The loader's list has the program's libraries in the order in which they are
// searched. A library that comes after libc cannot replace libc's functions.
static int look(struct dl_phdr_info *info, size_t size, void *arg) {
  struct order *o = arg;
  (void)size;
  if (is_this_library(info)) {
    o->is_late = o->is_libc_seen;
    return 1;
  }
  o->is_libc_seen |= mprof_module_contains(info, (uintptr_t)&dl_iterate_phdr);
  return 0;
}

bool mprof_init_is_late(void) {
  static bool has_looked; // the first call is by a constructor
  struct order o = {false, false};
  if (!has_looked)
    dl_iterate_phdr(look, &o);
  has_looked = true;
  if (o.is_late)
    mprof_next_late = mprof_late_find;
  return mprof_next_late != NULL;
}

void *mprof_late_find(const char *name) {
  return (void *)mprof_module_symbol(name, __ehdr_start);
}

// --- references ---

enum { MOST = 512 };

// The pairs of a definition beneath MProf and of MProf's own. Written by the
// first call of mprof_late_set.
static struct {
  struct mprof_replacement v[MOST];
  size_t count;
} pairs;

static void collect(void) {
  pairs.count = 0;
  for (const struct mprof_intercept *i = mprof_intercept_c; i->name; i++)
    if (i->own && *i->word)
      pairs.v[pairs.count++] = (struct mprof_replacement){
          i->name, i->next ? *i->next : mprof_late_find(i->name), i->own};
  pairs.count += mprof_load_more(pairs.v + pairs.count, MOST - pairs.count);
}

static void *own_of(const struct mprof_reference *r, void *unused) {
  (void)unused;
  for (size_t i = 0; i < pairs.count; i++)
    if (r->is_bound ? r->now == pairs.v[i].beneath && r->now
                    : strcmp(r->name, pairs.v[i].name) == 0)
      return pairs.v[i].own;
  return NULL;
}

static void *beneath_of(const struct mprof_reference *r, void *unused) {
  (void)unused;
  for (size_t i = 0; r->is_bound && i < pairs.count; i++)
    if (r->now == pairs.v[i].own)
      return pairs.v[i].beneath;
  return NULL;
}

// Whether the references shall lead to MProf. Read under the loader's lock, so
// that the last change of the references is by the last value.
static atomic_bool is_on;

static int change(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!is_this_library(info))
    mprof_relocations_replace(info, atomic_load(&is_on) ? own_of : beneath_of,
                              NULL);
  return 0;
}

static void change_all(void) { dl_iterate_phdr(change, NULL); }

void mprof_late_set(bool turns_on) {
  const int before = errno;
  if (pairs.count == 0)
    collect();
  atomic_store(&is_on, turns_on);
  mprof_load_after = change_all;
  change_all();
  errno = before;
}
