// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the allocators that have an interface for it; see owners.h.

#include "memory/owners.h"

#include <string.h>

// The interfaces of jemalloc and of gperftools' tcmalloc.
#pragma weak mallctl
#pragma weak MallocExtension_GetNumericProperty
extern int mallctl(const char *name, void *old, size_t *old_len, void *new,
                   size_t new_len);
extern int MallocExtension_GetNumericProperty(const char *name, size_t *value);

bool mprof_other_malloc_is(const char *name) {
  static const char *const prefixes[] = {"libjemalloc", "libtcmalloc",
                                         "libmimalloc", "libsnmalloc",
                                         "libscudo",    "libhoard"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

static size_t ask(const char *name) {
  size_t value = 0, len = sizeof(value);
  return mallctl(name, &value, &len, NULL, 0) == 0 ? value : 0;
}

static bool ask_jemalloc(struct mprof_other_malloc *m) {
  uint64_t epoch = 1;
  // A new epoch makes jemalloc count anew.
  if (!mallctl || mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) != 0)
    return false;
  const size_t used = ask("stats.allocated"), active = ask("stats.active");
  if (used == 0 || active < used) // jemalloc was built without statistics
    return false;
  // 4096 stands for all arenas (MALLCTL_ARENAS_ALL).
  const size_t dirty_pages = ask("stats.arenas.4096.pdirty");
  m->name = "jemalloc";
  m->bytes[MPROF_HEAP_USED] = used;
  m->bytes[MPROF_HEAP_LISTED] =
      active - used + dirty_pages * ask("arenas.page");
  m->bytes[MPROF_HEAP_OWN] = MPROF_OTHER_MALLOC_REST;
  return true;
}

static size_t property(const char *name) {
  size_t value = 0;
  MallocExtension_GetNumericProperty(name, &value);
  return value;
}

static bool ask_gperftools(struct mprof_other_malloc *m) {
  if (!MallocExtension_GetNumericProperty)
    return false;
  m->name = "tcmalloc";
  m->bytes[MPROF_HEAP_USED] = property("generic.current_allocated_bytes");
  m->bytes[MPROF_HEAP_CACHED] =
      property("tcmalloc.current_total_thread_cache_bytes") +
      property("tcmalloc.central_cache_free_bytes") +
      property("tcmalloc.transfer_cache_free_bytes");
  m->bytes[MPROF_HEAP_LISTED] = property("tcmalloc.pageheap_free_bytes");
  m->bytes[MPROF_HEAP_OWN] = MPROF_OTHER_MALLOC_REST;
  return true;
}

struct mprof_other_malloc mprof_other_malloc_ask(void) {
  struct mprof_other_malloc m = {0};
  if (!ask_jemalloc(&m))
    ask_gperftools(&m);
  return m;
}

static const struct mprof_other_malloc *answer; // guarded by writer_lock

void mprof_other_malloc_answer(const struct mprof_other_malloc *said) {
  answer = said;
}

struct mprof_other_malloc mprof_other_malloc_said(void) {
  return answer ? *answer : mprof_other_malloc_ask();
}
