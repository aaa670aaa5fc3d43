// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/own_place.h"

#include "common/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *own_place(const char *relative) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0)
    return NULL;
  self[length] = '\0';
  *strrchr(self, '/') = '\0';
  char *path = text_of("%s/%s", self, relative);
  char *real = realpath(path, NULL);
  free(path);
  return real;
}

const char *document_place(const char *page) {
  static char *last;
  char *relative = text_of("../share/doc/mprof/docs/%s", page);
  free(last);
  last = own_place(relative);
  if (!last)
    last = text_of("docs/%s in MProf's sources", page);
  free(relative);
  return last;
}
