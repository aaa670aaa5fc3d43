// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the threads of the process; see thread_ids.h.

#include "thread_stacks/thread_ids.h"

#include "sys/os_memory.h"
#include "thread/own_thread.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"

#include <errno.h>

void mprof_tids_free(struct mprof_tids *t) {
  if (t->v)
    mprof_os_unmap(t->v, t->mapped_bytes);
  t->v = NULL;
}

int mprof_tids_list(struct mprof_tids *t) {
  size_t cap = 1024;
  for (;;) {
    *t = (struct mprof_tids){.mapped_bytes = cap * sizeof(int)};
    t->v = mprof_os_map(t->mapped_bytes);
    if (!t->v)
      return -ENOMEM;
    long n = mprof_proc_threads(t->v, cap, &t->missing);
    if (n >= 0 && (size_t)n <= cap) {
      for (size_t i = 0; i < (size_t)n; i++)
        if (!mprof_is_own_thread(t->v[i]))
          t->v[t->len++] = t->v[i];
      return 0;
    }
    mprof_tids_free(t);
    if (n < 0)
      return (int)n;
    // The larger array has room for threads that are created before the next
    // try.
    cap = (size_t)n + n / 8 + 64;
  }
}
