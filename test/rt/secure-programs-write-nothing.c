// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program has more rights than its user (AT_SECURE), MProf writes
// no file unless the program itself names it. The program may name files by an
// absolute path in its own options, or by calling mprof_write_profile. Neither
// the environment nor the current directory chooses a file.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/owner %t.dir/user && cd %t.dir/user
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o ../app
// RUN: ../app 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: %run{heap_rate=1:log_path=$PWD/x:alloc_log=$PWD/log} ../app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SILENT --allow-empty
// SILENT-NOT: mprof
// RUN: env ASKS=heap_rate=1 ../app
// RUN: env ASKS=heap_rate=1:log_path=x ../app
// RUN: env ASKS=heap_rate=1:log_path=stderr ../app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SILENT --allow-empty
//
// Output that the program itself asks for by a relative path is refused.
// RUN: env ASKS=heap_rate=1:trace=1 ../app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TRACE
// TRACE: mprof: cannot write mprof.%e.%p: operation not permitted
// RUN: env ASKS=heap_rate=1:alloc_log=log ../app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LOG
// LOG: mprof: alloc_log: cannot open log: operation not permitted
// RUN: ls -A . ../owner | grep -v : | not grep .
//
// RUN: env ASKS=heap_rate=1:log_path=%t.dir/owner/x ../app
// RUN: ls -A | not grep .
// RUN: ls ../owner/x.*.heap.pb.gz ../owner/x.*.txt
// RUN: env ASKS=heap_rate=1:log_path=%t.dir/owner/ ../app && ls ../owner/mprof.app.*.txt
// A directory that does not exist is not made.
// RUN: env ASKS=heap_rate=1:log_path=%t.dir/owner/new/x ../app
// RUN: test ! -e ../owner/new
// The program itself names the path.
// RUN: env ASKS=heap_rate=1 ../app now.pb.gz && ls | grep -qx now.pb.gz

#include "records.h"
#include "secure.h"

static void *volatile sink;

// The test sets the program's own options by a variable.
const char *__mprof_default_options(void) { return getenv("ASKS"); }

// Runs before the runtime starts.
static void begin(int argc, char **argv, char **envp) {
  (void)argc, (void)argv;
  become_secure(envp);
}
__attribute__((section(".preinit_array"),
               used)) static void (*at)(int, char **, char **) = begin;

int main(int argc, char **argv) {
  CHECK_EQ(getauxval(AT_SECURE), 1);
  sink = malloc(401);
  if (argc > 1)
    CHECK_EQ(mprof_write_profile("heap", argv[1], 0), 0);
  return 0;
}
