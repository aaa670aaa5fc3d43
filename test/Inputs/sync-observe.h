// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests that compare the output of a plain build with that of a
// build with MProf. For each call they print a line with its result and its
// effect on errno. They also have another thread wait in a known place first.
// Nothing is printed that differs from run to run.

#ifndef MPROF_TEST_INPUTS_SYNC_OBSERVE_H
#define MPROF_TEST_INPUTS_SYNC_OBSERVE_H

#ifndef _GNU_SOURCE
#error define _GNU_SOURCE first
#endif

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// No error has this number: errno keeps it across a call that does not set it.
enum { UNTOUCHED = 4711 };

static inline const char *error_name(int error) {
  if (error == 0)
    return "0";
#ifdef __GLIBC__
  const char *name = strerrorname_np(error);
#else // the printed names are compared by tests on glibc only
  const char *name = strerror(error);
#endif
  return name ? name : "another number";
}

static inline void say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static inline void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
  fflush(stdout); // a fork or an abort may follow
}

static inline void say_result(const char *what, const char *call,
                              const char *result, int error) {
  const char *comma = what[0] ? ", " : "";
  if (error == UNTOUCHED)
    say("%s%s%s: %s", what, comma, call, result);
  else
    say("%s%s%s: %s, errno %s", what, comma, call, result, error_name(error));
}

static inline void say_number(const char *what, const char *call, long result,
                              int error) {
  char text[24];
  snprintf(text, sizeof(text), "%ld", result);
  say_result(what, call, text, error);
}

// Makes the call. Prints the argument what, the call's text, and its result.
#define SHOW_TEXT(what, text, call)                                            \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    int result_ = (call);                                                      \
    int errno_ = errno;                                                        \
    say_result(what, text, error_name(result_), errno_);                       \
  } while (0)

#define SHOW_NUMBER_TEXT(what, text, call)                                     \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    long result_ = (long)(call);                                               \
    int errno_ = errno;                                                        \
    say_number(what, text, result_, errno_);                                   \
  } while (0)

// SHOW is for calls that return an error number, as pthread functions do.
// SHOW_NUMBER is for calls that return any number.
#define SHOW(call) SHOW_TEXT("", #call, call)
#define SHOW_AS(what, call) SHOW_TEXT(what, #call, call)
#define SHOW_NUMBER(call) SHOW_NUMBER_TEXT("", #call, call)
#define SHOW_NUMBER_AS(what, call) SHOW_NUMBER_TEXT(what, #call, call)

static inline pid_t own_tid(void) { return (pid_t)syscall(SYS_gettid); }

// These three functions return the time by a clock in ns nanoseconds or ms
// milliseconds. A negative number gives a time in the past.
static inline struct timespec after_ns_on(clockid_t clock, int64_t ns) {
  struct timespec t;
  clock_gettime(clock, &t);
  ns += (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
  t.tv_sec = ns / 1000000000;
  t.tv_nsec = ns % 1000000000;
  return t;
}
static inline struct timespec after_on(clockid_t clock, int ms) {
  return after_ns_on(clock, ms * 1000000LL);
}
static inline struct timespec after(int ms) {
  return after_on(CLOCK_REALTIME, ms);
}

// arm64 has no system calls of these names; libc makes others.
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#define SYS_pause SYS_ppoll
#define SYS_epoll_wait SYS_epoll_pwait
#endif

// Under an emulator of processors, the kernel shows the number of the
// emulator's own system call, and the same addresses.
static inline int is_emulated(void) {
  return getenv("MPROF_TEST_EMULATED") != NULL;
}

// Sleeps before the next look at a state. The system call is in no profile and
// in no trace.
static inline void pause_us(long us) {
  const struct timespec t = {us / 1000000, us % 1000000 * 1000};
  syscall(SYS_nanosleep, &t, NULL);
}

// Reads at most size - 1 bytes of the file as text, by system calls. Returns
// false if the file cannot be read.
static inline int read_start(const char *path, char *text, size_t size) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  const long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);
  if (fd >= 0)
    syscall(SYS_close, fd);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

// Returns true if the thread or process sleeps in the system call and its first
// argument is an address inside the object. With object NULL any argument will
// do. Sets line to what the kernel shows of the call.
static inline int is_blocked(pid_t tid, long number, const void *object,
                             size_t size, char line[200]) {
  char path[40], *end;
  snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
  if (!read_start(path, line, 200))
    return 0;
  long at = strtol(line, &end, 10);
  if (end == line ||
      (at != number &&
       !is_emulated())) // the line of a running thread is "running"
    return 0;
  uintptr_t arg = (uintptr_t)strtoull(end, NULL, 16);
  return !object || arg - (uintptr_t)object < size;
}

