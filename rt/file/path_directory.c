// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define _GNU_SOURCE 1

#include "file/path_directory.h"

#include "file/path.h"
#include "sys/flags.h"
#include "sys/kernel_call.h"
#include "sys/os_linux.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

// The user's umask removes rights from these, as for mkdir(1).
enum { ALL_RIGHTS = 0777 };

static void make(const char *directory) {
  mprof_syscall(SYS_mkdirat, AT_FDCWD, (long)directory, ALL_RIGHTS, 0, 0, 0);
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
