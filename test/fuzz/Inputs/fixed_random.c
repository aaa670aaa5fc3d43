// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the random numbers of the kernel in a fuzzer. With random keys of
// hash tables, each run of the fuzzer would take other paths and make other
// inputs.

#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *to, size_t length, unsigned flags) {
  (void)flags;
  memset(to, 1, length);
  return (ssize_t)length;
}
