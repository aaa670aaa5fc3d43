// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads kept names; see kept_names.h. A file is read as a whole, because the
// memory of a mapped file could vanish. No content of the file makes the reader
// read past its end; damaged content ends the names.

#include "symbolize/kept_names.h"

#include "file/path.h"
#include "symbolize/kept_format.h"
#include "symbolize/name_list.h"
#include "sys/os_file.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct reader {
  const char *at, *end;
};

static size_t left(const struct reader *r) { return (size_t)(r->end - r->at); }

static bool take(struct reader *r, void *out, size_t size) {
  if (left(r) < size)
    return false;
  memcpy(out, r->at, size);
  r->at += size;
  return true;
}

// Returns the string at the reader, or NULL if it has no end.
static const char *take_string(struct reader *r) {
  const char *s = r->at, *end = memchr(s, '\0', left(r));
  if (end == NULL)
    return NULL;
  r->at = end + 1;
  return s;
}

// Takes the next source. Returns whether it has not changed. path: what its
// path must be, or NULL.
static bool take_source(struct reader *r, const char *path,
                        struct mprof_file_state *s) {
  uint64_t stamp;
  if (!take(r, &stamp, sizeof(stamp)))
    return false;
  const char *of = take_string(r);
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
static bool take_header(struct reader *r, const char *program,
                        const struct mprof_mapping *m) {
  struct mprof_kept_header h;
  struct mprof_file_state module = {.changed_ns = INT64_MAX}, s;
  if (!take(r, &h, sizeof(h)) ||
      strncmp(h.magic, MPROF_KEPT_MAGIC, sizeof(h.magic)) != 0 ||
      strncmp(h.build_id, m->build_id, sizeof(h.build_id)) != 0 ||
      !take_source(r, m->file, &module) || !take_source(r, program, &s))
    return false;
  for (uint32_t i = 2; i < h.sources; i++)
    if (!take_source(r, NULL, &s))
      return false;
  // Without a build ID, the file must be older than its mapping.
  return m->build_id[0] != '\0' || module.changed_ns < m->noted_ns;
}

static void take_names(struct reader *r, const struct mprof_mapping *m,
                       mprof_names_fn *fn, void *arg) {
  uint64_t address;
  uint32_t size;
  while (take(r, &address, sizeof(address)) && take(r, &size, sizeof(size)) &&
         size <= left(r) && mprof_is_name_list(r->at, size)) {
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
  if (take_header(&r, program, m))
    take_names(&r, m, fn, arg);
  mprof_os_unmap(buf, MPROF_KEPT_SIZE);
}
