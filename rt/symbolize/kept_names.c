// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads kept names; see kept_names.h. A file is read as a whole, because the
// memory of a mapped file could vanish. The content is checked like that of any
// other file.

#include "symbolize/kept_names.h"

#include "file/path.h"
#include "symbolize/kept_format.h"
#include "sys/os_linux.h"
#include "sys/os_linux_cold.h"

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

// Takes the next source, and returns whether it has not changed.
static bool take_source(struct reader *r, const struct mprof_mapping *module) {
  int64_t ns;
  const char *path;
  if (!take(r, &ns, sizeof(ns)) || (path = take_string(r)) == NULL ||
      mprof_sys_changed_ns(path) != ns)
    return false;
  // Without a build ID, the file must be older than its mapping.
  return module == NULL ||
         (strcmp(path, module->file) == 0 &&
          (module->build_id[0] != '\0' || ns < module->noted_ns));
}

// Takes the header and the sources. Returns whether the names are about the
// module m.
static bool take_header(struct reader *r, const struct mprof_mapping *m) {
  struct mprof_kept_header h;
  if (!take(r, &h, sizeof(h)) || h.sources == 0 ||
      strncmp(h.magic, MPROF_KEPT_MAGIC, sizeof(h.magic)) != 0 ||
      strncmp(h.build_id, m->build_id, sizeof(h.build_id)) != 0)
    return false;
  for (uint32_t i = 0; i < h.sources; i++)
    if (!take_source(r, i == 0 ? m : NULL))
      return false;
  return true;
}

static bool is_one_of(mprof_pc wanted, const mprof_pc *pc, size_t n) {
  while (n > 0 && pc[n / 2] != wanted) {
    if (pc[n / 2] < wanted) {
      pc += n / 2 + 1;
      n -= n / 2 + 1;
    } else {
      n /= 2;
    }
  }
  return n > 0;
}

static void take_names(struct reader *r, const struct mprof_mapping *m,
                       const mprof_pc *pc, size_t n, mprof_names_fn *fn,
                       void *arg) {
  uint64_t address;
  uint32_t size;
  while (take(r, &address, sizeof(address)) && take(r, &size, sizeof(size)) &&
         size > 0 && size <= left(r)) {
    const char *frames = r->at;
    r->at += size;
    // An empty string ends the frames.
    if (r->at[-1] != '\0' || (size > 1 && r->at[-2] != '\0'))
      return;
    const mprof_pc of = address + m->bias + 1;
    if (is_one_of(of, pc, n))
      fn(of, frames, arg);
  }
}

// Returns the number of bytes read, or 0.
static size_t read_file(const char *path, char *buf, size_t size) {
  const long fd =
      mprof_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0)
    return 0;
  const long n =
      mprof_os_is_protected(path) ? mprof_sys_read((int)fd, buf, size) : 0;
  mprof_sys_close((int)fd);
  return n < 0 ? 0 : (size_t)n;
}

void mprof_kept_names_read(const char *directory, const struct mprof_mapping *m,
                           const mprof_pc *pc, size_t n, mprof_names_fn *fn,
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
  if (take_header(&r, m))
    take_names(&r, m, pc, n, fn, arg);
  mprof_os_unmap(buf, MPROF_KEPT_SIZE);
}
