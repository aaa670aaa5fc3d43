// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a trace. Maps the file into memory if possible. Reads a file that
// cannot be mapped, such as a pipe, into allocated memory.

#include "open.h"

#include "common/memory.h"
#include "common/plural.h"
#include "report.h"
#include "table.h"
#include "trace.h"
#include "trace_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The header of a trace is "go 1.N trace". This array has all values of N of
// the formats with generations.
static const unsigned versions[] = {22, 23, 25, 26};

static bool read_all(int fd, struct trace *t) {
  uint8_t *data = NULL;
  size_t capacity = 0;
  for (;;) {
    data = grow(data, &capacity, t->size + 65536, 1);
    ssize_t n = read(fd, data + t->size, capacity - t->size);
    if (n < 0 && errno == EINTR)
      continue;
    t->data = data;
    if (n <= 0)
      return n == 0;
    t->size += n;
  }
}

static bool read_file(const char *path, struct trace *t) {
  bool standard = strcmp(path, "-") == 0;
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  struct stat status;
  bool done = false;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size) {
    void *data = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) {
      t->data = data;
      t->size = status.st_size;
      t->kind = DATA_MAPPED;
      done = true;
    }
  }
  if (!done)
    done = read_all(fd, t);
  int error = errno;
  if (!standard)
    close(fd);
  errno = error;
  return done;
}

static bool read_header(struct trace *t) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    char header[TRACE_HEADER_SIZE + 1] = {0};
    snprintf(header, sizeof header, "go 1.%u trace", versions[i]);
    if (t->size >= TRACE_HEADER_SIZE &&
        memcmp(t->data, header, TRACE_HEADER_SIZE) == 0) {
      t->minor = versions[i];
      return true;
    }
  }
  return false;
}

// Returns whether the trace has an older format. *minor receives its N.
static bool is_older(const struct trace *t, unsigned *minor) {
  char header[TRACE_HEADER_SIZE + 1] = {0};
  if (t->size >= TRACE_HEADER_SIZE)
    memcpy(header, t->data, TRACE_HEADER_SIZE);
  return sscanf(header, "go 1.%2u trace", minor) == 1 && *minor < versions[0];
}

// Returns t if its header is known. Otherwise writes a message into error,
// closes t and returns NULL.
static struct trace *check_header(struct trace *t, char *error, size_t size) {
  unsigned minor;
  if (read_header(t))
    return t;
  if (is_older(t, &minor))
    snprintf(error, size,
             "an execution trace of go 1.%u, which only Go's own tools read; "
             "mprof reads those of go 1.22 to 1.26 [%s]",
             minor, trace_rule_name(TRACE_RULE_HEADER));
  else
    snprintf(
        error, size,
        "not an execution trace of go 1.22 to 1.26: the file of %zu byte%s "
        "does not begin with a known 16-byte header [%s]",
        t->size, plural(t->size), trace_rule_name(TRACE_RULE_HEADER));
  trace_close(t);
  return NULL;
}

struct trace *trace_open(const char *path, char *error, size_t size) {
  struct trace *t = zeroed(1, sizeof *t);
  if (read_file(path, t))
    return check_header(t, error, size);
  snprintf(error, size, "%s", strerror(errno));
  trace_close(t);
  return NULL;
}

struct trace *trace_open_bytes(const void *bytes, size_t count, char *error,
                               size_t size) {
  struct trace *t = zeroed(1, sizeof *t);
  t->data = bytes;
  t->size = count;
  t->kind = DATA_BORROWED;
  return check_header(t, error, size);
}

void trace_close(struct trace *t) {
  clear_tables(t);
  free(t->strings);
  free(t->stacks);
  free(t->frames);
  free(t->streams);
  free(t->samples);
  if (t->kind == DATA_MAPPED)
    munmap((void *)t->data, t->size);
  else if (t->kind == DATA_ALLOCATED)
    free((void *)t->data);
  free(t);
}

unsigned trace_minor(const struct trace *t) { return t->minor; }

uint64_t trace_frequency(const struct trace *t) { return t->frequency; }
