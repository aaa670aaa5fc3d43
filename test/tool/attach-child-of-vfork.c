// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof attach loads no library into a child of vfork, whose memory is
// that of its parent. It says that it could not, and the child goes on.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 %s -o app
// RUN: (timeout 600 ./app; echo $? > status) & until test -s pid; do sleep 0.1; done
// RUN: code=0; %mprof attach --seconds=1 $(cat pid) 2> err || code=$?; test $code = 2
// RUN: grep 'in 5 seconds, none of its threads was at a point' err
// RUN: not grep libmprof /proc/$(cat pid)/maps
// RUN: touch go && until test -s status; do sleep 0.1; done && grep -x 7 status

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  int status = 0;
  const pid_t child = vfork();
  if (child == 0) {
    const struct timespec pause = {.tv_nsec = 10000000};
    char text[32];
    snprintf(text, sizeof text, "%d", (int)getpid());
    FILE *f = fopen("pid", "w");
    fputs(text, f);
    fclose(f);
    while (access("go", F_OK) != 0)
      nanosleep(&pause, NULL);
    execl("/bin/sh", "sh", "-c", "exit 7", NULL);
    _exit(1);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    return 1;
  return WEXITSTATUS(status);
}
