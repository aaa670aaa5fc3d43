// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: quick_exit writes the profile. _exit, _Exit and exec write no profile
// unless an option asks for it. They work as without MProf: the exit status,
// the arguments and environment of the new program, and errno of a failed exec
// are right. A child of vfork writes no file under its parent's name.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: export MPROF_OPTIONS=heap_rate=1
// RUN: bash -c './app quick; test $? = 7'
// RUN: ls mprof.app.*.heap.pb.gz | wc -l | grep -qx 1 && rm mprof.*
// RUN: for how in _exit _Exit execl execlp execle execv execvp execvpe execve \
// RUN:     fexecve execveat; do \
// RUN:   s=0; ./app $how > out || s=$?; test $s = 7 || exit 1; \
// RUN:   not ls mprof.app.* || exit 1; \
// RUN:   case $how in exec*) grep -qx "one two" out || exit 1;; esac; \
// RUN: done
// RUN: export MPROF_OPTIONS=heap_rate=1:dump_on_exec=1:dump_on__exit=1
// RUN: for how in _exit _Exit execl execlp execle execv execvp execvpe execve \
// RUN:     fexecve execveat; do \
// RUN:   s=0; ./app $how > out || s=$?; test $s = 7 || exit 1; \
// RUN:   ls mprof.app.*.heap.pb.gz | wc -l | grep -qx 1 || exit 1; rm mprof.*; \
// RUN:   case $how in exec*) grep -qx "one two" out || exit 1;; esac; \
// RUN: done
// RUN: ./app fails && ls mprof.app.*.2.heap.pb.gz && rm mprof.*
// RUN: ./app vfork && ls mprof.app.*.heap.pb.gz | wc -l | grep -qx 1

#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static void *volatile sink;

#define SCRIPT "echo $0 $VALUE; exit 7"

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
#define IS(s) (strcmp(how, s) == 0)
  char *args[] = {"sh", "-c", SCRIPT, "one", NULL};
  char *env[] = {"VALUE=two", "PATH=/usr/bin:/bin", NULL};
  sink = malloc(401);
  setenv("VALUE", "two", 1);
  if (IS("quick"))
    quick_exit(7);
  if (IS("_exit"))
    _exit(7);
  if (IS("_Exit"))
    _Exit(7);
  if (IS("execl"))
    execl("/bin/sh", "sh", "-c", SCRIPT, "one", (char *)NULL);
  if (IS("execlp"))
    execlp("sh", "sh", "-c", SCRIPT, "one", (char *)NULL);
  if (IS("execle"))
    execle("/bin/sh", "sh", "-c", SCRIPT, "one", (char *)NULL, env);
  if (IS("execv"))
    execv("/bin/sh", args);
  if (IS("execvp"))
    execvp("sh", args);
  if (IS("execvpe"))
    execvpe("sh", args, env);
  if (IS("execve"))
    execve("/bin/sh", args, env);
  if (IS("fexecve"))
    fexecve(open("/bin/sh", O_RDONLY), args, env);
  if (IS("execveat") && execveat(AT_FDCWD, "/bin/sh", args, env, 0) != 0 &&
      errno == ENOSYS)
    execve("/bin/sh", args, env); // the system or the emulator has no execveat
  if (IS("fails")) {
    for (int i = 0; i < 3; i++) {
      errno = 0;
      CHECK(execv("/missing/program", args) == -1 && errno == ENOENT);
    }
    return 0;
  }
  if (IS("vfork")) {
    int status;
    pid_t pid = vfork();
    if (pid == 0) {
      execv("/missing/program", args);
      _exit(3);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
    pid = vfork();
    if (pid == 0)
      execv("/bin/sh", args);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    EXPECT(401, 1, 1, 0);
    return 0;
  }
  return 1;
}
