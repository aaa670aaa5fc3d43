// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a path in an option may contain the characters that separate options
// if the path is in single or double quotes. This holds for options in the
// environment and in the program.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: mkdir 'a, b:c' && ln -s %build/bin/mprof 'a, b:c/mprof'
// RUN: env PATH=/none MPROF_OPTIONS="heap_rate=1:log_path='a, b:c/at 10:30':external_symbolizer_path=\"$PWD/a, b:c/mprof\":format=1" \
// RUN:   ./app 2> err
// RUN: grep -q "^mprof: wrote a, b:c/at 10:30\.[0-9]*\.heap\.txt (1 sample, 1 stack) and a, b:c/at 10:30\.[0-9]*\.txt$" err
// RUN: grep -q "in main .*options-in-quotes.c" 'a, b:c'/*0.*[0-9].txt
// RUN: ./app
// RUN: ls 'it is:here'.*.heap.pb.gz

#include <stdlib.h>

static void *volatile sink;

__attribute__((visibility("default"))) const char *
__mprof_default_options(void) {
  return "heap_rate=1,log_path=\"it is:here\"";
}

int main(void) {
  sink = malloc(100);
  return 0;
}
