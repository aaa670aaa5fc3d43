// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if another thread holds the lock of the dynamic loader, frames stay
// without names after two seconds, and a message says why. A thread that holds
// the lock for a moment does not matter.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o app
// RUN: timeout 20 ./app 2>&1 | FileCheck %s --check-prefix=BUSY
// BUSY: mprof: another thread holds the lock of the dynamic loader, which the helper process of llvm-symbolizer needs; frames are shown without names
// BUSY-NOT: mprof: another
// RUN: timeout 20 ./app briefly 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BRIEFLY --allow-empty
// BRIEFLY-NOT: without names

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"

#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static sem_t held, done;

static int hold(struct dl_phdr_info *info, size_t size, void *is_brief) {
  (void)info, (void)size;
  sem_post(&held);
  if (is_brief)
    usleep(300000);
  else
    sem_wait(&done);
  return 1;
}

static void *keep_lock(void *is_brief) {
  dl_iterate_phdr(hold, is_brief);
  return NULL;
}

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

static bool has_name;
static void look(const struct mprof_frame *f, void *arg) {
  (void)arg;
  has_name = strcmp(f->function, "leaf") == 0;
}

static void name_leaf(bool expected) {
  time_t before = time(NULL);
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  has_name = false;
  CHECK(mprof_symbolize(snap_pc(leaf, 1), look, NULL));
  CHECK_EQ(has_name, expected);
  mprof_symbolize_end();
  writer_leave();
  CHECK(time(NULL) - before < 8);
}

int main(int argc, char **argv) {
  CHECK(mprof_init_ready());
  bool is_brief = argc > 1;
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, keep_lock, is_brief ? argv : NULL), 0);
  sem_wait(&held);
  for (int i = 0; i < 2; i++)
    name_leaf(is_brief);
  sem_post(&done);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  name_leaf(true);
  return 0;
}
