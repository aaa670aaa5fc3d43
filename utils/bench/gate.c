// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short loads of gate.py. Runs ROUNDS rounds of a load in gate_warm_up and
// then as many in gate_counted. callgrind counts the instructions of
// gate_counted. Each load does the same work in each run.
//   start    nothing; callgrind counts the whole process
//   ring     256 live blocks of 16 to 1024 bytes; a round replaces the oldest
//   lifo     one block of 64 bytes, freed at once
//   objects  as Lua does: objects are created, grown and freed by one function
//            that calls realloc or free
//   tree     a search tree; a node has a copy of its key by strdup
//   mutex    lock and unlock of a mutex
//   threads  the same in a process with a second thread, which sleeps
//   rwlock   a read lock and a write lock, each with its unlock
//   calls    poll, write and read of a pipe
//   region   the begin and end of a region of the trace
//   events   the same, with a short wait before each event
//   recurse  recursion in functions of few instructions
//
// usage: gate LOAD ROUNDS

#include "bench.h"

#include <mprof/mprof.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned next_random(unsigned *x) { // xorshift; equal in each run
  *x ^= *x << 13;
  *x ^= *x >> 17;
  *x ^= *x << 5;
  return *x;
}

static void check(int is_as_it_should_be) {
  if (is_as_it_should_be)
    return;
  perror("gate");
  exit(1);
}

// --- the heap ---

static void ring(long rounds) {
  enum { RING = 256 };
  static void *live[RING];
  static unsigned x = 2463534242u;
  for (long i = 0; i < rounds; i++) {
    void **slot = &live[i % RING];
    free(*slot);
    *slot = malloc(16 + next_random(&x) % 1009);
    bench_sink(*slot);
  }
}

static void lifo(long rounds) {
  for (long i = 0; i < rounds; i++) {
    void *p = malloc(64);
    bench_sink(p);
    free(p);
  }
}

// Allocates as Lua's l_alloc does.
static __attribute__((noinline)) void *object(void *p, size_t size) {
  if (size == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, size);
}

// A round creates an object with a small array, grows the array and frees the
// object of 64 rounds before.
static void objects(long rounds) {
  enum { LIVE = 64 };
  static struct object {
    void *array;
  } *live[LIVE];
  for (long i = 0; i < rounds; i++) {
    struct object **slot = &live[i % LIVE];
    if (*slot != NULL) {
      object((*slot)->array, 0);
      object(*slot, 0);
    }
    *slot = object(NULL, 40);
    (*slot)->array = object(NULL, 16);
    (*slot)->array = object((*slot)->array, 32 + (size_t)(i % 4) * 16);
    bench_sink(*slot);
  }
}

struct node {
  struct node *child[2];
  char *key;
};

static struct node *insert(struct node *n, const char *key) {
  if (n == NULL) {
    n = malloc(sizeof(*n));
    check(n != NULL);
    n->child[0] = n->child[1] = NULL;
    n->key = strdup(key);
    return n;
  }
  int order = strcmp(key, n->key);
  if (order != 0)
    n->child[order > 0] = insert(n->child[order > 0], key);
  return n;
}

static void drop(struct node *n) {
  if (n == NULL)
    return;
  drop(n->child[0]);
  drop(n->child[1]);
  free(n->key);
  free(n);
}

// A round inserts a key. The tree is freed when it has 500 keys. libc's strcmp
// takes more instructions for a string near the end of a page. The key is at
// the beginning of a page, so that its address does not differ between
// variants.
static void tree(long rounds) {
  enum { KEYS = 500 };
  static _Alignas(4096) char key[16];
  unsigned x = 2463534242u;
  struct node *root = NULL;
  for (long i = 0; i < rounds; i++) {
    memcpy(key, "key ", 4);
    unsigned number = next_random(&x);
    for (int k = 4; k < 12; k++, number >>= 4)
      key[k] = (char)('a' + (number & 15));
    root = insert(root, key);
    if (i % KEYS == KEYS - 1) {
      drop(root);
      root = NULL;
    }
  }
  drop(root);
}

