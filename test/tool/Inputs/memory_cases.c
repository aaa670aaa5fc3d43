// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memory_cases CASE: uses memory in one way, prints "PART BYTES" for what it
// knows of it, and waits for the end of its standard input. Without an
// argument, prints the cases.

#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static void *touched(void *p, size_t n) { return memset(p, 1, n); }

static void *pages(size_t n, int flags, int fd) {
  void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (p == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return p;
}

static void say(const char *part, size_t bytes) {
  printf("%s %zu\n", part, bytes);
}

// --- malloc ---

static void leak(void) {
  for (int i = 0; i < 200000; i++)
    touched(malloc(100), 100);
  say("malloc: in use", 200000u * 112);
}

// Blocks of 208 bytes, of which every second one is freed.
static void fragments(void) {
  enum { N = 200000 };
  char **v = calloc(N, sizeof *v);
  for (int i = 0; i < N; i++)
    v[i] = touched(malloc(200), 200);
  for (int i = 0; i < N; i += 2)
    free(v[i]);
  say("malloc: free", N / 2 * 208u);
  say("malloc: in use", N / 2 * 208u + N * sizeof *v);
}

// Small freed blocks stay in fast bins until malloc gets a larger request, as
// from printf.
static void fast_bins(void) {
  enum { N = 200000 };
  static char *v[N];
  for (int i = 0; i < N; i++)
    v[i] = touched(malloc(72), 72);
  say("malloc: cached", N * 80u);
  for (int i = 0; i < N; i++)
    free(v[i]);
}

static void heap_end(void) {
  enum { N = 20000 };
  static char *v[N];
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  for (int i = 0; i < N; i++)
    v[i] = touched(malloc(1100), 1100);
  for (int i = N; i-- > 0;)
    free(v[i]);
  say("malloc: end of heap", N * 1120u);
}

static void large_blocks(void) {
  for (int i = 0; i < 3; i++)
    touched(malloc(10 * MIB), 10 * MIB);
  say("malloc: in use", 30 * MIB);
}

static void large_block_touched_partly(void) {
  touched(malloc(100 * MIB), 10 * MIB);
  say("malloc: in use", 10 * MIB);
}

static void aligned_blocks(void) {
  void *p;
  for (int i = 0; i < 4; i++)
    if (posix_memalign(&p, 2 * MIB, 4 * MIB) == 0)
      touched(p, 4 * MIB);
  say("malloc: in use", 16 * MIB);
}

static void grown_block(void) {
  char *p = malloc(MIB);
  for (size_t n = 2 * MIB; n <= 32 * MIB; n *= 2)
    p = realloc(p, n);
  touched(p, 32 * MIB);
  say("malloc: in use", 32 * MIB);
}

static pthread_barrier_t done;

static void *in_arena(void *arg) {
  (void)arg;
  for (int i = 0; i < 5000; i++)
    touched(malloc(200), 200);
  pthread_barrier_wait(&done);
  pause();
  return NULL;
}

static void start(int n, void *(*f)(void *), const pthread_attr_t *a) {
  pthread_t t;
  pthread_barrier_init(&done, NULL, (unsigned)n + 1);
  for (int i = 0; i < n; i++)
    if (pthread_create(&t, a, f, NULL) != 0)
      exit(1);
  pthread_barrier_wait(&done);
}

static void arenas(void) {
  mallopt(M_ARENA_MAX, 64);
  start(64, in_arena, NULL);
  say("malloc: in use", 64 * 5000u * 208);
}

// Each arena has several heaps of 64 MiB. A block's 4,096 bytes lie on two
// pages.
static void *in_large_arena(void *arg) {
  (void)arg;
  for (int i = 0; i < 150; i++)
    touched(malloc(MIB), 4096);
  pthread_barrier_wait(&done);
  pause();
  return NULL;
}

static void heaps_of_arenas(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  start(2, in_large_arena, NULL);
  say("malloc: in use", 300u * 2 * PAGE);
}

// --- stacks ---

static void *deep(void *arg) {
  volatile char frame[3 * MIB];
  (void)arg;
  for (size_t i = 0; i < sizeof frame; i += PAGE)
    frame[i] = 1;
  pthread_barrier_wait(&done);
  pause();
  return NULL;
}

static void stacks(void) {
  pthread_attr_t a;
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, 4 * MIB);
  start(10, deep, &a);
  say("thread stacks", 30 * MIB);
}

