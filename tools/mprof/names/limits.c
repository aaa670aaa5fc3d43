// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/limits.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// Each process reads the files of one program or library. Debug information
// is compressed to a third at best, and libdw's tables of lines take up to four
// times the size of .debug_line.
enum { MEMORY_FACTOR = 12, SECONDS = 30, BYTES_PER_SECOND = 4 << 20 };
static const uint64_t memory = (uint64_t)256 << 20;

static uint64_t bytes_allowed;
static uint64_t seconds_used; // before the present request
static bool waits_for_servers;

// Returns the size of the data that this process has already. RLIMIT_DATA
// counts it.
static uint64_t data_size(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "re");
  if (f) {
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers
    if (fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
      pages = 0;
    fclose(f);
  }
  return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void lower(int resource, uint64_t wanted) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
  setrlimit(resource, &limit);
}

static void apply(void) {
  static uint64_t before;
  if (before == 0)
    before = data_size();
  const uint64_t seconds = SECONDS + bytes_allowed / BYTES_PER_SECOND;
  lower(RLIMIT_DATA, before + memory + bytes_allowed * MEMORY_FACTOR);
  lower(RLIMIT_CPU, seconds_used + seconds);
  if (!waits_for_servers)
    alarm(seconds > 1000 ? 10000 : (unsigned)seconds * 10);
}

void limits_begin(bool waits) {
  waits_for_servers = waits;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // a crash leaves no core file
  apply();
}

void limits_renew(void) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) == 0)
    seconds_used =
        (uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec + 2;
  apply();
}

void limits_allow(uint64_t size) {
  // Larger files do not exist, but a damaged file system may tell so.
  const uint64_t most = (uint64_t)1 << 36;
  bytes_allowed += size < most ? size : most;
  apply();
}
