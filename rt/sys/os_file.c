// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the system about files, and reads them; see os.h.

#define _GNU_SOURCE 1

#include "sys/os.h"

#include "sys/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// Returns the type of a file, or 0 if there is no such file. If a seccomp
// filter refuses all system calls that read the type, only files in /dev count
// as special.
static int kind(const char *path) {
  long mode = mprof_sys_mode(AT_FDCWD, path);
  if (mode >= 0)
    return (int)mode & S_IFMT;
  if (!mprof_sys_exists(path))
    return 0;
  return strncmp(path, "/dev/", strlen("/dev/")) == 0 ? S_IFCHR : S_IFREG;
}

bool mprof_os_is_special(const char *path) {
  int k = kind(path);
  return k != 0 && k != S_IFREG && k != S_IFDIR;
}

bool mprof_os_is_file(const char *path) { return kind(path) == S_IFREG; }

bool mprof_os_is_same_file(const char *a, const char *b) {
  uint64_t dev[2], ino[2];
  return mprof_sys_path_id(a, &dev[0], &ino[0]) == 0 &&
         mprof_sys_path_id(b, &dev[1], &ino[1]) == 0 && dev[0] == dev[1] &&
         ino[0] == ino[1];
}

bool mprof_os_is_regular(int fd) {
  long mode = mprof_sys_mode(fd, "");
  return mode >= 0 && S_ISREG(mode);
}

bool mprof_os_is_executable(const char *path) {
  return kind(path) == S_IFREG &&
         mprof_syscall4(SYS_faccessat, AT_FDCWD, (long)path, 1 /* X_OK */, 0) ==
             0;
}

// Returns whether only root or the user who started this process can change the
// file or the entries of the directory.
static bool is_safe(const char *path) {
  struct stat st;
  if (mprof_syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) != 0 ||
      (st.st_uid != 0 && st.st_uid != (uid_t)getauxval(AT_EUID)))
    return false;
  // In a sticky directory, such as /tmp, only the owner of an entry can replace
  // it.
  if (S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0)
    return true;
  // Many systems have a group for each user, with the user's number, and let it
  // write by default.
  return (st.st_mode & S_IWOTH) == 0 &&
         ((st.st_mode & S_IWGRP) == 0 || st.st_gid == st.st_uid);
}

// Checks the path and all directories above it. Changes the string.
static bool are_all_safe(char *path) {
  while (is_safe(path)) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || path[1] == '\0')
      return slash != NULL; // a relative path has other directories above it
    slash[slash == path] = '\0';
  }
  return false;
}

enum { SAFE_PATH_SIZE = 1024 };

bool mprof_os_is_protected(int fd) {
  char real[SAFE_PATH_SIZE], link[64]; // real: without symbolic links
  struct mprof_text t = MPROF_TEXT(link);
  mprof_text_str(&t, "/proc/thread-self/fd/");
  mprof_text_dec(&t, (uint64_t)fd);
  const long n = mprof_sys_readlink(link, real, sizeof(real) - 1);
  if (n <= 0)
    return false;
  real[n] = '\0';
  return are_all_safe(real);
}

bool mprof_os_is_trusted(const char *path) {
  char given[SAFE_PATH_SIZE];
  const size_t len = strlen(path);
  if (len >= sizeof(given) || !mprof_os_is_executable(path))
    return false;
  memcpy(given, path, len + 1);
  const long fd = mprof_sys_open(path, O_PATH | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const bool is_real_safe = mprof_os_is_protected((int)fd);
  mprof_sys_close((int)fd);
  return is_real_safe && are_all_safe(given);
}

long mprof_os_peek_pipe(const char *path, char *buf, size_t len) {
  const long from = mprof_sys_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  int own[2], there = 0;
  if (from < 0)
    return from;
  long n = mprof_syscall4(SYS_ioctl, from, FIONREAD, (long)&there, 0);
  if (n == 0 && there == 0) {
    mprof_sys_close((int)from);
    return 0;
  }
  if (n == 0)
    n = mprof_syscall4(SYS_pipe2, (long)own, O_NONBLOCK | O_CLOEXEC, 0, 0);
  if (n == 0) {
    mprof_sys_fcntl(own[0], F_SETPIPE_SZ,
                    (long)len); // on failure, the pipe keeps its default size
    n = mprof_syscall4(SYS_tee, from, own[1], (long)len, SPLICE_F_NONBLOCK);
    if (n > 0)
      n = mprof_sys_read(own[0], buf, (size_t)n);
    mprof_sys_close(own[0]);
    mprof_sys_close(own[1]);
  }
  mprof_sys_close((int)from);
  return n < 0 || n >= there ? n : -ENOBUFS;
}

// --- files of /proc ---

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

// Reads a number of pages, which stands after the next space of *text, and
// moves *text behind this number. Returns the size of the pages in bytes.
static uint64_t next_pages(const char **text) {
  uint64_t pages = 0;
  const char *p = strchr(*text, ' ');
  for (p = p == NULL ? "" : p + 1; *p >= '0' && *p <= '9'; p++)
    pages = pages * 10 + (uint64_t)(*p - '0');
  *text = p;
  return pages * mprof_sys_page_size();
}

// The second number of the file is the resident memory, and the third is the
// part of it that belongs to files and shared memory.
struct mprof_resident mprof_sys_resident(void) {
  char text[128];
  if (mprof_procfile_begin("/proc/self/statm", text, sizeof(text)) <= 0)
    return (struct mprof_resident){0, 0};
  const char *p = text;
  const uint64_t all = next_pages(&p);
  return (struct mprof_resident){all, all - next_pages(&p)};
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
