// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the kernel limits the memory or the address space of the program. The
// program's allocations then fail and succeed just as they do without MProf.
// Events that could not be counted are reported at exit, when the program has
// released memory again.
//
// The limit on data counts memory that is mapped writable, used or not, as the
// kernel does with vm.overcommit_memory=2, but for one process.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin %s -o plain
// RUN: %mprof_clang -fmprof -fno-builtin -O1 %s -o app
// RUN: for limit in "-d 40000" "-v 90000"; do \
// RUN:   (ulimit -S $limit; ./plain > expected) || exit 1; \
// RUN:   grep -qx "filled: ENOMEM" expected || exit 1; \
// RUN:   for mode in heap_rate=1 seed=3 heap_rate=1:heapx=1; do \
// RUN:     (ulimit -S $limit; %run{$mode:symbolize=0:log_path=out} \
// RUN:       ./app > out 2> err) || exit 1; \
// RUN:     echo "$limit $mode" && diff expected out || exit 1; \
// RUN:     grep -q "^mprof: wrote out.[0-9]*.heap.pb.gz" err || exit 1; \
// RUN:     rm out.*; \
// RUN:   done; \
// RUN: done
//
// Many stacks, and no memory left for them when the limit is reached.
// RUN: (ulimit -S -d 40000; %run{heap_rate=1:symbolize=0:log_path=many} \
// RUN:   ./app many > out 2> err)
// RUN: grep -qx "sum 1000000" out
// RUN: grep -q "incomplete: no_memory [1-9]" err

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void *volatile sink;

struct link {
  struct link *next;
};

// Allocates all memory in blocks of a size. The number of blocks does not
// matter, as the profiler takes a part.
static struct link *fill(size_t size, size_t at_least) {
  struct link *all = NULL, *p;
  size_t n = 0;
  errno = 0;
  for (; (p = malloc(size)); n++) {
    p->next = all;
    all = p;
  }
  printf("filled: %s\n", errno != ENOMEM ? "no"
                         : n < at_least  ? "early"
                                         : "ENOMEM");
  return all;
}

static void release(struct link *all) {
  while (all) {
    struct link *next = all->next;
    free(all);
    all = next;
  }
}

static void show(const char *what, void *p) {
  printf("%s: %s, %s\n", what, p ? "a block" : "NULL",
         errno == ENOMEM ? "ENOMEM"
         : errno == 0    ? "no error"
                         : "another error");
  errno = 0;
}

int main(int argc, char **argv) {
  size_t sum = 0;
  struct link *kept = NULL;
  if (argc > 1 && strcmp(argv[1], "many") == 0)
    kept = fill(1 << 10, 10000);
  if (!kept) {
    char *old = strcpy(malloc(200), "text");
    struct link *all = fill(100 << 10, 200);
    errno = 0;
    show("malloc", sink = malloc(8 << 20));
    show("calloc", sink = calloc(8, 1 << 20));
    show("realloc", sink = realloc(old, 8 << 20));
    void *out = NULL;
    printf("posix_memalign: %d\n",
           posix_memalign(&out, 4096, 8 << 20) == ENOMEM && !out);
    printf("kept: %s\n", old);
    release(all);
    show("malloc again", sink = malloc(1 << 20));
    free(sink);
    show("realloc again", sink = realloc(old, 1 << 20));
    printf("kept: %s\n", (char *)sink);
    free(sink);
  } else {
    release(kept->next->next); // memory that the program needs to go on
  }
  for (size_t i = 0; i < 1000000; i++) {
    char *p = malloc(16 + i % 20000);
    if (!p)
      continue;
    *p = 1;
    sink = p;
    sum += (size_t)*(char *)sink;
    free(sink);
  }
  printf("sum %zu\n", sum);
  for (int what = 0; what < 2; what++) {
    struct rlimit limit;
    int which = what ? RLIMIT_AS : RLIMIT_DATA;
    getrlimit(which, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(which, &limit);
  }
  return 0;
}
