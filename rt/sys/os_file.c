// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the system about files, and reads them; see os_file.h.

#define _GNU_SOURCE 1

#include "sys/os_file.h"

#include "sys/kernel_call.h"
#include "sys/os_linux.h"
#include "sys/text.h"

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
