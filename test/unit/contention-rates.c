// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_set_block_rate and mprof_set_mutex_fraction return the previous
// value. A negative fraction only queries the fraction, and a negative block
// rate means 0. __mprof_sync_kinds, which instrumented code reads, changes at
// once.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/tls.h"

#include "core.h"

#include <errno.h>
#include <limits.h>

static uint64_t no_time(void) { return 1; }

#define BIT(name) (1ull << MPROF_KIND_##name)
static const unsigned long long sync_kinds =
    (1ull << (MPROF_KIND_user + 1)) - 1;
static const unsigned long long mutex_kinds =
    BIT(mutex) | BIT(rwlock) | BIT(spin) | BIT(cond) | BIT(user) | BIT(futex);

static uint64_t rate(void) { return atomic_load(&mprof_contention.block_rate); }

int main(void) {
  errno = 77;
  CHECK(mprof_process_ready());
  mprof_clock_set(no_time, 2000000000);
  CHECK_EQ(__mprof_sync_kinds, 0);

  CHECK_EQ(mprof_set_mutex_fraction(-1), 0);
  CHECK_EQ(mprof_set_mutex_fraction(7), 0);
  CHECK_EQ(mprof_set_mutex_fraction(-5), 7);
  CHECK_EQ(__mprof_sync_kinds, mutex_kinds);
  CHECK_EQ(mprof_set_mutex_fraction(0), 7);
  CHECK_EQ(__mprof_sync_kinds, 0);
  CHECK_EQ(mprof_set_mutex_fraction(INT_MAX), 0);
  CHECK_EQ(mprof_set_mutex_fraction(0), INT_MAX);

  CHECK_EQ(mprof_set_block_rate(500), 0);
  CHECK_EQ(rate(), 1000); // 2 ticks per nanosecond
  CHECK_EQ(__mprof_sync_kinds, sync_kinds);
  CHECK_EQ(mprof_set_mutex_fraction(1), 0);
  CHECK_EQ(__mprof_sync_kinds, sync_kinds | mutex_kinds);
  CHECK_EQ(mprof_set_block_rate(1), 500);
  CHECK_EQ(rate(), 1); // every wait, even of a single tick
  CHECK_EQ(mprof_set_block_rate(0), 1);
  CHECK_EQ(rate(), 0);
  CHECK_EQ(__mprof_sync_kinds, mutex_kinds);
  CHECK_EQ(mprof_set_block_rate(-3), 0);
  CHECK_EQ(rate(), 0);
  CHECK_EQ(mprof_set_block_rate(INT64_MAX), 0);
  CHECK_EQ(mprof_set_block_rate(0), INT64_MAX);
  CHECK_EQ(mprof_set_mutex_fraction(0), 1);
  CHECK_EQ(__mprof_sync_kinds, 0);

  // The rate in ticks is never 0: a short rate would switch the profile off.
  mprof_clock_set(no_time, 1000);
  CHECK_EQ(mprof_set_block_rate(1), 0);
  CHECK_EQ(rate(), 1);

  mprof_guard_enter(); // as in a signal handler that interrupts the runtime
  CHECK_EQ(mprof_set_block_rate(9), 0);
  CHECK_EQ(mprof_set_mutex_fraction(9), 0);
  mprof_guard_leave();
  CHECK_EQ(mprof_set_mutex_fraction(-1), 0);
  CHECK_EQ(mprof_set_block_rate(0), 1);
  CHECK_EQ(errno, 77);
  return 0;
}
