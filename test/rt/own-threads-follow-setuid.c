// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program can change its user id while threads of the runtime run,
// which libc then changes in each thread. (libc sends each thread a signal and
// waits for it.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{control_signal=USR2} timeout 600 ./app
// The path of a socket is short.
// RUN: d=$(mktemp -d /tmp/mprof.XXXXXX) && trap 'rm -r $d' EXIT
// RUN: %run_quiet{persist=$PWD/p:listen=unix:$d/s:snapshot_every=1h:stuck_report=3600:control_signal=USR2} \
// RUN:   timeout 600 ./app 2> err && grep 'listening at' err

#include "check.h"

#include <unistd.h>

int main(void) {
  CHECK_EQ(setuid(getuid()), 0);
  return 0;
}
