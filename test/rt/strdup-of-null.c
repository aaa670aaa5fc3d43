// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: strdup(NULL) and strndup(NULL, n) end the program by SIGSEGV as
// without MProf, and strndup(NULL, 0) returns an empty string: with MProf's
// interceptors, without them, and in a static program.
//
// RUN: for flag in "" -fno-mprof-intercept -static; do \
// RUN:   %mprof_clang -fmprof -O2 $flag %s -o %t && %run_quiet %t || exit 1; \
// RUN:   for f in strdup strndup; do \
// RUN:     env MPROF_OPTIONS=quiet=1:profile=0 sh -c '"$0" "$1"; [ $? = 139 ]' \
// RUN:       %t $f || exit 1; done; done

#include <string.h>

int main(int argc, char **argv) {
  char *volatile null = NULL;
  char *volatile copy; // a copy that is not used would be optimized away
  if (argc == 1)
    return strlen(strndup(null, 0)) != 0;
  copy = strcmp(argv[1], "strdup") == 0 ? strdup(null) : strndup(null, 5);
  return copy == NULL;
}
