// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the runtime before its own constructor. Only libmprof_preload.so
// contains this file. libc's constructor, which is the first of all, sets
// `environ`. The runtime reads its options there.

#include "process/process.h"

#include <unistd.h>

bool mprof_init_start_early(void) {
  return environ != NULL && !mprof_process_is_inert() && mprof_process_ready();
}
