// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever stands in a file of suppressions, mprof leaks reads and
// writes no memory outside of it, and a pattern matches a name exactly if it
// does so in LeakSanitizer.
//
// REQUIRES: asan
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I%src/tools/mprof -I%src/tools %s %tools_fuzzed -lz -o fuzz
// RUN: printf '"leak:"\n"^"\n"$"\n"*"\n"#"\n"\\x0a"\n' > words
// RUN: %src/test/fuzz/Inputs/run.sh -runs=150000 -max_len=60 -dict=words

#include "leaks/suppressions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// LeakSanitizer's function.
bool template_match(const char *pattern, const char *text) __asm__(
    "_ZN11__sanitizer13TemplateMatchEPKcS1_");

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy(const void *text, size_t length) {
  char *s = memcpy(malloc(length + 1), text, length);
  s[length] = '\0';
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first line is a name, the others are the file.
  const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
  const size_t name_length = end ? (size_t)(end - data) : size;
  const size_t begin = end ? name_length + 1 : size;
  char *name = copy(data, name_length);
  // Not ended by a 0 byte, so that AddressSanitizer finds reads beyond.
  const size_t length = size - begin;
  char *text = memcpy(malloc(length ? length : 1), data + begin, length);
  struct suppressions s = {0};
  char error[100] = "";
  const bool is_good =
      suppressions_parse(&s, text, length, error, sizeof error);
  if (is_good != !*error)
    abort();
  for (size_t i = 0; i < s.count; i++) {
    const char *pattern = s.items[i].pattern;
    if (!*pattern || strchr(pattern, '\n'))
      abort();
    char *writable = copy(pattern, strlen(pattern)); // as LeakSanitizer has it
    if (suppression_matches(pattern, name) != template_match(writable, name))
      abort();
    free(writable);
    free(s.items[i].pattern);
  }
  free(s.items);
  free(name);
  free(text);
  return 0;
}
