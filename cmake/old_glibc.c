// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that glibc 2.28 lacks, or has in another form, for the tools and
// for the libraries that are linked with them. With these definitions, a tool
// that was linked with a later glibc runs with glibc 2.28, too.
// cmake/MProfOldGlibc.cmake does the rest.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// --- the start of the program ---

// Since glibc 2.34, libc itself calls the program's constructors, and the
// startup code of the program passes none. The older version needs a function
// for this.
typedef int main_fn(int argc, char **argv, char **environment);
typedef void constructor_fn(int argc, char **argv, char **environment);

#ifdef __x86_64__
__asm__(".symver older_start, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver older_start, __libc_start_main@GLIBC_2.17");
#endif
extern int older_start(main_fn *program, int argc, char **argv,
                       main_fn *construct, void (*destruct)(void),
                       void (*loader_destruct)(void), void *stack_end);
extern constructor_fn *const __init_array_start[] HIDDEN;
extern constructor_fn *const __init_array_end[] HIDDEN;

static int construct(int argc, char **argv, char **environment) {
  for (constructor_fn *const *f = __init_array_start; f < __init_array_end; f++)
    (*f)(argc, argv, environment);
  return 0;
}

HIDDEN int __libc_start_main(main_fn *program, int argc, char **argv,
                             main_fn *none, void (*destruct)(void),
                             void (*loader_destruct)(void), void *stack_end);
int __libc_start_main(main_fn *program, int argc, char **argv, main_fn *none,
                      void (*destruct)(void), void (*loader_destruct)(void),
                      void *stack_end) {
  return older_start(program, argc, argv, none ? none : construct, destruct,
                     loader_destruct, stack_end);
}

// --- functions of glibc 2.33: before, they were macros ---

HIDDEN int fstatat(int dir, const char *restrict path,
                   struct stat *restrict result, int flags) {
  return (int)syscall(SYS_newfstatat, dir, path, result, flags);
}

HIDDEN int stat(const char *restrict path, struct stat *restrict result) {
  return fstatat(AT_FDCWD, path, result, 0);
}

HIDDEN int lstat(const char *restrict path, struct stat *restrict result) {
  return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

HIDDEN int fstat(int fd, struct stat *result) {
  return (int)syscall(SYS_fstat, fd, result);
}

// --- what the C++ library and libgcc use if they were built with a later glibc
// ---

// Whether the process has one thread, so that it needs no atomic operations.
extern HIDDEN char __libc_single_threaded;
char __libc_single_threaded = 0;

// Finds unwind tables for exceptions. The tools catch none: without tables, an
// exception ends the process.
struct dl_find_object;
HIDDEN int _dl_find_object(void *pc, struct dl_find_object *result);
int _dl_find_object(void *pc, struct dl_find_object *result) {
  (void)pc, (void)result;
  return -1;
}

// --- names of signals, of glibc 2.32 ---

HIDDEN const char *sigabbrev_np(int number) {
  static const char names[][7] = {
      [SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
      [SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
      [SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
      [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
      [SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
      [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
      [SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
      [SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
      [SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
      [SIGWINCH] = "WINCH",   [SIGIO] = "POLL",       [SIGPWR] = "PWR",
      [SIGSYS] = "SYS",
  };
  const size_t count = sizeof(names) / sizeof(names[0]);
  return number > 0 && (size_t)number < count && names[number][0] != '\0'
             ? names[number]
             : NULL;
}
