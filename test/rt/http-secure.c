// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that has more rights than its user (AT_SECURE) opens no
// HTTP server, neither by an option, even if it is the program's own, nor by
// mprof_listen.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: %run_quiet{listen=unix:/tmp/%%p.mprof-secure.sock} ./app

#include "secure.h"

#include <errno.h>
#include <mprof/mprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *__mprof_default_options(void) { return "listen=127.0.0.1:0"; }

// Runs before the runtime starts.
static void before_start(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  become_secure(environment);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const hook)(int, char **,
                                                char **) = before_start;

int main(void) {
  char path[64];
  snprintf(path, sizeof(path), "/tmp/%d.mprof-secure.sock", (int)getpid());
  CHECK_EQ(access(path, F_OK), -1);
  CHECK_EQ(mprof_listen("127.0.0.1:0"), EPERM);
  struct stat st;
  CHECK_EQ(stat("/proc/self/task", &st), 0);
  const unsigned emulators_own = getenv("MPROF_TEST_EMULATED") != NULL;
  CHECK_EQ(st.st_nlink, 3 + emulators_own); // one thread
  return 0;
}
