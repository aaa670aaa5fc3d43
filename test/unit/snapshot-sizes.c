// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the options snapshot_every and snapshot_at_rss accept times and lists
// of sizes, and nothing else. The memory limit is the smallest of a process's
// cgroup and the cgroups above it, in both versions of cgroups.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/a/b %t.dir/memory/c && cd %t.dir
// RUN: echo 3000 > a/memory.max && echo max > a/b/memory.max
// RUN: echo 2000 > memory/c/memory.limit_in_bytes && echo 7000 > memory.max
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app

#include "check.h"
#include "init.h"
#include "sys/os.h"

static void check_sizes(const char *s, int count, uint64_t a, uint64_t b) {
  uint64_t sizes[3] = {0};
  CHECK_EQ(mprof_snapshot_sizes(s, 1000, sizes, 3), count);
  CHECK_EQ(sizes[0], a);
  CHECK_EQ(sizes[1], b);
}

int main(void) {
  CHECK_EQ(mprof_snapshot_seconds("60"), 60);
  CHECK_EQ(mprof_snapshot_seconds("60s"), 60);
  CHECK_EQ(mprof_snapshot_seconds("5m"), 300);
  CHECK_EQ(mprof_snapshot_seconds("2h"), 7200);
  CHECK_EQ(mprof_snapshot_seconds("s"), 0);
  CHECK_EQ(mprof_snapshot_seconds("5 m"), 0);
  CHECK_EQ(mprof_snapshot_seconds("99999999999999999999"), 0);

  check_sizes("80%", 1, 800, 0);
  check_sizes("90%+80%", 2, 800, 900);
  check_sizes("2k+100", 2, 100, 2048);
  check_sizes("1m", 1, 1 << 20, 0);
  CHECK_EQ(mprof_snapshot_sizes("101%", 1000, (uint64_t[1]){0}, 1), -1);
  CHECK_EQ(mprof_snapshot_sizes("5x", 1000, (uint64_t[1]){0}, 1), -1);
  CHECK_EQ(mprof_snapshot_sizes("1+2", 1000, (uint64_t[1]){0}, 1), -1);
  CHECK_EQ(mprof_snapshot_sizes("80%", 0, (uint64_t[1]){0}, 1), 0);

  CHECK_EQ(mprof_cgroup_limit_in("0::/a/b\n", "."), 3000);
  CHECK_EQ(mprof_cgroup_limit_in("0::/gone\n", "."), 7000);
  CHECK_EQ(mprof_cgroup_limit_in("5:cpu:/a\n4:cpu,memory:/c\n0::/a", "."),
           2000);
  CHECK_EQ(mprof_cgroup_limit_in("4:cpumemory:/c\n", "."), UINT64_MAX);
  CHECK_EQ(mprof_cgroup_limit_in("4:memory:/none\n", "."), UINT64_MAX);
  CHECK(mprof_sys_resident().all > 100000);
  return 0;
}
