// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that calls only one of the exec functions executes the
// other program, with its arguments and its environment, also if it is
// static and libc's other exec functions are not in it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for link in -pie -static; do for call in \
// RUN:   'execl("/bin/sh", "sh", "-c", SCRIPT, NULL)' \
// RUN:   'execlp("sh", "sh", "-c", SCRIPT, NULL)' \
// RUN:   'execle("/bin/sh", "sh", "-c", SCRIPT, NULL, environ)' \
// RUN:   'execv("/bin/sh", arguments)' \
// RUN:   'execve("/bin/sh", arguments, environ)' \
// RUN:   'execvp("sh", arguments)' \
// RUN:   'execvpe("sh", arguments, environ)'; do \
// RUN:   %mprof_clang -fmprof -O1 $link "-DCALL=$call" %s -o app && \
// RUN:   %run_quiet WORD=word ./app | grep -qx 'done word' || exit 1; done; done

#define _GNU_SOURCE
#include <unistd.h>

#define SCRIPT "echo done $WORD"

char *arguments[] = {"sh", "-c", SCRIPT, NULL};

int main(void) { return CALL; }
