// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a symbol in the tables to which a module's dynamic section leads; see
// modules.h. The table of hashes (DT_GNU_HASH) has a header, a bloom filter,
// the first symbol of each bucket, and the hashes of the symbols from `first`
// on. The lowest bit of a hash ends its bucket.

#include "process/modules.h"

#include <link.h>
#include <string.h>

struct tables {
  const struct mprof_symbol_source *from;
  uintptr_t symbols, names, hashes;
};

// Inlined, so that a copy in the own memory is a load: most calls are at the
// start of the process.
__attribute__((always_inline)) static inline bool
get(const struct tables *t, void *to, uintptr_t at, size_t size) {
  if (t->from->copy != NULL)
    return t->from->copy(t->from->arg, to, at, size);
  memcpy(to, (const void *)at, size);
  return true;
}

// Reads entry i of the dynamic section. Returns false after the last one.
static bool read_entry(const struct tables *t, uintptr_t i, ElfW(Dyn) * d) {
  enum { ENTRIES_MAX = 256 };
  return i < ENTRIES_MAX &&
         get(t, d, t->from->dynamic + i * sizeof(*d), sizeof(*d)) &&
         d->d_tag != DT_NULL;
}

// Returns whether there are all tables. Stops at the last one, because searches
// at the start of each program go through all modules.
static bool find_tables(struct tables *t) {
  ElfW(Dyn) d;
  for (uintptr_t i = 0; read_entry(t, i, &d); i++) {
    uintptr_t *const table = d.d_tag == DT_SYMTAB     ? &t->symbols
                             : d.d_tag == DT_STRTAB   ? &t->names
                             : d.d_tag == DT_GNU_HASH ? &t->hashes
                                                      : NULL;
    if (table == NULL)
      continue;
    *table = mprof_dynamic_address(t->from->base, d.d_un.d_ptr);
    if (t->symbols != 0 && t->names != 0 && t->hashes != 0)
      return true;
  }
  return false;
}

// Returns the table of the versions of symbols, or 0.
static uintptr_t find_versions(const struct tables *t) {
  ElfW(Dyn) d;
  for (uintptr_t i = 0; read_entry(t, i, &d); i++)
    if (d.d_tag == DT_VERSYM)
      return mprof_dynamic_address(t->from->base, d.d_un.d_ptr);
  return 0;
}

static bool is_name(const struct tables *t, uintptr_t at, const char *name) {
  char c;
  do
    if (!get(t, &c, at++, 1) || c != *name)
      return false;
  while (*name++ != '\0');
  return true;
}

// Returns the value of symbol i if it is the definition of the default version
// of the name. Otherwise returns 0.
static uintptr_t value_of(const struct tables *t, uint32_t i,
                          const char *name) {
  enum { HIDDEN = 0x8000 }; // an older version
  ElfW(Sym) s;
  ElfW(Half) version = 0;
  const uintptr_t versions = find_versions(t);
  return get(t, &s, t->symbols + i * sizeof(s), sizeof(s)) &&
                 s.st_shndx != SHN_UNDEF &&
                 ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC &&
                 (versions == 0 ||
                  get(t, &version, versions + i * sizeof(version),
                      sizeof(version))) &&
                 !(version & HIDDEN) && is_name(t, t->names + s.st_name, name)
             ? s.st_value
             : 0;
}

static uint32_t hash_of(const char *name) {
  uint32_t hash = 5381;
  for (const char *p = name; *p != '\0'; p++)
    hash = hash * 33 + (unsigned char)*p;
  return hash;
}

uintptr_t mprof_symbol_find(const struct mprof_symbol_source *from,
                            const char *name) {
  enum { CHAIN_MAX = 1000 };
  struct tables t = {.from = from};
  struct {
    uint32_t buckets, first, bloom_words, shift;
  } head;
  const uint32_t hash = hash_of(name);
  uint32_t i, found = 0;
  if (!find_tables(&t) || !get(&t, &head, t.hashes, sizeof(head)) ||
      head.buckets == 0)
    return 0;
  const uintptr_t buckets =
      t.hashes + sizeof(head) + head.bloom_words * sizeof(ElfW(Addr));
  const uintptr_t chains = buckets + head.buckets * sizeof(uint32_t);
  if (!get(&t, &i, buckets + hash % head.buckets * sizeof(i), sizeof(i)))
    return 0;
  for (int n = 0; n < CHAIN_MAX && i >= head.first && !(found & 1); n++, i++) {
    if (!get(&t, &found, chains + (i - head.first) * sizeof(found),
             sizeof(found)))
      return 0;
    const uintptr_t value =
        (found | 1) == (hash | 1) ? value_of(&t, i, name) : 0;
    if (value != 0)
      return from->base + value;
  }
  return 0;
}
