// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The resident memory of the process, and the memory that it may use before the
// kernel ends it, as files of /proc and of the cgroup file system say.

#ifndef MPROF_RT_SYS_MEMORY_LIMIT_H
#define MPROF_RT_SYS_MEMORY_LIMIT_H

#include "sys/base.h"

// Returns the resident memory of the process in bytes, or 0 if it is unknown.
uint64_t mprof_sys_resident(void);
// Returns the smallest memory limit in bytes of the process's cgroup and of the
// cgroups above it. If there is no limit, returns the memory of the machine, or
// 0 if it is unknown.
uint64_t mprof_sys_cgroup_limit(void);
// The parts of mprof_sys_cgroup_limit, for tests. proc: the text of
// /proc/self/cgroup. root: directory where the file system is mounted. Returns
// UINT64_MAX if there is no limit.
uint64_t mprof_cgroup_limit_in(const char *proc, const char *root);

#endif // MPROF_RT_SYS_MEMORY_LIMIT_H
