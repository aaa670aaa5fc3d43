// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a tool that finds the probes otel_memory:alloc, otel_memory:free and
// mprof:contention in the notes of the program, and raises their semaphores,
// sees each counted block, its free, and each wait, with the arguments that the
// notes describe. The program is its own tool: it puts a breakpoint at each
// place. While the semaphores are 0, no place is reached.
//
// RUN: %mprof_clang -fmprof -O1 -pthread -I%src/test/Inputs %s -o %t
// RUN: mkdir -p %t.dir && cp %t %t.dir/app && cd %t.dir
// RUN: %python %src/test/Inputs/readme_block.py %src/docs/probes.md probes > e.sh
// RUN: %if gdb %{ sh -e e.sh | FileCheck %s %}
// CHECK-DAG: stap mprof contention 0x{{.*}} 0x
// CHECK-DAG: stap otel_memory alloc 0x{{.*}} 0x
// CHECK-DAG: stap otel_memory free 0x{{.*}} 0x
// RUN: %run_quiet{heap_rate=1:block_rate=1} %t
// RUN: %run_quiet{heap_rate=100000:block_rate=1000000000} %t sampled

#define _GNU_SOURCE
#include "sync-observe.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

enum { PLACES = 16, HITS = 64 };
static struct place {
  uintptr_t address;
  char name[32];
} places[PLACES];
static int place_count;
static struct hit {
  const char *name;
  uint64_t args[3];
} hits[HITS];
static volatile int hit_count;
static uintptr_t bias;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef __aarch64__
static const uint32_t no_operation = 0xd503201f, breakpoint = 0xd4200000;

// Returns the address of the breakpoint, and continues behind it.
static uintptr_t place_of(mcontext_t *m, uint64_t args[3]) {
  memcpy(args, m->regs, 3 * sizeof(args[0]));
  m->pc += 4;
  return m->pc - 4;
}
#else
static const uint8_t no_operation = 0x90, breakpoint = 0xcc;

static uintptr_t place_of(const mcontext_t *m, uint64_t args[3]) {
  args[0] = (uint64_t)m->gregs[REG_RDI];
  args[1] = (uint64_t)m->gregs[REG_RSI];
  args[2] = (uint64_t)m->gregs[REG_RDX];
  return (uintptr_t)m->gregs[REG_RIP] - 1;
}
#endif

static void trap(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)info;
  struct hit hit;
  const uintptr_t at =
      place_of(&((ucontext_t *)context)->uc_mcontext, hit.args);
  for (int i = 0; i < place_count; i++)
    if (places[i].address == at && hit_count < HITS) {
      hit.name = places[i].name;
      hits[hit_count++] = hit;
    }
}

// Puts a breakpoint at the place of a note, and keeps its name.
static void set_breakpoint(uint64_t address, const char *provider,
                           const char *name) {
  CHECK(place_count < PLACES);
  struct place *to = &places[place_count++];
  to->address = address + bias;
  snprintf(to->name, sizeof(to->name), "%s:%s", provider, name);
  char *code = (char *)to->address;
  CHECK(mprotect((void *)((uintptr_t)code & -4096ul), 8192,
                 PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  CHECK(memcmp(code, &no_operation, sizeof(no_operation)) == 0);
  memcpy(code, &breakpoint, sizeof(breakpoint));
  __builtin___clear_cache(code, code + sizeof(breakpoint));
}

// Adds n to the semaphores of all notes. If sets is true, also sets the
// breakpoints.
static void attach(const char *file, int n, int sets) {
  const Elf64_Ehdr *e = (const void *)file;
  const Elf64_Shdr *s = (const void *)(file + e->e_shoff);
  const char *names = file + s[e->e_shstrndx].sh_offset;
  for (int i = 0; i < e->e_shnum; i++) {
    if (strcmp(names + s[i].sh_name, ".note.stapsdt") != 0)
      continue;
    const char *p = file + s[i].sh_offset, *end = p + s[i].sh_size;
    while (p < end) {
      const Elf64_Nhdr *h = (const void *)p;
      const char *desc = p + sizeof(*h) + 8;
      uint64_t a[3]; // place, base, semaphore
      memcpy(a, desc, sizeof(a));
      const char *provider = desc + sizeof(a);
      const char *name = provider + strlen(provider) + 1;
      CHECK(h->n_type == 3 && strcmp((const char *)(h + 1), "stapsdt") == 0);
      if (sets)
        set_breakpoint(a[0], provider, name);
      *(volatile uint16_t *)(a[2] + bias) += (uint16_t)n;
      p = desc + (h->n_descsz + 3) / 4 * 4;
    }
  }
}

__attribute__((noinline)) static void *get(size_t n) {
  void *p = malloc(n);
  __asm__ volatile("" : "+r"(p));
  return p;
}

static void *hold(void *arg) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(arg);
  until_main_waits(&lock, sizeof(lock));
  usleep(10000); // the least duration of the wait
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void contend(void) {
  pthread_barrier_t both;
  pthread_t t;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&t, NULL, hold, &both);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
}

static const struct hit *find(const char *name, const void *first) {
  for (int i = 0; i < hit_count; i++)
    if (strcmp(hits[i].name, name) == 0 && hits[i].args[0] == (uintptr_t)first)
      return &hits[i];
  return NULL;
}

static void check_exact(void) {
  void *p = get(1000), *q = get(5000);
  const uintptr_t old = (uintptr_t)q;
  q = realloc(q, 500000);
  CHECK(q != NULL);
  contend();
  free(p);
  const struct hit *h = find("otel_memory:alloc", p);
  CHECK(h && h->args[1] == 1000 && h->args[2] == 1000);
  CHECK(find("otel_memory:free", p) > h);
  CHECK(find("otel_memory:free", (void *)old));
  h = find("otel_memory:alloc", q);
  CHECK(h && h->args[1] == 500000);
  CHECK(!find("otel_memory:free", q) || (uintptr_t)q == old);
  h = find("mprof:contention", &lock);
  CHECK(h && h->args[1] > 5000000 && h->args[2] == h->args[1]);
}

// A sampled block of 1000 bytes stands for about 100000 bytes.
static void check_sampled(void) {
  for (int i = 0; i < 4000; i++)
    free(get(1000));
  contend();
  CHECK(hit_count > 0);
  for (int i = 0; i < hit_count; i++)
    if (strcmp(hits[i].name, "otel_memory:alloc") == 0 &&
        hits[i].args[1] == 1000)
      CHECK(hits[i].args[2] == 100501);
}

int main(int argc, char **argv) {
  (void)argv;
  const int fd = open("/proc/self/exe", O_RDONLY);
  struct stat st;
  CHECK(fd >= 0 && fstat(fd, &st) == 0);
  const char *file =
      mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  extern const char image[] __asm__("__ehdr_start");
  bias = ((const Elf64_Ehdr *)file)->e_type == ET_DYN ? (uintptr_t)image : 0;
  struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  attach(file, 1, 1);
  CHECK(place_count >= 3);
  if (argc > 1)
    check_sampled();
  else
    check_exact();
  attach(file, -1, 0);
  hit_count = 0;
  for (int i = 0; i < 1000; i++)
    free(get(1000));
  contend();
  CHECK(hit_count == 0);
  return 0;
}
