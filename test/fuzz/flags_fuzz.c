// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever string is in MPROF_OPTIONS, the parser of options does not
// read or write outside of its buffers. Afterwards each option's value is in
// its range.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address \
// RUN:   -DMPROF_RUNTIME -I%src/include -I%rt %s %rt/options/flags.c \
// RUN:   %rt/options/flags_table.c %rt/sys/message.c %rt/sys/text.c \
// RUN:   %rt/sys/os_linux.c %rt/sys/stats.c -o fuzz
// RUN: printf '"heap_rate="\n"log_path=\x27"\n"stack_depth=1024:"\n' > words
// RUN: %S/Inputs/run.sh -runs=8000 -max_len=1200 -dict=words

#include "options/flags.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct mprof_flags f;
  char *s = malloc(size + 1); // AddressSanitizer finds reads beyond it
  memcpy(s, data, size);
  s[size] = '\0';
  f = mprof_flags;
  mprof_flags_parse(&f, s, "fuzz");
  free(s);
#define MPROF_FLAG_BOOL(Name, Default, Change, Help)                           \
  if (*(const unsigned char *)&f.Name > 1)                                     \
    abort();
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  if (f.Name + 0 < Min || f.Name > Max)                                        \
    abort();
#define MPROF_FLAG_STR(Name, Default, Change, Help)                            \
  if (memchr(f.Name, 0, sizeof(f.Name)) == NULL)                               \
    abort();
#define MPROF_FLAG_LIST MPROF_FLAG_STR
#define MPROF_FLAG_ADDRESS MPROF_FLAG_STR
#include "options/flags.def"
  return 0;
}
