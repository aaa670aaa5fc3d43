// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the threads of the process, without the runtime's own thread.

#ifndef MPROF_RT_THREAD_STACKS_THREAD_IDS_H
#define MPROF_RT_THREAD_STACKS_THREAD_IDS_H

#include "sys/base.h"

// The ids of the threads, in the order in which the threads were created.
struct mprof_tids {
  int *v;
  size_t len, mapped_bytes;
  size_t missing; // number of threads that the kernel has not listed
};
// Lists the threads. Threads that are created meanwhile may be missing. Returns
// 0 or -errno. After an error, the list is empty. Free *t with mprof_tids_free.
int mprof_tids_list(struct mprof_tids *t);
void mprof_tids_free(struct mprof_tids *t);

#endif // MPROF_RT_THREAD_STACKS_THREAD_IDS_H
