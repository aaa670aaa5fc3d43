// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sentences, by part and by allocator or language; see memory_advice.h.

#include "view/memory_advice.h"
#include "terminal/quantity.h"

#include <string.h>

// Smallest part of the total, in percent, about which a sentence is printed.
enum { LARGE = 20 };

static bool is_large(const struct memory_parts *m, int64_t rss) {
  return rss > m->total.rss / 100 * LARGE;
}

// --- free memory of allocators ---

static const struct allocator {
  const char *in_name; // of a row; NULL: glibc's malloc, which comes last
  const char *advice;
} allocators[] = {
    {"jemalloc",
     "jemalloc keeps %s free: "
     "MALLOC_CONF=background_thread:true,dirty_decay_ms:1000 in the "
     "environment gives pages back sooner"},
    {"tcmalloc", "tcmalloc keeps %s free: "
                 "MallocExtension_ReleaseFreeMemory() gives whole pages back, "
                 "and TCMALLOC_RELEASE_RATE=10 in the environment does it "
                 "sooner"},
    {"mimalloc", "mimalloc keeps %s free: mi_collect(true) gives pages back"},
    {NULL, "malloc keeps %s free; blocks in use keep the pages that it cannot "
           "give back"},
};
enum { ALLOCATORS = sizeof allocators / sizeof allocators[0] };

static size_t allocator_of(const char *name) {
  size_t i = 0;
  while (allocators[i].in_name && !strstr(name, allocators[i].in_name))
    i++;
  return i;
}

// Returns whether malloc has other arenas than the main one.
static bool has_arenas(const struct memory_parts *m) {
  const struct memory_part *listed = memory_part_find(m, MPROF_MEMORY_LISTED);
  for (size_t i = 0; listed && i < listed->row_count; i++)
    if (strncmp(listed->rows[i].name, "arena ", 6) == 0)
      return true;
  return false;
}

static void advise_on_free_memory(const struct memory_parts *m, FILE *out) {
  static const enum mprof_memory_part parts[] = {
      MPROF_MEMORY_LISTED, MPROF_MEMORY_CACHED, MPROF_MEMORY_TOP};
  int64_t kept[ALLOCATORS] = {0};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const struct memory_part *part = memory_part_find(m, parts[i]);
    for (size_t k = 0; part && k < part->row_count; k++)
      kept[allocator_of(part->rows[k].name)] += part->rows[k].usage.rss;
  }
  for (size_t i = 0; i < ALLOCATORS; i++)
    if (is_large(m, kept[i])) {
      fprintf(out, allocators[i].advice, quantity_of(kept[i], "bytes").text);
      fputc('\n', out);
    }
  // At a small rate, the profile also has the blocks that keep the pages.
  const struct memory_part *listed = memory_part_find(m, MPROF_MEMORY_LISTED);
  if (is_large(m, kept[ALLOCATORS - 1]) && listed &&
      listed->usage.used_beside == 0 && memory_part_find(m, MPROF_MEMORY_MPROF))
    fputs("MProf may be a cause, because it places sampled blocks on page "
          "boundaries: --heap-rate=16k does not\n",
          out);
  if (is_large(m, kept[ALLOCATORS - 1]) && has_arenas(m))
    fputs("MALLOC_ARENA_MAX=2 in the environment keeps fewer arenas\n", out);
  const struct memory_part *top = memory_part_find(m, MPROF_MEMORY_TOP);
  if (top && is_large(m, top->usage.rss))
    fputs("the free end of a heap goes back when it exceeds "
          "MALLOC_TRIM_THRESHOLD_ (bytes)\n",
          out);
}

// --- memory of unknown origin ---

// Languages whose memory does not come from malloc.
static const struct language {
  const char *module; // a part of its name
  const char *advice;
} languages[] = {
    {"python",
     "Python has its own arenas: PYTHONMALLOC=malloc in the "
     "environment makes it allocate by malloc, which the heap profile "
     "shows"},
    {"libjvm", "Java has its own heap: the option -Xmx limits it, and jcmd PID "
               "GC.class_histogram shows what is in it"},
    {"node",
     "JavaScript has its own heap: node --max-old-space-size=MIB limits "
     "it, and node --heap-prof shows what is in it"},
};

static bool has_module(const struct memory_parts *m, const char *name) {
  const struct memory_part *code = memory_part_find(m, MPROF_MEMORY_CODE);
  for (size_t i = 0; code && i < code->row_count; i++)
    if (strstr(code->rows[i].name, name))
      return true;
  return false;
}

static void advise_on_unknown_memory(const struct memory_parts *m, FILE *out) {
  const struct memory_part *unknown = memory_part_find(m, MPROF_MEMORY_UNKNOWN),
                           *mapped = memory_part_find(m, MPROF_MEMORY_MAPPED);
  const int64_t rss =
      (unknown ? unknown->usage.rss : 0) + (mapped ? mapped->usage.rss : 0);
  for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
    if (is_large(m, rss) && has_module(m, languages[i].module)) {
      fprintf(out, "%s\n", languages[i].advice);
      return;
    }
}

void memory_advise(const struct memory_parts *m, FILE *out) {
  advise_on_free_memory(m, out);
  advise_on_unknown_memory(m, out);
}
