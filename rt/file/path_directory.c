// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE 1

#include "file/path_directory.h"

#include "file/path.h"
#include "options/flags.h"
#include "sys/os_linux.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// The user's umask removes rights from these. The user needs OWN_RIGHTS to make
// a file in the directory, so they stay, as with mkdir -p.
enum { ALL_RIGHTS = 0777, OWN_RIGHTS = S_IWUSR | S_IXUSR };

static long call(long number, const char *path, long a, long b) {
  return mprof_syscall(number, AT_FDCWD, (long)path, a, b, 0, 0);
}

static void make(const char *directory) {
  struct stat st;
  if (call(SYS_mkdirat, directory, ALL_RIGHTS, 0) == 0 &&
      call(SYS_newfstatat, directory, (long)&st, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(st.st_mode) && (st.st_mode & OWN_RIGHTS) != OWN_RIGHTS)
    call(SYS_fchmodat, directory, (st.st_mode & 07777) | OWN_RIGHTS, 0);
}

void mprof_path_make_directory(const char *path) {
  char directory[MPROF_PATH_MAX];
  const char *last = strrchr(path, '/');
  const size_t len = last == NULL ? 0 : (size_t)(last - path);
  if (len == 0 || len >= sizeof(directory) || mprof_flags_is_secure())
    return;
  memcpy(directory, path, len);
  directory[len] = '\0';
  if (mprof_sys_exists(directory))
    return;
  for (char *slash = directory; (slash = strchr(slash + 1, '/')) != NULL;) {
    *slash = '\0';
    make(directory);
    *slash = '/';
  }
  make(directory);
}
