// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/archive.h"

#include "common/memory.h"
#include "files/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// Each member has a header of one block, and is filled up to a whole block.
enum { BLOCK = 512 };

// The header of a member. (POSIX: ustar)
struct header {
  char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type,
      link[100], magic[6], version[2], user[32], group[32], major[8], minor[8],
      prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

struct member {
  char name[101];
  struct bytes content;
};

struct archive {
  struct bytes bytes;
  struct member *members;
  size_t count, capacity;
  struct archive *next; // or NULL
};

// The sum of the bytes of the header, with spaces in place of the sum itself.
static unsigned sum_of(const struct header *h) {
  struct header copy = *h;
  memset(copy.sum, ' ', sizeof copy.sum);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof copy; i++)
    sum += ((const unsigned char *)&copy)[i];
  return sum;
}

// --- reading ---

// Returns an octal number. Other characters end it.
static uint64_t octal(const char *text, size_t length) {
  uint64_t value = 0;
  size_t i = 0;
  while (i < length && text[i] == ' ')
    i++;
  for (; i < length && text[i] >= '0' && text[i] <= '7'; i++)
    value = value << 3 | (uint64_t)(text[i] - '0');
  return value;
}

static bool is_header(const struct bytes *b, size_t at, struct header *h) {
  if (b->length < BLOCK || at > b->length - BLOCK)
    return false;
  memcpy(h, b->at + at, BLOCK);
  return memcmp(h->magic, "ustar", 5) == 0 &&
         octal(h->sum, sizeof h->sum) == sum_of(h);
}

bool archive_is(const struct bytes *bytes) {
  struct header h;
  return is_header(bytes, 0, &h);
}

struct archive *archive_read(struct bytes *bytes) {
  struct archive *a = zeroed(1, sizeof *a);
  a->bytes = *bytes;
  *bytes = (struct bytes){0};
  struct header h;
  for (size_t at = 0; is_header(&a->bytes, at, &h);) {
    const uint64_t size = octal(h.size, sizeof h.size);
    at += BLOCK;
    if (size > a->bytes.length - at)
      break;
    if (h.type == '0' || h.type == '\0') { // a regular file
      struct member *m = APPEND(a->members, a->count, a->capacity);
      *m = (struct member){.content = {a->bytes.at + at, size, false}};
      memcpy(m->name, h.name, sizeof h.name);
    }
    at += (size + BLOCK - 1) / BLOCK * BLOCK;
  }
  return a;
}

void archive_free(struct archive *a) {
  if (!a)
    return;
  free(a->bytes.at);
  free(a->members);
  free(a);
}

struct archive *archive_join(struct archive *a, struct archive *next) {
  a->next = next;
  return a;
}

void archive_each(const struct archive *a, const char *prefix,
                  void (*found)(void *arg, const char *name,
                                const struct bytes *content),
                  void *arg) {
  for (size_t i = 0; i < a->count; i++)
    if (strncmp(a->members[i].name, prefix, strlen(prefix)) == 0)
      found(arg, a->members[i].name, &a->members[i].content);
}

static const struct member *find_member(const struct archive *a,
                                        const char *name) {
  for (; a; a = a->next)
    for (size_t i = 0; i < a->count; i++)
      if (strcmp(a->members[i].name, name) == 0)
        return &a->members[i];
  return NULL;
}

int archive_fd(const struct archive *a, const char *name) {
  const struct member *m = find_member(a, name);
  if (!m)
    return -1;
  struct new_file file = {.fd = memfd_create("mprof", MFD_CLOEXEC)};
  if (file.fd >= 0 &&
      new_file_put(&file, m->content.at, m->content.length) != NULL) {
    close(file.fd);
    return -1;
  }
  return file.fd;
}

// --- writing ---

struct archive_writer {
  struct new_file file;
  gzFile zip;
  char **names; // of the members
  size_t count, capacity;
};

struct archive_writer *archive_begin(const char *path, const char **error) {
  struct archive_writer *w = zeroed(1, sizeof *w);
  *error = new_file_begin(&w->file, path);
  if (!*error) {
    // zlib closes its descriptor.
    const int fd = fcntl(w->file.fd, F_DUPFD_CLOEXEC, 3);
    // Debug information is large; a higher level saves little.
    w->zip = fd < 0 ? NULL : gzdopen(fd, "wb3");
    if (w->zip)
      return w;
    *error = new_file_end(&w->file, strerror(errno));
  }
  free(w);
  return NULL;
}

static const char *put(struct archive_writer *w, const void *bytes,
                       size_t length) {
  enum { PART = 1 << 20 };
  for (const char *at = bytes; length;) {
    const unsigned n = length < PART ? (unsigned)length : PART;
    errno = 0;
    if (gzwrite(w->zip, at, n) != (int)n)
      return errno ? strerror(errno) : "zlib failed";
    at += n;
    length -= n;
  }
  return NULL;
}

static void print_octal(char *field, size_t size, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%0*llo", (int)size - 1,
           (unsigned long long)value);
  memcpy(field, text, size);
}

const char *archive_add(struct archive_writer *w, const char *name,
                        const struct bytes *content) {
  static const char zeros[BLOCK];
  struct header h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
  if (strlen(name) >= sizeof h.name || content->length >> 33)
    return "the name is too long, or the file too large";
  for (size_t i = 0; i < w->count; i++)
    if (strcmp(w->names[i], name) == 0)
      return NULL; // the archive has it already
  *APPEND(w->names, w->count, w->capacity) = strdup(name);
  memcpy(h.name, name, strlen(name));
  print_octal(h.mode, sizeof h.mode, 0644);
  print_octal(h.uid, sizeof h.uid, 0);
  print_octal(h.gid, sizeof h.gid, 0);
  print_octal(h.size, sizeof h.size, content->length);
  print_octal(h.time, sizeof h.time, 0);
  print_octal(h.sum, sizeof h.sum - 1, sum_of(&h));
  h.sum[sizeof h.sum - 1] = ' ';
  const char *error = put(w, &h, sizeof h);
  if (!error)
    error = put(w, content->at, content->length);
  if (!error)
    error = put(w, zeros, (BLOCK - content->length % BLOCK) % BLOCK);
  return error;
}

const char *archive_add_file(struct archive_writer *w, const char *name,
                             const char *path) {
  struct stat s;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return strerror(errno);
  const char *error = NULL;
  if (fstat(fd, &s) != 0)
    error = strerror(errno);
  else if (!S_ISREG(s.st_mode) || s.st_size == 0)
    error = "not a file with content";
  if (!error) {
    void *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const struct bytes content = {at, (size_t)s.st_size, false};
    error = at == MAP_FAILED ? strerror(errno) : archive_add(w, name, &content);
    if (at != MAP_FAILED)
      munmap(at, content.length);
  }
  close(fd);
  return error;
}

static const char *end(struct archive_writer *w, const char *error) {
  static const char zeros[2 * BLOCK]; // the end of an archive
  if (!error)
    error = put(w, zeros, sizeof zeros);
  errno = 0;
  if (gzclose(w->zip) != Z_OK && !error)
    error = errno ? strerror(errno) : "zlib failed";
  error = new_file_end(&w->file, error);
  for (size_t i = 0; i < w->count; i++)
    free(w->names[i]);
  free(w->names);
  free(w);
  return error;
}

const char *archive_end(struct archive_writer *w) { return end(w, NULL); }

void archive_abandon(struct archive_writer *w) { end(w, "abandoned"); }
