// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the time of the slowest tasks went to together. A single slow task may
// be a chance, such as one that had no processor; what many have in common is
// not.

#ifndef MPROF_TRACE_TASK_CAUSES_H
#define MPROF_TRACE_TASK_CAUSES_H

#include "task_latency.h"

// Parts of several tasks: in the same state, and waiting for the lock of the
// same name, or else at the same line.
struct task_cause {
  const struct task_part *largest;
  uint64_t ns;
  size_t tasks;
};

struct task_causes {
  struct task_cause *v; // largest first
  size_t count, capacity;
  uint64_t ns; // of all these tasks
};

// Returns the causes of the tasks whose times latency_find_slowest has found,
// which must stay until task_causes_free.
struct task_causes task_causes_find(const struct latency *l);
void task_causes_free(struct task_causes *c);

#endif
