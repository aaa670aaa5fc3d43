// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *checked(void *memory) {
  if (!memory) {
    fputs("mprof: out of memory\n", stderr);
    exit(2);
  }
  return memory;
}

void *grow(void *array, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity)
    return array;
  size_t wanted = *capacity ? *capacity * 2 : 16;
  if (wanted < count)
    wanted = count;
  *capacity = wanted;
  return checked(reallocarray(array, wanted, size));
}

void *zeroed(size_t count, size_t size) {
  return checked(calloc(count ? count : 1, size));
}

char *text_of(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0)
    text = zeroed(1, 1);
  va_end(args);
  return text;
}
