// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: ALLOCATOR SEEN exact|sampled. Uses every function of the heap, in C
// and C++. Checks that each block comes from the allocator and can be written,
// and that the profile has the right counts. SEEN tells which allocations of
// code without MProf are counted:
//   all    all of them
//   c      calls of malloc, but not operator new in the C++ library
//   sites  none
// With FEW_FUNCTIONS the program's own allocator has only malloc, calloc,
// realloc and free. check_allocator_links.py builds and runs this program.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "records.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#ifdef __cplusplus
#include <new>
#include <string>
extern "C" {
#endif
void *plain_malloc(size_t size);
void *plain_realloc(void *p, size_t size);
char *plain_strdup(const char *s);
void plain_free(void *p);
extern void *plain_early;
#ifdef __cplusplus
}
#endif

#define ROUNDS 1000

static int is_exact;
static int sees_mallocs, sees_news;

// --- the allocator that a block comes from ---

// Weak references; with a preloaded allocator the functions are found there.
#ifdef __cplusplus
#define C extern "C"
#else
#define C extern
#endif
#define QUERY(Result, Name, ...)                                               \
  C Result Name(__VA_ARGS__) __attribute__((weak));                            \
  typedef Result (*Name##_query)(__VA_ARGS__);                                 \
  static Name##_query ask_##Name;
QUERY(int, mallctl, const char *, void *, size_t *, void *, size_t)
QUERY(int, MallocExtension_GetOwnership, const void *)
QUERY(int, MallocExtension_GetNumericProperty, const char *, size_t *)
QUERY(bool, mi_is_in_heap_region, const void *)
QUERY(int, own_heap_has, const void *)
QUERY(bool, own_new_has, const void *)

static int is_jemalloc_s(const void *p) {
  unsigned arena;
  size_t size = sizeof(arena);
  return ask_mallctl("arenas.lookup", &arena, &size, (void *)&p, sizeof(p)) ==
         0;
}
static int is_tcmalloc_s(const void *p) {
  return ask_MallocExtension_GetOwnership(p) == 1;
}
static int is_mimalloc_s(const void *p) { return ask_mi_is_in_heap_region(p); }
static int is_anybody_s(const void *p) { return p != NULL; }

static int (*is_its)(const void *p);

static void find_allocator(const char *name) {
#define FIND(Name)                                                             \
  (ask_##Name = Name, ask_##Name || (ask_##Name = (Name##_query)dlsym(         \
                                         RTLD_DEFAULT, #Name)) != NULL)
  if (strcmp(name, "jemalloc") == 0) {
    CHECK(FIND(mallctl));
    is_its = is_jemalloc_s;
  } else if (strcmp(name, "tcmalloc") == 0) {
    CHECK(FIND(MallocExtension_GetOwnership));
    CHECK(FIND(MallocExtension_GetNumericProperty));
    is_its = is_tcmalloc_s;
  } else if (strcmp(name, "mimalloc") == 0) {
    CHECK(FIND(mi_is_in_heap_region));
    is_its = is_mimalloc_s;
  } else if (strcmp(name, "own") == 0) {
    CHECK(FIND(own_heap_has));
    is_its = ask_own_heap_has;
  } else {
    is_its = is_anybody_s;
  }
  ask_own_new_has = own_new_has;
}

// Returns the bytes that the allocator itself has counted, or 0 if it cannot
// tell. For jemalloc these are all bytes that this thread has ever allocated,
// as it does not know at once how many are in use.
static size_t its_bytes(void) {
  size_t bytes = 0, size = sizeof(bytes);
  if (ask_mallctl) {
    CHECK(ask_mallctl("thread.allocated", &bytes, &size, NULL, 0) == 0);
  } else if (ask_MallocExtension_GetNumericProperty) {
    CHECK(ask_MallocExtension_GetNumericProperty(
        "generic.current_allocated_bytes", &bytes));
  }
  return bytes;
}

// --- each function in turn ---

static void *volatile blocks[ROUNDS];

static void *checked(void *p, size_t size) {
  CHECK(p);
  if (!is_its(p)) {
    fprintf(stderr, "size %zu: %p is not the allocator's\n", size, p);
    exit(1);
  }
#ifndef FEW_FUNCTIONS
  CHECK(ask_own_new_has || malloc_usable_size(p) >= size);
#endif
  memset(p, 0x5a, size);
  return p;
}

static void expect_size(int line, size_t size, unsigned long long allocs) {
  struct counted c = counted_of(size);
  if (is_exact ? c.allocs == allocs && c.frees == allocs
               : c.allocs == c.frees && (allocs == 0) == (c.allocs == 0))
    return;
  fprintf(stderr, "line %d, size %zu: %llu allocs, %llu frees, expected %llu\n",
          line, size, c.allocs, c.frees, allocs);
  exit(1);
}

// Allocates blocks of a size used nowhere else, then frees them.
#define EACH(Size, Get, Drop, Allocs)                                          \
  do {                                                                         \
    const size_t n = (Size);                                                   \
    size_t before = its_bytes();                                               \
    for (int i = 0; i < ROUNDS; i++)                                           \
      blocks[i] = checked((void *)(Get), n);                                   \
    CHECK(!before || its_bytes() >= before + n * ROUNDS);                      \
    for (int i = 0; i < ROUNDS; i++) {                                         \
      void *p = blocks[i];                                                     \
      Drop;                                                                    \
    }                                                                          \
    expect_size(__LINE__, n, Allocs);                                          \
  } while (0)
#define SITE(Size, Get, Drop) EACH(Size, Get, Drop, ROUNDS)

#ifndef FEW_FUNCTIONS
static void *by_posix_memalign(size_t align, size_t size) {
  void *p = NULL;
  CHECK(posix_memalign(&p, align, size) == 0);
  CHECK((uintptr_t)p % align == 0);
  return p;
}
#endif

static char text[1400];

static const char *text_of(size_t size) {
  memset(text, 'x', size - 1);
  text[size - 1] = 0;
  return text;
}

#ifndef FEW_FUNCTIONS
static void aligned_functions(void) {
  SITE(1007, reallocarray(NULL, 1, n), free(p));
  SITE(1024, aligned_alloc(64, n), free(p));
  SITE(1008, by_posix_memalign(8, n), free(p));
  SITE(1009, by_posix_memalign(64, n), free(p));
  SITE(1010, by_posix_memalign(8192, n), free(p));
  SITE(1011, memalign(256, n), free(p));
  SITE(1012, valloc(n), free(p));
}
#endif

static const wchar_t *wide_text_of(size_t chars) {
  static wchar_t wide[400];
  wmemset(wide, L'x', chars - 1);
  wide[chars - 1] = 0;
  return wide;
}

static void c_functions(void) {
  SITE(1001, malloc(n), free(p));
  SITE(1002, calloc(1, n), free(p));
  SITE(1003, realloc(NULL, n), free(p));
  SITE(100, malloc(n), blocks[i] = realloc(p, 1004); free(blocks[i]));
  expect_size(__LINE__, 1004, ROUNDS);
  SITE(1005, strdup(text_of(n)), free(p));
  SITE(1006, strndup(text_of(n), n), free(p));
  SITE(258 * 4, wcsdup(wide_text_of(n / 4)), free(p));
#ifndef FEW_FUNCTIONS
  aligned_functions();
#endif
  for (int i = 0; i < 50; i++) {
    void *volatile p = checked(malloc(300000), 300000);
    p = checked(realloc(p, 600000), 600000);
    p = checked(realloc(p, 1013), 1013);
    free(p);
  }
  if (is_exact) {
    expect_size(__LINE__, 300000, 50);
    expect_size(__LINE__, 600000, 50);
    expect_size(__LINE__, 1013, 50);
  }
}

static void code_without_mprof(void) {
  const int seen = sees_mallocs ? ROUNDS : 0;
  EACH(1020, plain_malloc(n), plain_free(p), seen);
  EACH(1021, plain_malloc(n), free(p), seen);
  EACH(1022, plain_realloc(NULL, n), free(p), seen);
  EACH(1023, plain_strdup(text_of(n)), plain_free(p), seen);
  EACH(1025, plain_strdup(text_of(n)), free(p), seen);
  if (sees_mallocs) {
    EACH(1026, malloc(n), plain_free(p), ROUNDS);
    EACH(1027, malloc(n), blocks[i] = plain_realloc(p, 2000);
         free(blocks[i]), ROUNDS);
    expect_size(__LINE__, 2000, ROUNDS);
    EACH(1028, plain_malloc(n), blocks[i] = realloc(p, 2001);
         free(blocks[i]), ROUNDS);
    expect_size(__LINE__, 2001, ROUNDS);
  } else {
    // These frees are not seen, but nothing goes wrong.
    for (int i = 0; i < ROUNDS; i++) {
      plain_free(checked(malloc(1026), 1026));
      free(checked(plain_realloc(malloc(1027), 2000), 2000));
      free(checked(realloc(plain_malloc(1028), 2001), 2001));
    }
  }
}

// Blocks that one thread allocates and another frees.
static void *make_blocks(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++)
    blocks[i] = checked(malloc(1030), 1030);
  return NULL;
}
static void threads(void) {
  for (int round = 0; round < 4; round++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, make_blocks, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
      free(blocks[i]);
  }
  expect_size(__LINE__, 1030, 4 * ROUNDS);
}

// A forked child has an allocator and a profile of its own.
static void forks(void) {
  void *mine = checked(malloc(1050), 1050);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    free(mine);
    SITE(1051, malloc(n), free(p));
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  free(mine);
}

#ifdef __cplusplus
struct alignas(64) Line {
  char bytes[64];
};

static void *of_operator(void *p) {
  CHECK(!ask_own_new_has || ask_own_new_has(p));
  return p;
}

static void cxx_operators() {
  SITE(1101, of_operator(operator new(n)), operator delete(p));
  SITE(1102, of_operator(operator new(n, std::nothrow)), operator delete(p, n));
  SITE(1105, of_operator(operator new[](n)), operator delete[](p));
  SITE(1106,
       of_operator(operator new[](n, std::nothrow)), operator delete[](p, n));
  SITE(1110, of_operator(operator new(n)), operator delete(p, n));
#ifndef FEW_FUNCTIONS
  using std::align_val_t;
  SITE(1103, of_operator(operator new(n, align_val_t(128))),
             operator delete(p, align_val_t(128)));
  SITE(1104, of_operator(operator new(n, align_val_t(128), std::nothrow)),
             operator delete(p, n, align_val_t(128)));
  SITE(1107, of_operator(operator new[](n, align_val_t(128))),
             operator delete[](p, align_val_t(128)));
  SITE(1108, of_operator(operator new[](n, align_val_t(128), std::nothrow)),
             operator delete[](p, n, align_val_t(128)));
  SITE(64 * 20, of_operator(new Line[20]), delete[] static_cast<Line *>(p));
#endif
  // malloc in the program's own operator is part of the operator's block.
  expect_size(__LINE__, 1101 + 32, 0);
  // Allocations inside the C++ library, in which the operator has no site.
  for (int i = 0; i < ROUNDS; i++) {
    std::string s;
    s.reserve(1119);
  }
  expect_size(__LINE__, 1120, sees_news && !ask_own_new_has ? ROUNDS : 0);
}
#endif

int main(int argc, char **argv) {
  CHECK(argc == 4);
  find_allocator(argv[1]);
  sees_news = strcmp(argv[2], "all") == 0;
  sees_mallocs = sees_news || strcmp(argv[2], "c") == 0;
  is_exact = strcmp(argv[3], "exact") == 0;
  c_functions();
  code_without_mprof();
  threads();
  forks();
  plain_early = checked(realloc(plain_early, 1041), 1041);
#ifdef __cplusplus
  cxx_operators();
#endif
  puts("ok");
  return 0;
}
