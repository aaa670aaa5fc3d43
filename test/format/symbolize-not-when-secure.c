// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a set-user-id program does not start mprof, which would run with the
// environment of the user who started the program.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: printf '#!/bin/sh\necho ran > ran' > mprof
// RUN: chmod +x mprof
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib \
// RUN:   -o app
// RUN: %run{external_symbolizer_path=./mprof} ./app 2> err
// RUN: not grep names err
// RUN: test ! -e ran
// RUN: ./app

#include "core.h"
#include "secure.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"

#include <unistd.h>

static void look(const struct mprof_frame *f, void *arg) {
  *(bool *)arg = f->function[0] != '\0';
}

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

int main(void) {
  CHECK(mprof_process_ready());
  become_secure(environ);
  bool has_name = true;
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  CHECK(mprof_symbolize(snap_pc(leaf, 1), look, &has_name));
  CHECK(!has_name);
  mprof_symbolize_end();
  writer_leave();
  return 0;
}
