// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the option block_kinds takes names of kinds and of groups of kinds,
// joined by +. An unknown name is ignored, and a message lists all valid names.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t 2>&1 | FileCheck %s
// RUN: %run{block_kinds=cond+hotel} %t option 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTION
// RUN: %run{block_kinds=all:verbosity=0} %t option 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
//
// CHECK-NOT: mprof:
// CHECK: mprof: unknown kind 'mutexes' in option block_kinds; the groups are sync, calls and all; the kinds are mutex, rwlock, spin, cond, barrier, sem, join, once, future, futex, file, user, try, io, net, poll, sleep, child, fsync, dns, ipc, uring, call{{$}}
// CHECK-NEXT: mprof: unknown kind 'Mutex' in option block_kinds;
// CHECK-NEXT: mprof: unknown kind 'mute' in option block_kinds;
// CHECK-NEXT: mprof: unknown kind '{{(x{80})}}...' in option block_kinds;
// CHECK-NEXT: done
// OPTION: unknown kind 'hotel'
// OPTION: kinds 8{{$}}
// ALL-NOT: mprof:
// ALL: kinds 7fffff{{$}}

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "process/process.h"

#include "core.h"

#define BIT(name) (1ull << MPROF_KIND_##name)
#define KINDS(s, bits) CHECK_EQ(mprof_kinds_parse(s), bits)

int main(int argc, char **argv) {
  (void)argv;
  CHECK(mprof_process_ready());
  if (argc > 1) {
    fprintf(stderr, "kinds %llx\n",
            (unsigned long long)mprof_contention.block_kinds);
    return 0;
  }
  const unsigned long long sync = (1ull << (MPROF_KIND_user + 1)) - 1;
  const unsigned long long all = (1ull << MPROF_KIND_COUNT) - 1;
  const unsigned long long calls = all & ~sync & ~BIT(try);
  CHECK_EQ(mprof_contention.block_kinds, sync); // the default
  KINDS("", 0);
  KINDS("mutex", BIT(mutex));
  KINDS("call", BIT(call));
  KINDS("io+net", BIT(io) | BIT(net));
  KINDS("sync", sync);
  KINDS("calls", calls);
  KINDS("try", BIT(try));
  KINDS("all", all);
  KINDS("sync+calls+try", all);
  KINDS("sync+try+mutex", sync | BIT(try));
  KINDS("+sem++join+", BIT(sem) | BIT(join));
#define MPROF_KIND(Name, Group) KINDS(#Name, BIT(Name));
#include "mprof/hooks.def"
  KINDS("mutexes", 0);
  KINDS("Mutex+fsync", BIT(fsync));
  KINDS("cond+mute+spin", BIT(cond) | BIT(spin));
  char name[200];
  memset(name, 'x', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  KINDS(name, 0);
  fprintf(stderr, "done\n");
  return 0;
}
