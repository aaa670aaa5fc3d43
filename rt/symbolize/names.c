// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the names of return addresses, and reads those that mprof has kept for
// an earlier process; see names.h. Each function name and each file name is
// stored once, because thousands of addresses share them.

#include "symbolize/names.h"

#include "file/outfile.h"
#include "symbolize/short_name.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "sys/stats.h"

#include <errno.h>
#include <fcntl.h>
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

// --- names that mprof has kept ---
//
// A file is read as a whole, because the memory of a mapped file could vanish.
// No content of the file makes the reader read past its end; damaged content
// ends the names.

struct reader {
  const char *at, *end;
};

static size_t left(const struct reader *r) { return (size_t)(r->end - r->at); }

static bool read_bytes(struct reader *r, void *out, size_t size) {
  if (left(r) < size)
    return false;
  memcpy(out, r->at, size);
  r->at += size;
  return true;
}

// Returns the string at the reader, or NULL if it has no end.
static const char *read_string(struct reader *r) {
  const char *s = r->at, *end = memchr(s, '\0', left(r));
  if (end == NULL)
    return NULL;
  r->at = end + 1;
  return s;
}

// Takes the next source. Returns whether it has not changed. path: what its
// path must be, or NULL.
static bool read_source(struct reader *r, const char *path,
                        struct mprof_file_state *s) {
  uint64_t stamp;
  if (!read_bytes(r, &stamp, sizeof(stamp)))
    return false;
  const char *of = read_string(r);
  if (of == NULL || (path != NULL && strcmp(path, of) != 0))
    return false;
  const long error = mprof_sys_file_state(of, s);
  if (stamp == MPROF_KEPT_ABSENT)
    return error == -ENOENT || error == -ENOTDIR;
  return error == 0 &&
         stamp == mprof_kept_stamp(s->changed_ns, s->size, s->inode);
}

// Takes the header and the sources. Returns whether the names are about the
// module that m maps.
static bool read_header(struct reader *r, const char *program,
                        const struct mprof_mapping *m) {
  struct mprof_kept_header h;
  struct mprof_file_state module = {.changed_ns = INT64_MAX}, s;
  if (!read_bytes(r, &h, sizeof(h)) ||
      strncmp(h.magic, MPROF_KEPT_MAGIC, sizeof(h.magic)) != 0 ||
      strncmp(h.build_id, m->build_id, sizeof(h.build_id)) != 0 ||
      !read_source(r, m->file, &module) || !read_source(r, program, &s))
    return false;
  for (uint32_t i = 2; i < h.sources; i++)
    if (!read_source(r, NULL, &s))
      return false;
  // Without a build ID, the file must be older than its mapping.
  return m->build_id[0] != '\0' || module.changed_ns < m->noted_ns;
}

static void read_names(struct reader *r, const struct mprof_mapping *m,
                       mprof_names_fn *fn, void *arg) {
  uint64_t address;
  uint32_t size;
  while (read_bytes(r, &address, sizeof(address)) &&
         read_bytes(r, &size, sizeof(size)) && size <= left(r) &&
         mprof_is_name_list(r->at, size)) {
    // The module may have other mappings.
    const uintptr_t at = address + m->bias;
    if (at >= m->start && at < m->limit)
      fn(at + 1, r->at, arg);
    r->at += size;
  }
}

// Returns the number of bytes read, or 0.
static size_t read_file(const char *path, char *buf, size_t size) {
  const long fd =
      mprof_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0)
    return 0;
  const long n = mprof_os_is_regular((int)fd) && mprof_os_is_protected((int)fd)
                     ? mprof_sys_read((int)fd, buf, size)
                     : 0;
  mprof_sys_close((int)fd);
  return n < 0 ? 0 : (size_t)n;
}

void mprof_kept_names_read(const char *directory, const char *program,
                           const struct mprof_mapping *m, mprof_names_fn *fn,
                           void *arg) {
  char path[MPROF_PATH_MAX];
  struct mprof_text t = MPROF_TEXT(path);
  mprof_text_str(&t, directory);
  mprof_text_str(&t, "/mprof/names-");
  mprof_text_dec(&t, mprof_kept_number(m->file));
  char *buf = t.len < sizeof(path) - 1 ? mprof_os_map(MPROF_KEPT_SIZE) : NULL;
  if (buf == NULL)
    return;
  struct reader r = {buf, buf + read_file(path, buf, MPROF_KEPT_SIZE)};
  if (read_header(&r, program, m))
    read_names(&r, m, fn, arg);
  mprof_os_unmap(buf, MPROF_KEPT_SIZE);
}