// Waits until the thread or process is_blocked. Without an object, the kernel
// must show the same wait five times: a thread may wait for a lock of libc on
// its way.
static inline void until_blocked(pid_t tid, long number, const void *object,
                                 size_t size) {
  char line[2][200] = {"", ""};
  int seen = 0;
  for (int ms = 0; ms < 120000; ms++) {
    char *now = line[ms % 2];
    const int is_same = is_blocked(tid, number, object, size, now) &&
                        (seen == 0 || strcmp(line[0], line[1]) == 0);
    seen = is_same ? seen + 1 : 0;
    if (seen == (object ? 1 : 5))
      return;
    pause_us(1000);
  }
  fprintf(stderr, "the thread does not wait in system call %ld\n", number);
  _exit(1);
}

// Tells until_waits_in and until_sleeps the id of the calling thread. A thread
// calls this function just before it waits. *tid is 0 until then.
static inline void about_to_wait(pid_t *tid) {
  __atomic_store_n(tid, own_tid(), __ATOMIC_RELEASE);
}

// Waits until the thread that calls about_to_wait with tid sleeps in the system
// call, or on a futex inside the object.
static inline void until_waits_in(const pid_t *tid, long number) {
  while (__atomic_load_n(tid, __ATOMIC_ACQUIRE) == 0)
    pause_us(100);
  until_blocked(*tid, number, NULL, 0);
}
static inline void until_waits_for(const pid_t *tid, const void *object,
                                   size_t size) {
  while (__atomic_load_n(tid, __ATOMIC_ACQUIRE) == 0)
    pause_us(100);
  until_blocked(*tid, SYS_futex, object, size);
}

// Waits until the thread that calls about_to_wait with tid sleeps in any call.
// This function reads the thread's state, because /proc/.../syscall shows the
// address that the thread waits for. The search for stuck threads would find
// this address on our stack.
static inline void until_sleeps(const pid_t *tid) {
  char path[40], text[64] = "";
  while (__atomic_load_n(tid, __ATOMIC_ACQUIRE) == 0)
    pause_us(1000);
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)*tid);
  for (int looks = 0; looks < 5; pause_us(1000)) {
    NEED(read_start(path, text, sizeof(text)));
    looks = strstr(text, ") S ") ? looks + 1 : 0;
  }
}

// A thread and the function that it runs.
struct thread {
  pthread_t id;
  pid_t tid;
  void (*run)(void *);
  void *arg;
};

static inline void *thread_main(void *arg) {
  struct thread *t = (struct thread *)arg;
  __atomic_store_n(&t->tid, own_tid(), __ATOMIC_RELEASE);
  t->run(t->arg);
  return NULL;
}

static inline void start(struct thread *t, void (*run)(void *), void *arg) {
  memset(t, 0, sizeof(*t));
  t->run = run;
  t->arg = arg;
  NEED(pthread_create(&t->id, NULL, thread_main, t) == 0);
  while (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == 0)
    pause_us(100);
}

static inline void finish(struct thread *t) {
  NEED(pthread_join(t->id, NULL) == 0);
}

// Waits until the first thread of the process waits on a futex inside the
// object, or, with object NULL, on any futex, as pthread_join does.
static inline void until_main_waits(const void *object, size_t size) {
  until_blocked(getpid(), SYS_futex, object, size);
}

// Waits until the kernel has no such thread any more.
static inline void until_gone(pid_t tid) {
  while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
    pause_us(100);
}

// Waits until the thread waits on a futex inside the object.
static inline void until_waiting(struct thread *t, const void *object,
                                 size_t size) {
  until_blocked(t->tid, SYS_futex, object, size);
}

// Starts the thread and returns when it waits on a futex inside the object.
static inline void start_waiting(struct thread *t, void (*run)(void *),
                                 void *arg, const void *object, size_t size) {
  start(t, run, arg);
  until_waiting(t, object, size);
}

// Runs the function in a thread of its own and joins it.
static inline void elsewhere(void (*run)(void *), void *arg) {
  struct thread t;
  start(&t, run, arg);
  finish(&t);
}

#endif // MPROF_TEST_INPUTS_SYNC_OBSERVE_H
