// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if llvm-symbolizer does not answer in time, neither the process nor
// its children start it again. One message says so.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: cp %S/Inputs/counting_symbolizer.sh llvm-symbolizer
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE -DMPROF_SYMBOLIZER_TIMEOUT_MS=300 \
// RUN:   %s %rt/symbolize/symbolizers.c %rtlib -o app
// A busy machine may not start llvm-symbolizer before the time is over.
// RUN: until test -e starts; do \
// RUN:   env MPROF_OPTIONS=external_symbolizer_path=$PWD/llvm-symbolizer \
// RUN:     STARTS=starts ./app 2> err || exit 1; done
// RUN: wc -l < starts | grep -x 1
// RUN: FileCheck %s < err
//
// CHECK: mprof: llvm-symbolizer took more than 30 s to look up an address, and is not asked again; frames are shown without names
// CHECK-NOT: mprof: llvm-symbolizer

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"

#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

static void look(const struct mprof_frame *f, void *arg) {
  *(bool *)arg = f->function[0] != '\0';
}

static void find_no_name(void) {
  bool has_name = true;
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  for (int i = 0; i < 3; i++)
    CHECK(mprof_symbolize(snap_pc(leaf, i + 1), look, &has_name));
  CHECK(!has_name);
  mprof_symbolize_end();
  writer_leave();
}

int main(void) {
  CHECK(mprof_init_ready());
  for (int i = 0; i < 3; i++)
    find_no_name();
  pid_t pid = fork();
  if (pid == 0) {
    find_no_name();
    _exit(3);
  }
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  return 0;
}
