// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a static program contains the functions that its sites no longer call
// directly, because the runtime calls them: strdup and similar ones.
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
