// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process prints at most 16 messages, and then one message which says
// that more messages are suppressed. Each message is on one line, whatever text
// it contains. Messages that must be printed at exit are always printed.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: %t 2>&1 | FileCheck %s --implicit-check-not=number
// CHECK-COUNT-16: mprof: number?one
// CHECK-NEXT: mprof: further messages are suppressed
// CHECK-NEXT: mprof: the last

#include "core.h"

#include "sys/message.h"

int main(void) {
  mprof_message_init();
  for (int i = 0; i < 30; i++)
    mprof_message("number\none");
  mprof_message_always("the last");
  return 0;
}
