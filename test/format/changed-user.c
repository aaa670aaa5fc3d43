// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program has changed its user, and the new user cannot write the
// files, the message says so and what to do. mprof doctor tells it before.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/closed && cd %t.dir && chmod 555 closed
// RUN: %mprof_clang -fmprof=heap -O1 -g -D_GNU_SOURCE %s -o app
// RUN: %run{heap_rate=1:report=0:log_path=closed/p} ./app 2> err
// RUN: FileCheck %s < err
// CHECK: mprof: cannot write closed/p.{{[0-9]+}}.heap.pb.gz: permission denied (the program has changed to user {{[0-9]+}}; make the directory writable for this user, or choose another one with log_path)
// RUN: %mprof doctor ./app | FileCheck --check-prefix=DOCTOR %s
// DOCTOR: ok the program can change its user; {{.*}} must be writable

#include <elf.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

void *volatile kept;

// Makes the user at the start of the program, which the kernel has stored
// behind the environment, another one.
static void change_first_user(char **environment) {
  while (*environment != NULL)
    environment++;
  Elf64_auxv_t *v = (Elf64_auxv_t *)(environment + 1);
  while (v->a_type != AT_NULL && v->a_type != AT_EUID)
    v++;
  v->a_un.a_val++;
}

int main(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  kept = malloc(100);
  if (geteuid() != 0)
    change_first_user(environment); // only root can change its user
  else if (setuid(65534) != 0)
    return 1;
  return 0;
}
