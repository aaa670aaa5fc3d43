// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library that counts the blocks that the program allocates, and their bytes.
// reach.py preloads it beneath MProf's library and compares the counts. At
// exit, also by _exit, it writes them to the file $COUNT_DIR/<process id>.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long blocks, bytes;

static void *count(void *p, size_t size) {
  if (p) {
    __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, size, __ATOMIC_RELAXED);
  }
  return p;
}

// The allocator's function f, which may be in libc or in a library such as
// jemalloc.
#define NEXT(f)                                                                \
  ({                                                                           \
    static __typeof__(&f) next_;                                               \
    if (!next_)                                                                \
      next_ = (__typeof__(&f))dlsym(RTLD_NEXT, #f);                            \
    next_;                                                                     \
  })

void *malloc(size_t n) { return count(NEXT(malloc)(n), n); }
void *calloc(size_t n, size_t each) {
  return count(NEXT(calloc)(n, each), n * each);
}
void *realloc(void *old, size_t n) { return count(NEXT(realloc)(old, n), n); }
void *memalign(size_t align, size_t n) {
  return count(NEXT(memalign)(align, n), n);
}
void *aligned_alloc(size_t align, size_t n) {
  return count(NEXT(aligned_alloc)(align, n), n);
}
void *valloc(size_t n) { return count(NEXT(valloc)(n), n); }
void *pvalloc(size_t n) { return count(NEXT(pvalloc)(n), n); }
int posix_memalign(void **out, size_t align, size_t n) {
  const int error = NEXT(posix_memalign)(out, align, n);
  if (error == 0)
    count(*out, n);
  return error;
}

// MProf counts the blocks of a forked child from 0, too.
static void begin_child(void) { blocks = bytes = 0; }

// The program may change its environment.
static char directory[4096];
__attribute__((constructor)) static void at_load(void) {
  const char *wanted = getenv("COUNT_DIR");
  snprintf(directory, sizeof directory, "%s", wanted ? wanted : ".");
  pthread_atfork(NULL, NULL, begin_child);
}

__attribute__((destructor(101))) static void at_exit(void) {
  char path[4200], text[64];
  snprintf(path, sizeof path, "%s/%d", directory, (int)getpid());
  const int n = snprintf(text, sizeof text, "%lu %lu\n", blocks, bytes);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0 && write(fd, text, (size_t)n) == n)
    close(fd);
}

__attribute__((noreturn)) static void leave(int status) {
  at_exit();
  for (;;)
    syscall(SYS_exit_group, status);
}
void _exit(int status) { leave(status); }
void _Exit(int status) { leave(status); }
