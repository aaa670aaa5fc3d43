// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for stuck threads reads the owner of a lock and does not
// crash if another thread unmaps the lock's memory at any instant. Without
// /proc, the search can still read the owner if the lock's memory is mapped.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_sys_readable -Wl,--wrap=mprof_sys_open
// RUN: %t

#include "core.h"

#include "stuck/stuck.h"
#include "sys/os.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *pages;
static uintptr_t unmaps_after;
static bool has_no_proc;

// Another thread unmaps the second page after the runtime has asked whether the
// word at unmaps_after is readable.
bool __real_mprof_sys_readable(uintptr_t addr);
bool __wrap_mprof_sys_readable(uintptr_t addr);
bool __wrap_mprof_sys_readable(uintptr_t addr) {
  const bool is_readable = __real_mprof_sys_readable(addr);
  if (unmaps_after != 0 && addr == unmaps_after)
    munmap(pages + PAGE, PAGE);
  return is_readable;
}

long __real_mprof_sys_open(const char *path, int flags, int mode);
long __wrap_mprof_sys_open(const char *path, int flags, int mode);
long __wrap_mprof_sys_open(const char *path, int flags, int mode) {
  return has_no_proc && strncmp(path, "/proc/", 6) == 0
             ? -ENOENT
             : __real_mprof_sys_open(path, flags, mode);
}

static int owner_of(const void *lock) {
  return mprof_lock_holder_of((uintptr_t)lock, MPROF_AWAITS_MUTEX).tid;
}

static pthread_mutex_t *make_held(char *at) {
  pthread_mutex_t *m = (pthread_mutex_t *)at;
  CHECK_EQ(pthread_mutex_init(m, NULL), 0);
  CHECK_EQ(pthread_mutex_lock(m), 0);
  return m;
}

int main(void) {
  pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  const pthread_mutex_t *first = make_held(pages);
  const pthread_mutex_t *second = make_held(pages + PAGE);
  has_no_proc = true;
  CHECK_EQ(owner_of(first), gettid());
  CHECK_EQ(owner_of(second), gettid());
  has_no_proc = false;
  const size_t last_word = sizeof(*second) - sizeof(uint64_t);
  unmaps_after = (uintptr_t)second + last_word;
  (void)owner_of(second);
  CHECK_EQ(munmap(pages + PAGE, PAGE), 0);
  CHECK_EQ(owner_of(second), 0);
  // The first half of this lock is mapped, and the second half is not.
  CHECK_EQ(owner_of(pages + PAGE - sizeof(pthread_mutex_t) / 2), 0);
  CHECK_EQ(owner_of(NULL), 0);
  return 0;
}
