// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the program does not notice that MProf runs mprof to find the names
// of frames, or reads kept names. Afterwards no child process, signal,
// descriptor, mapping or text on stdout is left over. This holds even if
// SIGCHLD is ignored or the calling thread has a small stack.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// DEFINE: %{app} = %run{symbolizer_cache=0} ./app
// RUN: %{app} > out && test ! -s out
// RUN: %{app} ignore > out && test ! -s out
// RUN: %{app} >&- <&-
//
// The second process reads kept names, at first in the thread with a small
// stack. The third one shows that.
// DEFINE: %{kept} = env XDG_CACHE_HOME=$PWD/cache ./app
// RUN: %{kept} small > out && test ! -s out
// RUN: %{kept} small > out && test ! -s out && %{kept} >&- <&-
// RUN: sed -i s/leaf/feal/ cache/mprof/names-* && not %{kept} small

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"
#include "sys/os.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static volatile sig_atomic_t signals;
static void on_signal(int number) {
  (void)number;
  signals++;
}

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

static bool has_name;
static void look(const struct mprof_frame *f, void *arg) {
  (void)arg;
  has_name = strcmp(f->function, "leaf") == 0 && f->line > 0;
}

static size_t count_descriptors(void) {
  DIR *d = opendir("/proc/self/fd");
  size_t n = 0;
  while (readdir(d) != NULL)
    n++;
  closedir(d);
  return n;
}

static size_t count_mapped(void) {
  struct mprof_procfile f;
  size_t n = 0;
  CHECK_EQ(mprof_procfile_read(&f, "/proc/self/maps"), 0);
  for (size_t i = 0; i < f.len; i++)
    n += f.data[i] == '\n';
  mprof_procfile_free(&f);
  return n;
}

static void *name_one(void *arg) {
  (void)arg;
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  has_name = false;
  CHECK(mprof_symbolize(snap_pc(leaf, 1), look, NULL));
  CHECK(has_name);
  CHECK(!mprof_symbolize(0x1234, look, NULL));
  mprof_symbolize_end();
  writer_leave();
  return NULL;
}

static void name_with_small_stack(void) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  CHECK_EQ(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN), 0);
  CHECK_EQ(pthread_create(&thread, &attr, name_one, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(int argc, char **argv) {
  CHECK(mprof_process_ready());
  const char *mode = argc > 1 ? argv[1] : "";
  signal(SIGCHLD, strcmp(mode, "ignore") == 0 ? SIG_IGN : on_signal);
  signal(SIGPIPE, on_signal);
  if (strcmp(mode, "small") == 0)
    name_with_small_stack();
  name_one(NULL);
  size_t descriptors = count_descriptors(), mapped = count_mapped();
  name_one(NULL);
  CHECK_EQ(count_descriptors(), descriptors);
  CHECK_EQ(count_mapped(), mapped);
  CHECK(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
  // The emulator makes each new process with SIGCHLD as its signal.
  if (getenv("MPROF_TEST_EMULATED") == NULL)
    CHECK_EQ(signals, 0);

  name_with_small_stack();
  return 0;
}
