// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the functions that leave a program without running its exit
// handlers: _exit, _Exit, and the exec functions. An entry is the function
// __mprof_f that instrumented code calls in place of f. By default these
// entries write no profile, because a child of fork or vfork often ends by one
// of these functions. A child of vfork even runs in its parent's memory. The
// options dump_on__exit and dump_on_exec make the entries write profiles.

#include "init.h"
#include "sys/abi_words.h"
#include "sys/os.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma weak _exit
#pragma weak _Exit
#pragma weak execve
#pragma weak execv
#pragma weak execvp
#pragma weak execvpe
#pragma weak fexecve

extern void _Exit(int status) __attribute__((noreturn));

#define LEAVE(Result, f, Params)                                               \
  MPROF_ENTRY Result __mprof_##f Params;                                       \
  MPROF_ENTRY Result __mprof_##f Params

LEAVE(void, _exit, (int status)) {
  mprof_write_before_end();
  _exit(status);
}

LEAVE(void, _Exit, (int status)) {
  mprof_write_before_end();
  _Exit(status);
}

typedef char *const *strings;

LEAVE(int, execve, (const char *path, strings argv, strings envp)) {
  mprof_write_before_exec();
  return execve(path, argv, envp);
}

LEAVE(int, execv, (const char *path, strings argv)) {
  mprof_write_before_exec();
  return execv(path, argv);
}

LEAVE(int, execvp, (const char *file, strings argv)) {
  mprof_write_before_exec();
  return execvp(file, argv);
}

LEAVE(int, execvpe, (const char *file, strings argv, strings envp)) {
  mprof_write_before_exec();
  return execvpe(file, argv, envp);
}

LEAVE(int, fexecve, (int fd, strings argv, strings envp)) {
  mprof_write_before_exec();
  return fexecve(fd, argv, envp);
}

// A reference to execveat would make the runtime's libraries depend on glibc
// 2.34.
LEAVE(int, execveat,
      (int dir, const char *path, strings argv, strings envp, int flags)) {
  mprof_write_before_exec();
  errno = (int)-mprof_syscall(SYS_execveat, dir, (long)path, (long)argv,
                              (long)envp, flags, 0);
  return -1;
}

// Stores in n the number of arguments of execl, execlp or execle, with the
// final NULL. arg: the last named parameter. The entry then copies the
// arguments to an array in its own frame. It must not allocate memory, because
// a child of vfork would allocate the memory in its parent.
#define COUNT(n, arg)                                                          \
  do {                                                                         \
    va_list args_;                                                             \
    va_start(args_, arg);                                                      \
    for (n = 2; va_arg(args_, const char *); n++)                              \
      ;                                                                        \
    va_end(args_);                                                             \
  } while (0)

static void collect(const char **argv, size_t n, const char *arg,
                    va_list args) {
  argv[0] = arg;
  for (size_t i = 1; i < n; i++)
    argv[i] = va_arg(args, const char *);
}

#define EXECL(f, Call)                                                         \
  LEAVE(int, f, (const char *path, const char *arg, ...)) {                    \
    mprof_write_before_exec();                                                 \
    size_t n = 1; /* including the final NULL */                               \
    va_list args;                                                              \
    if (arg)                                                                   \
      COUNT(n, arg);                                                           \
    const char *argv[n];                                                       \
    va_start(args, arg);                                                       \
    collect(argv, n, arg, args);                                               \
    va_end(args);                                                              \
    return Call;                                                               \
  }

// These call what libc's functions call. In a static program, libc has no other
// exec function than the program needs.
EXECL(execl, execve(path, (strings)argv, environ))
EXECL(execlp, execvpe(path, (strings)argv, environ))

LEAVE(int, execle, (const char *path, const char *arg, ...)) {
  mprof_write_before_exec();
  size_t n = 1;
  va_list args;
  if (arg)
    COUNT(n, arg);
  const char *argv[n];
  va_start(args, arg);
  argv[0] = arg;
  for (size_t i = 1; i < n; i++)
    argv[i] = va_arg(args, const char *);
  strings envp = va_arg(args, strings);
  va_end(args);
  return execve(path, (strings)argv, envp);
}