static void main_stack(void) {
  volatile char frame[5 * MIB];
  for (size_t i = 0; i < sizeof frame; i += PAGE)
    frame[i] = 1;
  say("thread stacks", 5 * MIB);
  fflush(stdout);
  while (getchar() != EOF)
    ;
}

// --- mappings ---

static void pool(void) {
  touched(pages(20 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1), 10 * MIB);
  say("anonymous memory", 10 * MIB);
}

static void many_mappings(void) {
  enum { N = 30000 };
  char *p = pages((size_t)2 * N * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  for (size_t i = 0; i < N; i++) {
    mprotect(p + 2 * i * PAGE, PAGE, PROT_NONE);
    p[(2 * i + 1) * PAGE] = 1;
  }
  say("anonymous memory", (size_t)N * PAGE);
}

static void given_back(void) {
  char *p = pages(20 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  touched(p, 20 * MIB);
  madvise(p, 15 * MIB, MADV_DONTNEED);
  say("anonymous memory", 5 * MIB);
}

static void given_back_lazily(void) {
  char *p = pages(20 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  touched(p, 20 * MIB);
  madvise(p, 20 * MIB, MADV_FREE);
  say("anonymous memory", 20 * MIB);
}

static void huge_pages(void) {
  char *p = pages(32 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  madvise(p, 32 * MIB, MADV_HUGEPAGE);
  touched(p, 32 * MIB);
  say("anonymous memory", 32 * MIB);
}

static void mapped_file(void) {
  char name[] = "memory_cases.XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  if (ftruncate(fd, 8 * MIB) != 0)
    exit(1);
  touched(pages(8 * MIB, MAP_SHARED, fd), 8 * MIB);
  say("mapped files", 8 * MIB);
}

static void copied_file(void) {
  const int fd = open("/proc/self/exe", O_RDONLY);
  char *p = pages(PAGE, MAP_PRIVATE, fd);
  touched(p, PAGE);
  say("module data", PAGE);
}

static void shared_anonymous(void) {
  touched(pages(8 * MIB, MAP_SHARED | MAP_ANONYMOUS, -1), 8 * MIB);
  say("shared memory", 8 * MIB);
}

static void shared_memfd(void) {
  const int fd = memfd_create("cases", 0);
  if (ftruncate(fd, 8 * MIB) != 0)
    exit(1);
  touched(pages(8 * MIB, MAP_SHARED, fd), 8 * MIB);
  say("shared memory", 8 * MIB);
}

static void shared_posix(void) {
  const int fd = shm_open("/memory_cases", O_RDWR | O_CREAT, 0600);
  shm_unlink("/memory_cases");
  if (ftruncate(fd, 8 * MIB) != 0)
    exit(1);
  touched(pages(8 * MIB, MAP_SHARED, fd), 8 * MIB);
  say("shared memory", 8 * MIB);
}

static void shared_sysv(void) {
  const int id = shmget(IPC_PRIVATE, 8 * MIB, IPC_CREAT | 0600);
  touched(shmat(id, NULL, 0), 8 * MIB);
  shmctl(id, IPC_RMID, NULL);
  say("shared memory", 8 * MIB);
}

// --- the program itself ---

static char zeros[24 * MIB];
static char words[MIB] = {1};

static void variables(void) {
  touched(zeros, sizeof zeros);
  touched(words, sizeof words);
  say("module data", sizeof zeros + sizeof words);
}

// The heap of a child that still shares its parent's pages.
static void child(void) {
  leak();
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0)
    return;
  char c;
  while (read(0, &c, 1) > 0)
    ;
  exit(0);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
#define CASE(f) {#f, f}
      CASE(leak),           CASE(fragments),
      CASE(fast_bins),      CASE(heap_end),
      CASE(large_blocks),   CASE(large_block_touched_partly),
      CASE(aligned_blocks), CASE(grown_block),
      CASE(arenas),         CASE(heaps_of_arenas),
      CASE(stacks),         CASE(main_stack),
      CASE(pool),           CASE(many_mappings),
      CASE(given_back),     CASE(given_back_lazily),
      CASE(huge_pages),     CASE(mapped_file),
      CASE(copied_file),    CASE(shared_anonymous),
      CASE(shared_memfd),   CASE(shared_posix),
      CASE(shared_sysv),    CASE(variables),
      CASE(child)};
#undef CASE
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc < 2)
      puts(cases[i].name);
    else if (strcmp(argv[1], cases[i].name) == 0)
      cases[i].run();
  puts("ready");
  fflush(stdout);
  char c;
  while (argc > 1 && read(0, &c, 1) > 0)
    ;
  return 0;
}
