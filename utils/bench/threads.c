// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures how long a thread profile stops the program. Many threads wait, each
// ten calls deep. A watcher reads the clock in a loop, and so measures how long
// it is kept from running. It runs on the last processor; waiting threads and
// this thread run on the first one, so that they do not delay it.
// Reads commands from its input. Answers each with lines "NAME NUMBER" and then
// "ok":
//   profile    takes a thread profile into records: ms, threads, gap_us
//   write      takes a thread profile into a file: ms, gap_us
//   rest MS    sleeps: gap_us
//   open, close   mark the time in which another program works: gap_us
//   end        disturbed: waiting threads that have run since the start;
//              ended: waits that have ended
// gap_us is the longest time that the watcher was kept from running during the
// command. It excludes the time for which the watcher waited for its processor,
// as the kernel reports it: then another thread ran there.
//
// usage: threads WAITING

#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <mprof/mprof.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH = 10, STACK_BYTES = 65536, MOST = 20000 };

static struct {
  pid_t tid;
  long switches; // context switches at the last count
} waiting[MOST];
static int started, ended;    // waiting threads; atomic
static long long longest_gap; // nanoseconds; atomic
enum { WORTH_A_LOOK = 100000 };
static int pipe_ends[2];
static sem_t never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never_signalled = PTHREAD_COND_INITIALIZER;

static void die(const char *what) {
  perror(what);
  exit(1);
}

// --- threads that wait ---

static void wait_somewhere(long kind) {
  struct pollfd f = {pipe_ends[0], POLLIN, 0};
  char byte;
  switch (kind % 4) {
  case 0:
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&never_signalled, &lock);
    pthread_mutex_unlock(&lock);
    break;
  case 1:
    poll(&f, 1, -1);
    break;
  case 2:
    sem_wait(&never);
    break;
  default:
    bench_sink(&byte);
    if (read(pipe_ends[0], &byte, 1) < 0)
      break;
  }
}

static __attribute__((noinline)) void call_deep(int depth, long kind) {
  if (depth == 0)
    wait_somewhere(kind);
  else
    call_deep(depth - 1, kind);
  bench_sink(&kind); // no tail call
}

static void *wait_forever(void *arg) {
  const long i = (long)arg;
  waiting[i].tid = (pid_t)syscall(SYS_gettid);
  __atomic_add_fetch(&started, 1, __ATOMIC_RELEASE);
  call_deep(DEPTH - 2, i); // DEPTH - 1 frames, and this one
  __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
  return NULL;
}

// Returns the number of context switches of the thread. A thread that stays
// asleep has no new ones.
static long switches_of(pid_t tid) {
  char path[64], line[128];
  long sum = 0, n;
  snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  while (fgets(line, sizeof(line), f)) {
    const char *found = strstr(line, "voluntary_ctxt_switches:");
    if (found && sscanf(found, "%*s %ld", &n) == 1)
      sum += n;
  }
  fclose(f);
  return sum;
}

// Returns the number of waiting threads that have run since the last call.
static int count_disturbed(long threads) {
  int n = 0;
  for (long i = 0; i < threads; i++) {
    const long now = switches_of(waiting[i].tid);
    n += now != waiting[i].switches;
    waiting[i].switches = now;
  }
  return n;
}

// --- processors ---

static cpu_set_t first, last;

static void find_processors(void) {
  cpu_set_t all;
  int from = -1, to = 0;
  if (sched_getaffinity(0, sizeof(all), &all) != 0)
    die("sched_getaffinity");
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &all)) {
      from = from < 0 ? i : from;
      to = i;
    }
  CPU_SET(from, &first);
  CPU_SET(to, &last);
}

static void start(void *(*run)(void *), long arg, const cpu_set_t *where) {
  pthread_attr_t attributes;
  pthread_t id;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setaffinity_np(&attributes, sizeof(*where), where);
  int error = pthread_create(&id, &attributes, run, (void *)arg);
  if (error != 0) {
    fprintf(stderr, "threads: pthread_create: %s\n", strerror(error));
    exit(1);
  }
  pthread_attr_destroy(&attributes);
}

