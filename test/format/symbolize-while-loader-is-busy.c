// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if another thread holds the lock of the dynamic loader, frames in
// files still have names. Only code that the program has copied out of its file
// has no names after two seconds, and a message says why. If the thread holds
// the lock only briefly, there is no message.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o app \
// RUN:   -Wl,-u,mprof_wants_sanitizer \
// RUN:   -Wl,--wrap=mprof_helper_start,--wrap=mprof_helper_receive
// RUN: timeout 600 ./app 2>&1 | FileCheck %s --check-prefix=BUSY
// BUSY: mprof: another thread holds the lock of the dynamic loader, so MProf cannot start llvm-symbolizer; frames are shown without names
// BUSY-NOT: mprof: another
// RUN: timeout 600 ./app briefly 2>&1 | FileCheck %s --check-prefix=BRIEFLY --allow-empty
// BRIEFLY-NOT: without names

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"
#include "sys/helper_process.h"

#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

static sem_t held, done;
static pthread_t holder;
static bool is_held, is_brief;

static int hold(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)info, (void)size, (void)arg;
  sem_post(&held);
  sem_wait(&done);
  return 1;
}

static void *keep_lock(void *arg) {
  dl_iterate_phdr(hold, NULL);
  return arg;
}

static void release(void) {
  sem_post(&done);
  CHECK_EQ(pthread_join(holder, NULL), 0);
  is_held = false;
}

// A lock that is held briefly is free at the second try.
int __real_mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                              bool keeps_stderr);
int __wrap_mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                              bool keeps_stderr);
int __wrap_mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                              bool keeps_stderr) {
  static int tries;
  if (is_brief && is_held && tries++ == 1)
    release();
  return __real_mprof_helper_start(h, main, keeps_stderr);
}

// If the lock is free, a busy machine has time to start the helper.
long __real_mprof_helper_receive(int fd, void *data, size_t len, int ms);
long __wrap_mprof_helper_receive(int fd, void *data, size_t len, int ms);
long __wrap_mprof_helper_receive(int fd, void *data, size_t len, int ms) {
  return __real_mprof_helper_receive(fd, data, len, is_held ? ms : 60000);
}

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

// Has a page of its own, which move_away replaces.
__attribute__((noinline, aligned(4096))) void moved(void) {
  __asm__ volatile(".fill 4096, 1, 0x90");
}

// Replaces the page of `moved` by a copy that is not a mapping of the file, as
// programs do that move their code into large pages.
static void move_away(void) {
  static char copy[4096];
  memcpy(copy, (void *)moved, sizeof(copy));
  void *page = mmap((void *)moved, sizeof(copy), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(page == (void *)moved);
  memcpy(page, copy, sizeof(copy));
  CHECK_EQ(mprotect(page, sizeof(copy), PROT_READ | PROT_EXEC), 0);
}

static bool has_name;
static void look(const struct mprof_frame *f, void *name) {
  has_name = strcmp(f->function, name) == 0;
}

// Names both functions. is_free: nobody keeps the lock of the loader. For
// copied code, sanitizer_common looks one instruction before a return address.
static void name_both(bool is_free) {
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  has_name = false;
  CHECK(mprof_symbolize(snap_pc(moved, 4), look, "moved"));
  CHECK_EQ(has_name, is_free);
  CHECK(mprof_symbolize(snap_pc(leaf, 1), look, "leaf"));
  CHECK(has_name);
  mprof_symbolize_end();
  writer_leave();
}

int main(int argc, char **argv) {
  CHECK(mprof_init_ready());
  move_away();
  (void)argv;
  is_brief = argc > 1;
  is_held = true;
  CHECK_EQ(pthread_create(&holder, NULL, keep_lock, NULL), 0);
  sem_wait(&held);
  for (int i = 0; i < 2; i++)
    name_both(is_brief);
  if (is_held)
    release();
  name_both(true);
  return 0;
}
