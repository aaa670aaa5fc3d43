// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/source.h"

#include "common/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE = 16 << 20 };

// The links that a path may lead through, as in Linux.
enum { MAX_LINKS = 40 };

// A path that is being opened: the directory that is reached, and the rest of
// the path below it.
struct walk {
  int fd;
  char rest[4096];
  unsigned links;
};

// Replaces the directory. Returns whether it could be opened.
static bool enter(struct walk *w, int fd) {
  close(w->fd);
  w->fd = fd;
  return fd >= 0;
}

// Follows the link `link`, unless another user than root made it: the paths
// come from a profile, and such a user could choose what the reader publishes.
static bool follow(struct walk *w, int link, const struct stat *st) {
  char target[sizeof w->rest], rest[sizeof w->rest];
  const ssize_t n = readlinkat(link, "", target, sizeof target - 1);
  if (n <= 0 || ++w->links > MAX_LINKS ||
      (st->st_uid != 0 && st->st_uid != geteuid()))
    return false;
  target[n] = '\0';
  if (snprintf(rest, sizeof rest, "%s/%s", target, w->rest) >= (int)sizeof rest)
    return false;
  memcpy(w->rest, rest, sizeof rest);
  return *target != '/' || enter(w, open("/", O_PATH | O_CLOEXEC));
}

// Enters the next part of the path.
static bool step(struct walk *w) {
  char name[256];
  struct stat st;
  char *at = w->rest + strspn(w->rest, "/");
  const size_t length = strcspn(at, "/");
  if (length >= sizeof name)
    return false;
  memcpy(name, at, length);
  name[length] = '\0';
  memmove(w->rest, at + length, strlen(at + length) + 1);
  const int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return false;
  if (fstat(fd, &st) != 0 || !S_ISLNK(st.st_mode))
    return enter(w, fd);
  const bool is_good = follow(w, fd, &st);
  close(fd);
  return is_good;
}

// Opens a regular file that the reader owns, or that not everybody can write.
// Does not follow links of other users. No link can be exchanged in between,
// because each part of the path is opened before it is examined.
static int open_regular(const char *path, size_t *size) {
  struct walk w = {.fd = open(*path == '/' ? "/" : ".", O_PATH | O_CLOEXEC)};
  struct stat st;
  char name[32];
  bool is_good = w.fd >= 0 && snprintf(w.rest, sizeof w.rest, "%s", path) <
                                  (int)sizeof w.rest;
  while (is_good && w.rest[strspn(w.rest, "/")])
    is_good = step(&w);
  int fd = -1;
  if (is_good && fstat(w.fd, &st) == 0 && S_ISREG(st.st_mode) &&
      st.st_size <= MAX_SOURCE &&
      (st.st_uid == geteuid() || !(st.st_mode & S_IWOTH))) {
    snprintf(name, sizeof name, "/proc/self/fd/%d", w.fd);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    *size = (size_t)st.st_size;
  }
  if (w.fd >= 0)
    close(w.fd);
  return fd;
}

// Returns whether a part of the path is "..".
static bool leads_up(const char *path) {
  for (;;) {
    const size_t length = strcspn(path, "/");
    if (length == 2 && memcmp(path, "..", 2) == 0)
      return true;
    if (!path[length])
      return false;
    path += length + 1;
  }
}

// Opens path, or directory followed by the longest end of path that exists.
static int open_source(const char *path, const char *directory, size_t *size) {
  int fd = open_regular(path, size);
  for (const char *end = path; fd < 0 && directory && end && *end;) {
    char name[4096];
    while (*end == '/')
      end++;
    // A path of a profile must not lead out of the directory.
    if (!leads_up(end) &&
        snprintf(name, sizeof name, "%s/%s", directory, end) < (int)sizeof name)
      fd = open_regular(name, size);
    end = strchr(end, '/');
  }
  return fd;
}

static void split(struct source *s) {
  size_t capacity = 0;
  for (char *at = s->text; *at;) {
    *APPEND(s->lines, s->count, capacity) = at;
    char *newline = strchr(at, '\n');
    if (!newline)
      return;
    *newline = '\0';
    at = newline + 1;
  }
}

struct source source_read(const char *path, const char *directory) {
  struct source s = {0};
  size_t size;
  const int fd = open_source(path, directory, &size);
  if (fd < 0)
    return s;
  s.text = zeroed(size + 1, 1);
  const ssize_t length = read(fd, s.text, size);
  close(fd);
  s.text[length > 0 ? length : 0] = '\0';
  split(&s);
  return s;
}

void source_free(struct source *s) {
  free(s->text);
  free(s->lines);
  *s = (struct source){0};
}

size_t source_line(const char *text, char *line, size_t size) {
  size_t n = 0;
  for (; *text && n < size - 1; text++) {
    if (*text == '\r')
      continue;
    if (*text != '\t')
      line[n++] = *text;
    else
      do
        line[n++] = ' ';
      while (n % 4 && n < size - 1);
  }
  line[n] = '\0';
  return n;
}
