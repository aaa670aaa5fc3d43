// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a trace has, the page of mprof html contains its texts
// only as strings of JSON, which cannot end the element that they are in.
// Control characters are escaped, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: %python -B %S/Inputs/trace_seeds.py seeds
// RUN: printf '"%%s"\n' '</script>' '<!--' '\x01' '\x7f' '\xe2\x80\xa8' '"' '\x5c' > words
// RUN: T=%src/tools && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T/mprof -I$T -I$T/trace -I%src/rt %s %tools_fuzzed -o fuzz
// RUN: %S/Inputs/run.sh -runs=6000 -max_len=4096 -dict=words new

#include "html/trace_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  // The trace's violations are printed. libFuzzer has its own copy of stderr.
  stderr = fopen("/dev/null", "we");
  return stderr == NULL;
}

// Fails unless the text is an object of JSON with the texts escaped: a string
// has no "<", which could begin an element, and no control character. Brackets
// outside of strings match.
static void check_json(const char *text) {
  char open[32];
  size_t depth = 0;
  for (const char *c = text; *c; c++) {
    if (*c == '<' || ((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
      abort();
    if (*c == '{' || *c == '[') {
      if (depth == sizeof open)
        abort();
      open[depth++] = *c == '{' ? '}' : ']';
    } else if (*c == '}' || *c == ']') {
      if (depth == 0 || open[--depth] != *c)
        abort();
    } else if (*c == '"') {
      for (c++; *c != '"'; c += *c == '\\' ? 2 : 1)
        if (*c == '<' || (unsigned char)*c < ' ' || *c == 0x7f)
          abort();
    }
    if (depth == 0 && c[1])
      abort();
  }
  if (depth)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes bytes = {.at = malloc(size ? size : 1), .length = size};
  memcpy(bytes.at, data, size);
  char error[256];
  char *json = trace_json_of(&bytes, "a", "a.trace", trace_window_all, error,
                             sizeof error);
  if (json)
    check_json(json);
  free(json);
  free(bytes.at);
  return 0;
}
