// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the mappings of smaps are read with their names, rights and bytes,
// also if a name has blanks or a line of a mapping is cut. Unknown fields are
// skipped.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "memory/process_memory.h"

#include "check.h"

#include <string.h>

static const char text[] =
    "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a b\n"
    "Size:                328 kB\n"
    "Rss:                 200 kB\n"
    "Pss:                  50 kB\n"
    "Pss_Dirty:            40 kB\n"
    "Private_Dirty:        12 kB\n"
    "VmFlags: rd ex mr mw me \n"
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "Rss:                 132 kB\n"
    "LazyFree:              8 kB\n"
    "Private_Hugetlb:    2048 kB\n"
    "Swap:                 16 kB\n"
    "SwapPss:               4 kB\n"
    "7f0000021000-7f0000022000 ---s 00000000 00:00 0 [x]\n"
    "7f00000";

int main(void) {
  struct mprof_process p = {0};
  CHECK_EQ(mprof_process_parse(&p, text, strlen(text)), 0);
  CHECK_EQ(p.mappings_len, 3);
  const struct mprof_mapped *m = p.mappings;
  CHECK(strcmp(mprof_process_name(&p, &m[0]), "/usr/bin/a b") == 0);
  CHECK(m[0].is_readable && !m[0].is_writable && m[0].is_executable &&
        !m[0].is_shared);
  CHECK_EQ(m[0].offset, 0x1000);
  CHECK_EQ(m[0].inode, 173521);
  CHECK_EQ(m[0].usage.mapped, 0x52000);
  CHECK_EQ(m[0].usage.rss, 200 * 1024);
  CHECK_EQ(m[0].usage.pss, 50 * 1024);
  CHECK_EQ(m[0].usage.private_dirty, 12 * 1024);
  CHECK(strcmp(mprof_process_name(&p, &m[1]), "") == 0);
  CHECK_EQ(m[1].usage.rss, 132 * 1024);
  CHECK_EQ(m[1].usage.swap, 16 * 1024);
  CHECK_EQ(p.lazy_free, 8 * 1024);
  CHECK_EQ(p.hugetlb, 2048 * 1024);
  CHECK(!m[2].is_readable && m[2].is_shared);
  CHECK(mprof_process_at(&p, 0x400000) == &m[0]);
  CHECK(mprof_process_at(&p, 0x452000) == NULL);
  CHECK(mprof_process_at(&p, 0x7f0000020fff) == &m[1]);
  CHECK(mprof_process_at(&p, 0x7f0000022000) == NULL);
  mprof_process_close(&p);
  return 0;
}
