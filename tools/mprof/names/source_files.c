// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the runtime that source_path.c calls.

#include "sys/os.h"

#include <sys/stat.h>

bool mprof_os_is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool mprof_os_is_same_file(const char *a, const char *b) {
  struct stat st[2];
  return stat(a, &st[0]) == 0 && stat(b, &st[1]) == 0 &&
         st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
}