// --- the watcher ---

static struct {
  int schedstat;    // a file descriptor
  long long before; // last time that the watcher ran, nanoseconds
  long long waited; // last value of waited_for_processor
} watched;

// Returns the nanoseconds for which the watcher has waited for its processor.
static long long waited_for_processor(void) {
  long long waited;
  char text[128];
  const long n =
      syscall(SYS_pread64, watched.schedstat, text, sizeof(text) - 1, 0L);
  text[n > 0 ? n : 0] = '\0';
  if (sscanf(text, "%*s %lld", &waited) != 1)
    die("schedstat");
  return waited;
}

static void watch(void) {
  const long long now = bench_now();
  long long gap = now - watched.before;
  watched.before = now;
  if (gap > WORTH_A_LOOK) {
    const long long waited = waited_for_processor();
    gap -= waited - watched.waited;
    watched.waited = waited;
    watched.before = bench_now();
  }
  if (gap > __atomic_load_n(&longest_gap, __ATOMIC_RELAXED))
    __atomic_store_n(&longest_gap, gap, __ATOMIC_RELAXED);
}

static void *watch_running(void *arg) {
  watched.schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
  watched.waited = waited_for_processor();
  watched.before = bench_now();
  for (;;)
    watch();
  return arg;
}

// --- commands ---

static void take(long threads) {
  static struct mprof_stack_record *records;
  size_t n = 0;
  if (!records && !(records = malloc((size_t)threads * sizeof(*records))))
    die("malloc");
  const long long begin = bench_now();
  const int error = mprof_thread_profile(records, (size_t)threads, &n);
  const long long end = bench_now();
  if (error != 0) {
    fprintf(stderr, "threads: mprof_thread_profile: %s\n", strerror(error));
    exit(1);
  }
  printf("ms %.4f\nthreads %zu\n", (double)(end - begin) / 1e6, n);
}

static void take_to_file(void) {
  const long long begin = bench_now();
  const int error = mprof_write_profile("threads", "threads.pb.gz", 0);
  const long long end = bench_now();
  if (error != 0) {
    fprintf(stderr, "threads: mprof_write_profile: %s\n", strerror(error));
    exit(1);
  }
  printf("ms %.4f\n", (double)(end - begin) / 1e6);
}

static void obey(long threads) {
  char line[64];
  while (fgets(line, sizeof(line), stdin)) {
    const long ms = strtol(line + strcspn(line, " \n"), NULL, 10);
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    const int is_close = strncmp(line, "close", 5) == 0;
    if (!is_close)
      __atomic_store_n(&longest_gap, 0, __ATOMIC_RELAXED);
    if (strncmp(line, "profile", 7) == 0)
      take(threads);
    else if (strncmp(line, "write", 5) == 0)
      take_to_file();
    else if (strncmp(line, "rest", 4) == 0)
      nanosleep(&t, NULL);
    else if (strncmp(line, "end", 3) == 0)
      return;
    if (strncmp(line, "open", 4) != 0)
      printf("gap_us %.1f\n",
             (double)__atomic_load_n(&longest_gap, __ATOMIC_RELAXED) / 1e3);
    puts("ok");
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  const long waits = bench_arg(argc, argv, 1);
  if (waits > MOST) {
    fprintf(stderr, "threads: at most %d\n", MOST);
    return 2;
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // for debuggers
  find_processors();
  if (pipe(pipe_ends) != 0 || sem_init(&never, 0, 0) != 0)
    die("threads");
  for (long i = 0; i < waits; i++)
    start(wait_forever, i, &first);
  do // until all have started and none has run since the last count
    usleep(20000);
  while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < waits ||
         count_disturbed(waits) > 0);
  if (sched_setaffinity(0, sizeof(first), &first) != 0)
    die("sched_setaffinity");
  start(watch_running, 0, &last);
  puts("ok");
  fflush(stdout);
  obey(waits + 8);
  printf("disturbed %d\nended %d\nok\n", count_disturbed(waits),
         __atomic_load_n(&ended, __ATOMIC_RELAXED));
  fflush(stdout);
  _exit(0);
}
