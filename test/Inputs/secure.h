// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helper for tests of programs with more rights than their user, such as
// set-user-id programs.

#ifndef MPROF_TEST_INPUTS_SECURE_H
#define MPROF_TEST_INPUTS_SECURE_H

#include "check.h"

#include <elf.h>
#include <sys/auxv.h>

// Sets AT_SECURE in the auxiliary vector behind the environment, as the kernel
// does for such programs.
static inline void become_secure(char **environment) {
  while (*environment != NULL)
    environment++;
  Elf64_auxv_t *v = (Elf64_auxv_t *)(environment + 1);
  while (v->a_type != AT_NULL && v->a_type != AT_SECURE)
    v++;
  CHECK_EQ(v->a_type, AT_SECURE);
  v->a_un.a_val = 1;
  CHECK_EQ(getauxval(AT_SECURE), 1);
}

#endif // MPROF_TEST_INPUTS_SECURE_H
