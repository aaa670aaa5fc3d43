// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the names of return addresses; see names.h. Each function name and each
// file name is stored once, because thousands of addresses share them.

#include "symbolize/names.h"

#include "symbolize/pctable.h"
#include "symbolize/short_name.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/os_memory.h"
#include "sys/stats.h"
#include "sys/text.h"

#include <string.h>

// LIMIT: bytes of names that are kept for the next profile. The names of 20,000
//   addresses of a large C++ program take about 10 MB.
// The first chunk of memory has CHUNK_MIN bytes, and each further chunk twice
// as many, up to CHUNK_MAX.
enum { LIMIT = 32 << 20, CHUNK_MIN = 1 << 17, CHUNK_MAX = 1 << 22 };

// A piece of memory for names. Each chunk links to the chunk allocated before
// it.
struct chunk {
  struct chunk *next;
  size_t size, used;
};

static struct {
  struct chunk *chunks;
  size_t bytes;                    // total size of the chunks
  struct mprof_pc_table addresses; // address -> struct mprof_names
  struct mprof_pc_table strings;   // hash of a string -> the string
  uint32_t unloads; // number of unloads at the last mprof_names_trim
} state;            // guarded by writer_lock

// --- memory ---

static bool add_chunk(size_t len) {
  size_t size = state.chunks == NULL ? CHUNK_MIN : 2 * state.chunks->size;
  if (size > CHUNK_MAX)
    size = CHUNK_MAX;
  if (len > size - sizeof(struct chunk))
    return false;
  struct chunk *c = mprof_os_map(size);
  if (c == NULL)
    return false;
  mprof_os_keep_from_children(c, size);
  *c = (struct chunk){.next = state.chunks, .size = size, .used = sizeof(*c)};
  state.chunks = c;
  state.bytes += size;
  return true;
}

// Returns memory for len bytes, aligned for pointers, or NULL.
static void *take(size_t len) {
  len = (len + 7) & ~(size_t)7;
  const struct chunk *last = state.chunks;
  if ((last == NULL || len > last->size - last->used) && !add_chunk(len))
    return NULL;
  char *p = (char *)state.chunks + state.chunks->used;
  state.chunks->used += len;
  return p;
}

static void drop_all(void) {
  while (state.chunks != NULL) {
    struct chunk *next = state.chunks->next;
    mprof_os_unmap(state.chunks, state.chunks->size);
    state.chunks = next;
  }
  mprof_pc_table_free(&state.addresses);
  mprof_pc_table_free(&state.strings);
  state.bytes = 0;
}

// --- strings ---

// Returns the stored copy of the `len` bytes at s. Stores the copy if there is
// none yet. Returns "" if there is no memory.
// Different strings of a process practically never have the same 64-bit hash.
// If two strings have the same hash, only the string that was used last is
// found. The other string is stored again at its next use.
static const char *intern(const char *s, size_t len) {
  if (len == 0)
    return "";
  uint64_t h = mprof_hash(MPROF_HASH_EMPTY, s, len);
  struct mprof_pc_slot *slot =
      mprof_pc_table_get(&state.strings, h == 0 ? 1 : h);
  if (slot == NULL)
    return "";
  const char *kept = (const char *)(uintptr_t)slot->value;
  if (kept != NULL && strncmp(kept, s, len) == 0 && kept[len] == '\0')
    return kept;
  char *copy = take(len + 1);
  if (copy == NULL)
    return "";
  memcpy(copy, s, len); // the memory is zeroed
  slot->value = (uintptr_t)copy;
  return copy;
}

// Interns the name of a function as in the source text.
static const char *intern_function(const char *s, size_t len) {
  char plain[1024];
  len = mprof_name_length(s, len);
  const size_t n = len < sizeof(plain) ? mprof_rust_name(plain, s, len) : 0;
  return n > 0 ? intern(plain, n) : intern(s, len);
}

// Interns the field at *p and moves *p behind the separator.
static const char *take_field(const char **p, bool is_function) {
  const char *s = *p, *end = strchr(s, MPROF_FRAME_SEPARATOR);
  size_t len = end == NULL ? strlen(s) : (size_t)(end - s);
  *p += len + (end != NULL);
  return is_function ? intern_function(s, len) : intern(s, len);
}

static uint32_t take_number(const char **p) {
  uint32_t v = 0;
  for (; **p >= '0' && **p <= '9'; ++*p)
    v = v * 10 + (uint32_t)(**p - '0');
  *p += **p == MPROF_FRAME_SEPARATOR;
  return v;
}

// --- addresses ---

const struct mprof_names *mprof_names_find(mprof_pc pc, uint64_t module) {
  struct mprof_pc_slot *s = mprof_pc_table_get(&state.addresses, pc);
  const struct mprof_names *n =
      s == NULL ? NULL : (const struct mprof_names *)(uintptr_t)s->value;
  return n != NULL && n->module == module ? n : NULL;
}

static size_t count_frames(const char *reply) {
  size_t n = 0;
  for (; *reply != '\0'; reply += strlen(reply) + 1)
    n++;
  return n;
}

const struct mprof_names *mprof_names_keep(mprof_pc pc, uint64_t module,
                                           const char *reply) {
  const size_t frames = count_frames(reply);
  struct mprof_pc_slot *s = mprof_pc_table_get(&state.addresses, pc);
  struct mprof_names *n =
      s == NULL ? NULL : take(sizeof(*n) + frames * sizeof(n->v[0]));
  if (n == NULL)
    return NULL;
  n->module = module;
  n->len = 0;
  for (size_t i = 0; i < frames; i++, reply += strlen(reply) + 1) {
    const char *p = reply;
    struct mprof_name *f = &n->v[n->len];
    f->function = take_field(&p, true);
    f->file = take_field(&p, false);
    f->line = take_number(&p);
    f->start_line = take_number(&p);
    if (f->function[0] != '\0')
      n->len++;
    if (strstr(f->function, MPROF_CUT_MARK) != NULL ||
        strstr(f->file, MPROF_CUT_MARK) != NULL)
      mprof_stat_add(MPROF_STAT_names_cut, 1);
  }
  s->value = (uintptr_t)n;
  return n;
}

void mprof_names_trim(uint32_t unloads) {
  const size_t limit = unloads != state.unloads ? LIMIT / 2 : LIMIT;
  state.unloads = unloads;
  if (mprof_names_bytes() > limit)
    drop_all();
}

size_t mprof_names_bytes(void) {
  return state.bytes + (state.addresses.count + state.strings.count) *
                           sizeof(struct mprof_pc_slot);
}

void mprof_names_forget(void) { memset(&state, 0, sizeof(state)); }
