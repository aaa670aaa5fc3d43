// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes system calls that only the writers of profiles need; see
// os_linux_cold.h.

#define _GNU_SOURCE 1

#include "sys/os_linux_cold.h"

#include "sys/kernel_call.h"
#include "sys/os_linux.h"
#include "sys/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// --- files ---

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

long mprof_sys_new_user(void) {
  const long user = mprof_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0);
  return user == (long)getauxval(AT_EUID) ? -1 : user;
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

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset) {
  return mprof_syscall4(SYS_pread64, fd, (long)buf, (long)len, (long)offset);
}

long mprof_os_peek(uintptr_t addr, void *buf, size_t len) {
  // The link thread-self works even if the process's first thread has ended.
  const long fd =
      mprof_sys_open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return fd;
  const long n = mprof_sys_pread((int)fd, buf, len, addr);
  mprof_sys_close((int)fd);
  return n;
}

bool mprof_os_copy(void *to, uintptr_t from, size_t len) {
  long n = mprof_sys_try_copy(to, from, len);
  if (n >= 0 || n == -EFAULT)
    return n == (long)len;
  n = mprof_os_peek(from, to, len);
  if (n >= 0 || n == -EIO)
    return n == (long)len;
  if (from + len < from)
    return false;
  for (uintptr_t page = from & -(uintptr_t)MPROF_PAGE; page < from + len;
       page += MPROF_PAGE)
    if (!mprof_sys_readable(page))
      return false;
  // Not by memcpy, which a sanitizer's runtime may replace. ThreadSanitizer
  // maps a file into its shadow memory, of which its own memcpy must not read.
  const volatile char *bytes = (const volatile char *)from;
  for (size_t i = 0; i < len; i++)
    ((char *)to)[i] = bytes[i];
  return true;
}

// The kernel atomically adds 0 to the bytes, which changes nothing. No thread
// waits for `none`.
bool mprof_sys_is_read_only(uintptr_t addr) {
  const uint32_t none = 0;
  return mprof_sys_readable(addr & -(uintptr_t)8) &&
         mprof_syscall(
             SYS_futex, (long)&none, FUTEX_WAKE_OP_PRIVATE, 0, 0, (long)addr,
             FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) == -EFAULT;
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

long mprof_sys_mprotect(uintptr_t start, size_t len, int protection) {
  return mprof_syscall4(SYS_mprotect, (long)start, (long)len, protection, 0);
}

long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages) {
  return mprof_syscall4(SYS_mincore, (long)start, (long)len, (long)pages, 0);
}

void mprof_sys_lower_own_priority(int nice) {
  // The kernel's getpriority returns 20 minus the nice value.
  const long now = 20 - mprof_syscall4(SYS_getpriority, PRIO_PROCESS, 0, 0, 0);
  mprof_syscall4(SYS_setpriority, PRIO_PROCESS, 0, now + nice, 0);
}
