// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whole files of /proc into mapped memory; see procfile.h.

#define _GNU_SOURCE 1

#include "sys/procfile.h"

#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { FIRST_SIZE = 65536 };

static bool grow(struct mprof_procfile *f) {
  size_t size = f->mapped_bytes * 2;
  char *data = mprof_os_map(size);
  if (data == NULL)
    return false;
  memcpy(data, f->data, f->len);
  mprof_os_unmap(f->data, f->mapped_bytes);
  f->data = data;
  f->mapped_bytes = size;
  return true;
}

// again: the file was read before through the same descriptor.
static int read_all(struct mprof_procfile *f, int fd, bool again) {
  for (;;) {
    if (f->len + 1 == f->mapped_bytes && !grow(f))
      return -ENOMEM;
    char *to = f->data + f->len;
    const size_t room = f->mapped_bytes - f->len - 1;
    const long n = again ? mprof_sys_pread(fd, to, room, f->len)
                         : mprof_sys_read(fd, to, room);
    if (n == -EINTR)
      continue;
    if (n < 0)
      return (int)n;
    if (n == 0)
      return 0;
    f->len += (size_t)n;
  }
}

static int read_file(struct mprof_procfile *f, int fd, bool again) {
  *f = (struct mprof_procfile){.mapped_bytes = FIRST_SIZE};
  f->data = mprof_os_map(f->mapped_bytes);
  const int error = f->data == NULL ? -ENOMEM : read_all(f, fd, again);
  if (error != 0)
    mprof_procfile_free(f);
  return error;
}

int mprof_procfile_read(struct mprof_procfile *f, const char *path) {
  const long fd = mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return (int)fd;
  const int error = read_file(f, (int)fd, false);
  mprof_sys_close((int)fd);
  return error;
}

int mprof_procfile_read_again(struct mprof_procfile *f, int fd) {
  return read_file(f, fd, true);
}

void mprof_procfile_free(struct mprof_procfile *f) {
  if (f->data != NULL)
    mprof_os_unmap(f->data, f->mapped_bytes);
  f->data = NULL;
}

long mprof_procfile_begin(const char *path, char *buf, size_t cap) {
  buf[0] = '\0';
  const long fd = mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return fd;
  const long n = mprof_sys_read((int)fd, buf, cap - 1);
  mprof_sys_close((int)fd);
  buf[n > 0 ? n : 0] = '\0';
  return n;
}

// --- the command line ---

static char first_argument[512]; // argv[0] of main; written once at start
static bool has_more_arguments;

// Turns null bytes, which end the arguments, and line breaks into blanks.
static inline __attribute__((always_inline)) void blank(char *s, size_t len) {
  for (size_t i = 0; i < len; i++)
    if (s[i] == '\0' || s[i] == '\n' || s[i] == '\r')
      s[i] = ' ';
}

void mprof_command_keep(char *const *argv) {
  if (argv == NULL || argv[0] == NULL)
    return;
  blank(first_argument,
        mprof_text_copy(first_argument, sizeof(first_argument), argv[0]));
  has_more_arguments = argv[1] != NULL;
}

// Writes the present arguments to buf. If the program has set a title
// (setproctitle), the title has replaced the arguments. A title that is shorter
// than the arguments is followed by padding, which is left out.
static void read_arguments(char *buf, size_t len) {
  const long n = mprof_procfile_begin("/proc/self/cmdline", buf, len);
  size_t end = n > 0 ? (size_t)n : 0;
  blank(buf, end);
  while (end > 0 && buf[end - 1] == ' ')
    buf[--end] = '\0';
}

// Reads the present arguments. Returns whether the program has set a title.
static bool read_title(char *buf, size_t len) {
  const size_t n = strlen(first_argument);
  read_arguments(buf, len);
  return n > 0 && strncmp(buf, first_argument, n) != 0;
}

// If the first argument is unchanged, writes the present arguments and not
// those at start, because the program may have erased secrets from its
// arguments. If the program has set a title, writes only the first argument at
// start, because the other arguments may contain secrets.
void mprof_command_line(char *buf, size_t len) {
  if (!read_title(buf, len))
    return;
  struct mprof_text t = {.buf = buf, .cap = len};
  mprof_text_str(&t, first_argument);
  mprof_text_str(&t, has_more_arguments ? " ..." : "");
}

bool mprof_command_title(char *buf, size_t len) {
  return read_title(buf, len) && buf[0] != '\0';
}