// --- locks, calls that may wait, the trace ---

static void mutex(long rounds) {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  for (long i = 0; i < rounds; i++) {
    pthread_mutex_lock(&m);
    bench_sink(&m);
    pthread_mutex_unlock(&m);
  }
}

static void threads(long rounds) {
  static int is_started;
  if (!is_started)
    bench_start_sleeper();
  is_started = 1;
  mutex(rounds);
}

static void rwlock(long rounds) {
  static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
  for (long i = 0; i < rounds; i++) {
    pthread_rwlock_rdlock(&l);
    bench_sink(&l);
    pthread_rwlock_unlock(&l);
    pthread_rwlock_wrlock(&l);
    bench_sink(&l);
    pthread_rwlock_unlock(&l);
  }
}

static void calls(long rounds) {
  static int ends[2] = {-1, -1};
  if (ends[0] < 0)
    check(pipe(ends) == 0);
  for (long i = 0; i < rounds; i++) {
    char byte = 0;
    struct pollfd out = {ends[1], POLLOUT, 0};
    check(poll(&out, 1, -1) == 1);
    check(write(ends[1], &byte, 1) == 1);
    check(read(ends[0], &byte, 1) == 1);
  }
}

// Waits about 0.15 ms, by a system call that MProf does not know.
static void wait_a_little(void) {
  static const struct timespec length = {0, 100000};
  syscall(SYS_nanosleep, &length, NULL);
}

// An event has its time as a number of variable length, the ticks since the
// thread's last event. The waits make this number equally long in almost all
// events, so that the instructions do not depend on the speed of the machine.
static void events(long rounds) {
  for (long i = 0; i < rounds; i++) {
    wait_a_little();
    mprof_trace_region_begin(0, "region");
    wait_a_little();
    mprof_trace_region_end(0, "region");
  }
}

static void region(long rounds) {
  for (long i = 0; i < rounds; i++) {
    mprof_trace_region_begin(0, "region");
    bench_sink(&i);
    mprof_trace_region_end(0, "region");
  }
}

// --- small functions ---

static __attribute__((noinline)) unsigned even(unsigned n);

static __attribute__((noinline)) unsigned odd(unsigned n) {
  return n == 0 ? 0 : 1 + even(n - 1);
}

static __attribute__((noinline)) unsigned even(unsigned n) {
  bench_sink(&n); // not a loop
  return n == 0 ? 1 : 2 + odd(n - 1);
}

static __attribute__((noinline)) unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void recurse(long rounds) {
  for (long i = 0; i < rounds; i++) {
    unsigned n = even(20) + fibonacci(8);
    bench_sink(&n);
  }
}

static void start(long rounds) { (void)rounds; }

static const struct {
  const char *name;
  void (*run)(long rounds);
} loads[] = {{"start", start},     {"ring", ring},       {"lifo", lifo},
             {"tree", tree},       {"objects", objects}, {"mutex", mutex},
             {"threads", threads}, {"rwlock", rwlock},   {"calls", calls},
             {"region", region},   {"events", events},   {"recurse", recurse}};
static void (*run)(long rounds);

__attribute__((noinline)) void gate_warm_up(long rounds) {
  run(rounds);
  bench_sink(NULL); // not a tail call
}

__attribute__((noinline)) void gate_counted(long rounds) {
  run(rounds);
  bench_sink(&run); // another body than gate_warm_up, and not a tail call
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
    if (argc > 1 && strcmp(argv[1], loads[i].name) == 0)
      run = loads[i].run;
  if (run == NULL) {
    fprintf(stderr, "gate: the first argument must be a load\n");
    return 2;
  }
  long rounds = bench_arg(argc, argv, 2);
  gate_warm_up(rounds);
  gate_counted(rounds);
  return 0;
}
