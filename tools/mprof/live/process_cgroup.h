// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cgroup of a process counts as memory. A container is stopped by this
// number, which has pages of files that no process maps (page cache).

#ifndef MPROF_TOOL_PROCESS_CGROUP_H
#define MPROF_TOOL_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct process_cgroup {
  uint64_t used;  // bytes
  uint64_t cache; // bytes of the page cache, a part of used
  uint64_t limit; // bytes; UINT64_MAX: none
};

// Reads the numbers of the cgroup of a process. Returns false if it has none,
// or only the root, which is the machine.
// proc: the text of /proc/PID/cgroup. root: where cgroups are mounted.
bool process_cgroup_read(const char *proc, const char *root,
                         struct process_cgroup *c);
bool process_cgroup(int pid, struct process_cgroup *c);

#endif
