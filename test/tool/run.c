// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run passes arguments, standard streams, signals and the exit
// status. It shows the profiles, and says what is missing.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g %s -o app && %clang -O2 %s -o plain
//
// Options behind the program's name are the program's own.
// RUN: echo input | %mprof run -o out --heap-rate=1 -- ./app --heap-rate 7 \
// RUN:   > stdout 2> stderr; test $? = 7
// RUN: FileCheck --check-prefix=STDOUT --match-full-lines %s < stdout
// STDOUT: --heap-rate input
// STDOUT-NOT: {{.}}
// RUN: FileCheck --check-prefix=REPORT %s < stderr
// REPORT: inuse_space of ./app --heap-rate 7
// REPORT: 1,000 B {{.*}} keep run.c:[[#]]
// REPORT: mprof top {{.*}}/out/mprof.app.{{[0-9]+}}.heap.pb.gz
//
// A program that a signal ends: mprof ends by the same signal.
// RUN: %python %S/Inputs/status.py %mprof run -q -o out ./app killed > status
// RUN: FileCheck --check-prefix=KILLED %s < status
// KILLED: signal 9
//
// A signal that is sent to mprof reaches the program.
// RUN: %python %S/Inputs/status.py --send TERM %mprof run -q -o out ./app wait \
// RUN:   > status
// RUN: FileCheck --check-prefix=SENT %s < status
// SENT: got TERM
// SENT: status 5
//
// The program gets a signal once if it is sent to the process group. If the
// program has left the group, mprof passes the signal on.
// RUN: %python %S/Inputs/group.py %mprof run -q -o out ./app count \
// RUN:   | FileCheck --check-prefix=COUNT %s
// RUN: %python %S/Inputs/group.py %mprof run -q -o out setsid ./app count \
// RUN:   2> err | FileCheck --check-prefix=COUNT %s
// COUNT: got 4 signals
//
// It gets a signal that is sent to mprof alone, also after the same signal came
// from the terminal.
// RUN: %python %S/Inputs/terminal.py %mprof run -q -o out ./app count \
// RUN:   | FileCheck --check-prefix=TERMINAL %s
// TERMINAL: got 3 signals
//
// The status arrives even if the caller ignores SIGCHLD. If the program stops,
// mprof stops, and goes on with it.
// RUN: echo | %python %S/Inputs/status.py --ignore CHLD %mprof run -q -o out \
// RUN:   ./app x 6 > status && FileCheck --check-prefix=CHLD %s < status
// CHLD: status 6
// RUN: %python %S/Inputs/stops.py %mprof run -q -o out sh -c \
// RUN:   'kill -STOP $$; exit 4' 2> err | FileCheck --check-prefix=STOPS %s
// STOPS: mprof stops with its program
// STOPS: status 4
//
// If everything was freed, the report shows what was allocated.
// RUN: %mprof run -o out --heap-rate=1 ./app frees 2>&1 < /dev/null \
// RUN:   | FileCheck --check-prefix=FREES %s
// FREES: alloc_space of ./app frees
// FREES: keep run.c
// FREES: mprof top --sample=alloc_space {{.*}}.heap.pb.gz
//
// Files of other processes may be those of children or of another program.
// RUN: %mprof run -o others --heap-rate=1 sh -c './app x; ./app x' 2>&1 \
// RUN:   < /dev/null | FileCheck --check-prefix=OTHERS %s
// OTHERS: {{[2-9]}} files of other processes are new in {{.*}}/others: children of the program, or programs
//
// A file that another program has written just before is none of them.
// RUN: mkdir before && (cd before && %run{heap_rate=1} ../app frees < /dev/null \
// RUN:   && %mprof run ../app frees < /dev/null 2>&1 \
// RUN:   | not grep 'other processes')
//
// Options that would do nothing are refused.
// RUN: not %mprof run -O log_path=x ./app 2>&1 \
// RUN:   | FileCheck --check-prefix=LOG_PATH %s
// LOG_PATH: --option=log_path=x: {{.*}} use --output
// RUN: not %mprof run --heap-rate=often ./app 2>&1 \
// RUN:   | FileCheck --check-prefix=RATE %s
// RATE: --heap-rate=often is not a number of bytes such as 64k
//
// A program that is built without MProf has a profile, too.
// RUN: %mprof run -o out --heap-rate=1 ./plain x 0 > stdout 2>&1 < /dev/null
// RUN: FileCheck --check-prefix=PLAIN %s < stdout
// PLAIN: inuse_space of ./plain x 0
// PLAIN: 1,000 B
// PLAIN: mprof top {{.*}}/out/mprof.plain.{{[0-9]+}}.heap.pb.gz
// RUN: %python %S/Inputs/status.py %mprof run -o out ./missing > status 2>&1
// RUN: FileCheck --check-prefix=NONE %s < status
// NONE: mprof run: ./missing: No such file or directory
// NONE: status 127
// RUN: not %mprof run 2>&1 | FileCheck --check-prefix=USAGE %s
// USAGE: mprof run: PROGRAM is missing; mprof help run

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *volatile kept;

__attribute__((noinline)) static void keep(void) { kept = malloc(1000); }

static void on_term(int number) {
  (void)number;
  static const char text[] = "got TERM\n";
  if (write(1, text, sizeof text - 1) < 0)
    _exit(1);
  _exit(5);
}

static volatile sig_atomic_t count;

static void on_signal(int number) {
  if (number != SIGRTMIN + 1) {
    count++;
    if (write(1, "got one\n", 8) < 0)
      _exit(1);
    return;
  }
  char text[] = "got 0 signals\n";
  text[4] = (char)('0' + count);
  if (write(1, text, sizeof text - 1) < 0)
    _exit(1);
  _exit(0);
}

// Waits for signals, which do not interrupt each other.
static void count_signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigfillset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGRTMIN, &action, NULL);
  sigaction(SIGRTMIN + 1, &action, NULL);
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}

int main(int argc, char **argv) {
  char line[64] = "";
  keep();
  if (argc > 1 && strcmp(argv[1], "frees") == 0) {
    free(kept);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "killed") == 0)
    raise(SIGKILL);
  if (argc > 1 && strcmp(argv[1], "count") == 0)
    count_signals();
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    signal(SIGTERM, on_term);
    puts("ready");
    fflush(stdout);
    for (;;)
      pause();
  }
  if (fgets(line, sizeof line, stdin))
    printf("%s %s", argv[1], line);
  return argc > 2 ? atoi(argv[2]) : 0;
}
