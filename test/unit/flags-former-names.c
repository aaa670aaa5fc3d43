// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a former name of an option sets the option that has replaced it,
// without a message. The list of help=1 does not have the former name.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t
// RUN: %t 2>&1 | FileCheck %s --implicit-check-not='  top' \
// RUN:   --implicit-check-not='unknown'
// CHECK: report_top

#include "check.h"

#include "sys/flags.h"
#include "sys/flags_help.h"
#include "sys/message.h"

int main(void) {
  static struct mprof_flags f;
  mprof_message_init();
  f = mprof_flags;
  mprof_flags_parse(&f,
                    "debug=1:stop_threads=1:thread_signal=50:"
                    "children=0:top=3:threadleak=1",
                    "options");
  CHECK_EQ(f.format, 1);
  CHECK_EQ(f.threads_stop, 1);
  CHECK_EQ(f.threads_signal, 50);
  CHECK_EQ(f.follow_fork, 0);
  CHECK_EQ(f.report_top, 3);
  CHECK_EQ(f.stuck, 1);
  mprof_flags_print_help();
  return 0;
}
