// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the program that is compiled without MProf. libc's strdup
// allocates inside libc, or inside the allocator.

#include <stdlib.h>
#include <string.h>

void *plain_malloc(size_t size) { return malloc(size); }
void *plain_realloc(void *p, size_t size) { return realloc(p, size); }
char *plain_strdup(const char *s) { return strdup(s); }
void plain_free(void *p) { free(p); }

// Allocates as early as the runtime starts, and after it has written the
// profile.
void *plain_early;
__attribute__((constructor(101))) static void early(void) {
  plain_early = realloc(calloc(1, 1042), 1040);
}
__attribute__((destructor(101))) static void late(void) {
  free(realloc(plain_early, 2040));
}
