// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler that writes the memory profile, or calls _exit, does
// not ask the allocator, which it may have interrupted with a lock held.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O0 -g %s -o app
// RUN: not --crash %run{memory=1:heap_rate=1:dump_on_signal=terminate:report=0:log_path=a} \
// RUN:   ./app 2> a.txt
// RUN: not %run{memory=1:heap_rate=1:dump_on__exit=1:report=0:log_path=b} \
// RUN:   ./app handler 2> b.txt
// RUN: not grep asked a.txt b.txt
// RUN: ls a.*.memory.pb.gz b.*.memory.pb.gz

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t interrupted;
static volatile sig_atomic_t is_inside;

// As in jemalloc. The call with a lock held would never return.
int mallctl(const char *name, void *old, size_t *old_len, void *new,
            size_t new_len);
int mallctl(const char *name, void *old, size_t *old_len, void *new,
            size_t new_len) {
  (void)name, (void)old, (void)old_len, (void)new, (void)new_len;
  if (is_inside && pthread_equal(pthread_self(), interrupted) &&
      write(2, "asked\n", 6) != 6)
    abort();
  return 1;
}

static void leave(int sig) { _exit(sig); }

int main(int argc, char **argv) {
  (void)argv;
  memset(malloc(32 << 20), 1, 32 << 20);
  if (argc > 1)
    signal(SIGTERM, leave);
  interrupted = pthread_self();
  is_inside = 1;
  raise(SIGTERM);
  return 0;
}
