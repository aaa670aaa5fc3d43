// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and rotates the file of the allocation log. The file is locked
// with flock while it is open, so that two processes with the same path do not
// overwrite each other's records. Only an earlier log or an empty file is
// overwritten, so that a mistyped path destroys no other file.
//
// Some programs close all descriptors that they have not opened, including the
// log's descriptor. The kernel may then give the same number to a file of the
// program. So each write first checks that the descriptor still refers to the
// log's file.

#define _GNU_SOURCE 1

#include "heap/alloc_log_file.h"

#include "file/outfile.h"
#include "file/path.h"
#include "sys/flags.h"
#include "sys/message.h"
#include "sys/os_file.h"
#include "sys/os_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static struct {
  int fd;            // descriptor of the log file; -1: not open
  uint64_t dev, ino; // identify the log file
  uint64_t written;  // bytes written to the file
  char path[MPROF_PATH_MAX];
  char old_path[MPROF_PATH_MAX + 2]; // path.1, the name of the rotated log
} file = {.fd = -1};

static void say(const char *what, int error) {
  char text[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "alloc_log: ");
  mprof_text_str(&t, what);
  mprof_text_str(&t, " ");
  mprof_text_str(&t, file.path);
  if (error != 0) {
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  }
  mprof_text_str(&t, "; logging stops");
  mprof_message(text);
}

void mprof_log_file_forget(void) {
  if (file.fd >= 0)
    mprof_sys_close(file.fd);
  file.fd = -1;
}

bool mprof_log_file_is_open(void) { return file.fd >= 0; }

const char *mprof_log_file_path(void) { return file.path; }

static bool fail(const char *what, int error) {
  mprof_log_file_forget();
  say(what, error);
  return false;
}

// Returns whether fd still refers to the log's file.
static bool is_ours(int fd) { return mprof_sys_has_id(fd, file.dev, file.ino); }

static long open_path(int flags) {
  return mprof_outfile_move_up(mprof_sys_open(
      file.path,
      O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
}

// Returns whether the file is empty or an earlier allocation log, so that it
// may be overwritten.
static bool may_be_replaced(int fd) {
  char head[sizeof(MPROF_LOG_MAGIC) - 1];
  long n = mprof_sys_read(fd, head, sizeof(head));
  return n == 0 || (n == (long)sizeof(head) &&
                    memcmp(head, MPROF_LOG_MAGIC, sizeof(head)) == 0);
}

static bool open_new(int flags) {
  if (mprof_os_is_special(file.path))
    return fail("cannot log to a path that is not a regular file:", 0);
  long fd = open_path(O_CREAT | flags);
  if (fd < 0)
    return fail("cannot open", (int)fd);
  file.fd = (int)fd;
  file.written = 0;
  if (mprof_sys_flock(file.fd) == -EWOULDBLOCK)
    return fail("another process logs to the same file (put %p in the path):",
                0);
  if (!may_be_replaced(file.fd))
    return fail("cannot overwrite a file that is not an allocation log:", 0);
  long error = mprof_sys_ftruncate(file.fd, 0);
  if (error == 0)
    error = mprof_sys_fstat_id(file.fd, &file.dev, &file.ino);
  return error == 0 || fail("cannot write to", (int)error);
}

bool mprof_log_file_open(bool is_child) {
  bool has_pid;
  int error = mprof_path_fill(file.path, sizeof(file.path), "alloc_log",
                              mprof_flags.alloc_log, &has_pid);
  if (error != 0)
    return fail("cannot open", error);
  if (is_child && !has_pid)
    return fail(
        "a forked child cannot log to its parent's file (put %p in the path):",
        0);
  struct mprof_text t = MPROF_TEXT(file.old_path);
  mprof_text_str(&t, file.path);
  mprof_text_str(&t, ".1");
  return open_new(0);
}

// Opens the log file again after the program has closed its descriptor. Returns
// false if the path no longer names the log file.
static bool reopen(void) {
  long fd = open_path(0);
  file.fd = -1; // not closed: the program may now use the old descriptor number
  if (fd < 0)
    return fail(
        "the program closed the log file, which cannot be opened again:",
        (int)fd);
  file.fd = (int)fd;
  if (!is_ours(file.fd))
    return fail(
        "the program closed the log file, and another file now has its path:",
        0);
  mprof_sys_flock(file.fd);
  return true;
}

void mprof_log_file_write(struct mprof_text *t) {
  size_t len = t->len;
  t->len = 0;
  if (file.fd < 0 || (!is_ours(file.fd) && !reopen()))
    return;
  int error = mprof_os_write_all(file.fd, t->buf, len);
  if (error != 0)
    fail("cannot write to", error);
  file.written += len;
}

bool mprof_log_file_is_full(void) {
  return file.written >= mprof_flags.alloc_log_mb << 20;
}

bool mprof_log_file_rotate(void) {
  long error = mprof_sys_rename(file.path, file.old_path);
  if (error != 0)
    return fail("cannot append .1 to the name of", (int)error);
  mprof_log_file_forget();
  return open_new(O_EXCL);
}
