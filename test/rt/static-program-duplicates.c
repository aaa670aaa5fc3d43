// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the plugin replaces calls of strdup, strndup and wcsdup by calls of
// the runtime. A static program still contains these functions, because the
// runtime calls them.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for f in strdup strndup wcsdup; do \
// RUN:   %mprof_clang -fmprof -O2 -static -DCALL_$f %s -o app && \
// RUN:   %run_quiet ./app || exit 1; done

#include <string.h>
#include <wchar.h>

int main(int argc, char **argv) {
#if defined(CALL_strdup)
  return strcmp(strdup(argv[argc - 1]), argv[0]);
#elif defined(CALL_strndup)
  return strcmp(strndup(argv[argc - 1], 99), argv[0]);
#else
  (void)argv;
  wchar_t text[] = L"abc";
  text[argc] = L'x';
  return wcscmp(wcsdup(text), L"axc");
#endif
}
