// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory of a cgroup is read in both versions of cgroups, with the
// page cache apart. A process in the root has no cgroup of its own, and a
// number without a limit is no limit.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/a/b %t.dir/memory/c && cd %t.dir
// RUN: echo 5000 > a/b/memory.current && echo max > a/b/memory.max
// RUN: printf 'anon 1000\nfile 2000\nfile_mapped 7\n' > a/b/memory.stat
// RUN: echo 700 > memory/c/memory.usage_in_bytes
// RUN: echo 9000 > memory/c/memory.limit_in_bytes
// RUN: printf 'cache 1\nrss 2\ntotal_cache 300\n' > memory/c/memory.stat
// RUN: %unit -D_GNU_SOURCE -I%src/tools/mprof -I%src/tools %s \
// RUN:   %src/tools/mprof/live/process_cgroup.c %src/tools/common/memory.c \
// RUN:   %rtlib -o app && ./app

#include "check.h"

#include "live/process_cgroup.h"

int main(void) {
  struct process_cgroup c;
  CHECK(process_cgroup_read("0::/a/b\n", ".", &c));
  CHECK(c.used == 5000 && c.cache == 2000 && c.limit == UINT64_MAX);
  CHECK(process_cgroup_read("9:name=x:/a/b\n4:cpu,memory:/c\n0::/\n", ".", &c));
  CHECK(c.used == 700 && c.cache == 300 && c.limit == 9000);
  CHECK(!process_cgroup_read("4:cpu:/c\n1:memory2:/c\n0::/\n", ".", &c));
  CHECK(!process_cgroup_read("0::/none\n", ".", &c));
  CHECK(!process_cgroup_read("", ".", &c));
  return 0;
}
