// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/source.h"

#include "common/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE = 16 << 20 };

// Opens a regular file. O_NONBLOCK: opening a pipe or a device must not wait.
static int open_regular(const char *path, size_t *size) {
  struct stat st;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return -1;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE) {
    close(fd);
    return -1;
  }
  *size = (size_t)st.st_size;
  return fd;
}

// Opens path, or directory followed by the longest end of path that exists.
static int open_source(const char *path, const char *directory, size_t *size) {
  int fd = open_regular(path, size);
  for (const char *end = path; fd < 0 && directory && end && *end;) {
    char name[4096];
    while (*end == '/')
      end++;
    // A path of a profile must not lead out of the directory.
    if (!strstr(end, "..") &&
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
