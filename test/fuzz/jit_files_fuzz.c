// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a map or a dump with the names of code made at run
// time has, mprof does not read outside of it, leak memory or run for ever.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: printf '0 100 a\n10 20 JS:*b /b c.js:1:2\n20 8 b\n' > seeds/map
// RUN: words() { for n; do printf "\\$(printf %%o $n)\0\0\0"; done; }
// RUN: (printf 'DTiJ'; words 1 40 0 0 0 0 0 0 0; \
// RUN:   words 2 52 0 0 16 0 1 0 20 0 7 0; printf 'f.c\0'; \
// RUN:   words 0 60 0 0 0 0 16 0 16 0 32 0 5 0; printf 'abc\0'; \
// RUN:   words 1 64 0 0 0 0 64 0 16 0 64 0 32 0 5 0) > seeds/dump
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -DMPROF_RUNTIME %fuzzer \
// RUN:   -I%src/include -I%rt -I%src/tools -I%src/tools/mprof %s \
// RUN:   %src/tools/mprof/names/jit_dump.c \
// RUN:   %src/tools/common/memory.c -o fuzz
// RUN: %S/Inputs/run.sh -runs=60000 -max_len=1024 new

#include "names/jit_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// --- in place of jit_names.c ---

size_t jit_first(const struct jit_wanted *w, size_t count, uint64_t address) {
  size_t i = 0;
  while (i < count && w[i].address < address)
    i++;
  return i;
}

void jit_set(struct jit_wanted *w, const char *name) {
  free(w->name);
  free(w->file);
  w->name = name ? strdup(name) : NULL;
  w->file = NULL;
  w->moved = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool (*const readers[])(FILE *, struct jit_wanted *,
                          size_t) = {jit_map_read, jit_dump_read};
  for (int k = 0; k < 2 && size; k++) {
    struct jit_wanted w[8] = {{0}};
    for (size_t i = 0; i < 8; i++)
      w[i].address = i * 12;
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
    readers[k](in, w, 8);
    fclose(in);
    for (size_t i = 0; i < 8; i++)
      jit_set(&w[i], NULL);
  }
  return 0;
}
