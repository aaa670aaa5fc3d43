// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/kept_file.h"

#include "common/memory.h"
#include "symbolize/symbolizer_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct entry {
  uint64_t address;
  char *names;
  size_t size;
};

struct kept_file {
  char name[32], temporary[36];
  int directory; // descriptor
  char *header;  // says what the names are about
  size_t header_size, header_capacity;
  struct entry *entries; // not written yet
  size_t count, capacity;
};

uint64_t kept_file_stamp(const struct stat *st) {
  return mprof_kept_stamp((int64_t)st->st_ctim.tv_sec * 1000000000 +
                              st->st_ctim.tv_nsec,
                          (uint64_t)st->st_size, st->st_ino);
}

// --- directories ---

// Returns whether only the user can change the file or the directory.
static bool is_own(int fd, mode_t type, off_t *size) {
  struct stat st;
  if (fstat(fd, &st) != 0 || (st.st_mode & S_IFMT) != type ||
      st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
    return false;
  if (size)
    *size = st.st_size;
  return true;
}

// Opens a directory. Returns -1 if another user can change it.
static int open_own_directory(int at, const char *path, int flags) {
  const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
  if (fd < 0 || is_own(fd, S_IFDIR, NULL))
    return fd;
  close(fd);
  return -1;
}

// Makes the directory, but only in a directory of the user. Otherwise root, who
// may run with the HOME of another user, would leave this user a directory of
// root.
static void make_directory(const char *path) {
  char *above = strdup(path);
  char *slash = above ? strrchr(above, '/') : NULL;
  if (slash && access(path, F_OK) != 0) {
    const char *name = path + (slash + 1 - above);
    slash[1] = '\0';
    const int parent = open_own_directory(AT_FDCWD, above, 0);
    if (parent >= 0) {
      mkdirat(parent, name, 0700);
      close(parent);
    }
  }
  free(above);
}

// Opens the directory of the kept names, and makes it if needed.
static int open_directory(const char *path) {
  char *plain = strdup(path);
  size_t length = plain ? strlen(plain) : 0;
  while (length > 1 && plain[length - 1] == '/')
    plain[--length] = '\0';
  if (length)
    make_directory(plain);
  const int root = length ? open_own_directory(AT_FDCWD, plain, 0) : -1;
  free(plain);
  if (root < 0)
    return -1;
  mkdirat(root, "mprof", 0700);
  const int fd = open_own_directory(root, "mprof", O_NOFOLLOW);
  close(root);
  return fd;
}

// --- the header ---

static void put_header(struct kept_file *k, const void *bytes, size_t size) {
  k->header = grow(k->header, &k->header_capacity, k->header_size + size, 1);
  memcpy(k->header + k->header_size, bytes, size);
  k->header_size += size;
}

struct kept_file *kept_file_new(const char *directory, const char *module,
                                const char *build_id) {
  const int fd = open_directory(directory);
  if (fd < 0)
    return NULL;
  struct kept_file *k = zeroed(1, sizeof *k);
  k->directory = fd;
  snprintf(k->name, sizeof k->name, "names-%u", mprof_kept_number(module));
  snprintf(k->temporary, sizeof k->temporary, "%s.new", k->name);
  struct mprof_kept_header h = {.magic = MPROF_KEPT_MAGIC};
  snprintf(h.build_id, sizeof h.build_id, "%s", build_id);
  put_header(k, &h, sizeof h);
  return k;
}

void kept_file_source(struct kept_file *k, const char *path, uint64_t stamp) {
  struct mprof_kept_header h;
  put_header(k, &stamp, sizeof stamp);
  put_header(k, path, strlen(path) + 1);
  memcpy(&h, k->header, sizeof h);
  h.sources++;
  memcpy(k->header, &h, sizeof h);
}

// --- names ---

void kept_file_add(struct kept_file *k, uint64_t address, const char *names,
                   size_t size) {
  char *copy = zeroed(size, 1);
  memcpy(copy, names, size);
  *APPEND(k->entries, k->count, k->capacity) =
      (struct entry){address, copy, size};
}

static void drop_entries(struct kept_file *k) {
  for (size_t i = 0; i < k->count; i++)
    free(k->entries[i].names);
  k->count = 0;
}

void kept_file_free(struct kept_file *k) {
  if (!k)
    return;
  drop_entries(k);
  free(k->entries);
  free(k->header);
  close(k->directory);
  free(k);
}

// Adds the names in a file with this content, until they are damaged.
static void take_content(struct kept_file *k, const char *content,
                         size_t length) {
  uint64_t address;
  uint32_t size;
  if (length < k->header_size ||
      memcmp(content, k->header, k->header_size) != 0)
    return;
  size_t at = k->header_size;
  while (length - at >= sizeof address + sizeof size) {
    memcpy(&address, content + at, sizeof address);
    memcpy(&size, content + at + sizeof address, sizeof size);
    at += sizeof address + sizeof size;
    if (size > length - at || size >= MPROF_REPLY_SIZE ||
        !mprof_is_name_list(content + at, size))
      return;
    kept_file_add(k, address, content + at, size);
    at += size;
  }
}

// Adds the names that are in the file already.
static void load(struct kept_file *k) {
  const int fd = openat(k->directory, k->name,
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  off_t length = 0;
  if (fd < 0)
    return;
  if (is_own(fd, S_IFREG, &length) && length > 0 && length <= MPROF_KEPT_SIZE) {
    char *content = zeroed((size_t)length, 1);
    if (read(fd, content, (size_t)length) == length)
      take_content(k, content, (size_t)length);
    free(content);
  }
  close(fd);
}

static int compare(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

// Returns the content of the new file, which the caller frees.
static char *make_content(struct kept_file *k, size_t *size) {
  char *content = zeroed(MPROF_KEPT_SIZE, 1);
  size_t at = 0;
  if (k->header_size <= MPROF_KEPT_SIZE) {
    memcpy(content, k->header, k->header_size);
    at = k->header_size;
  }
  qsort(k->entries, k->count, sizeof *k->entries, compare);
  for (size_t i = 0; i < k->count && at > 0; i++) {
    const struct entry *e = &k->entries[i];
    const uint32_t length = (uint32_t)e->size;
    if ((i > 0 && e->address == e[-1].address) ||
        sizeof e->address + sizeof length + e->size > MPROF_KEPT_SIZE - at)
      continue;
    memcpy(content + at, &e->address, sizeof e->address);
    memcpy(content + at + sizeof e->address, &length, sizeof length);
    at += sizeof e->address + sizeof length;
    memcpy(content + at, e->names, e->size);
    at += e->size;
  }
  *size = at;
  return content;
}

// --- writing ---

static int create(const struct kept_file *k) {
  return openat(k->directory, k->temporary,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

// Returns whether a process was killed before it renamed its temporary file.
static bool is_left(const struct kept_file *k) {
  enum { SECONDS = 60 };
  struct stat st;
  return fstatat(k->directory, k->temporary, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         st.st_mtim.tv_sec + SECONDS < time(NULL);
}

void kept_file_save(struct kept_file *k) {
  if (!k || k->count == 0)
    return;
  int fd = create(k);
  if (fd < 0 && errno == EEXIST && is_left(k)) {
    unlinkat(k->directory, k->temporary, 0);
    fd = create(k);
  }
  if (fd < 0)
    return; // perhaps another process is writing
  load(k);
  size_t size;
  char *content = make_content(k, &size);
  const bool is_written = write(fd, content, size) == (ssize_t)size;
  free(content);
  close(fd);
  if (!is_written ||
      renameat(k->directory, k->temporary, k->directory, k->name) != 0)
    unlinkat(k->directory, k->temporary, 0);
  drop_entries(k);
}
