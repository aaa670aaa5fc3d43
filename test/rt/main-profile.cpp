// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with main_profile=1, the profile main shows the blocks in use when
// main returned or called exit: also those that a function of atexit,
// registered as late as in main, and the destructors of static objects free
// afterwards. The profile at exit shows only those that stay. So it is in a
// program that was compiled with MProf, in one that was not, and in a forked
// child.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 -pthread %s -o app
// RUN: %clangxx -O1 -g1 -pthread %s -o plain
// DEFINE: %{options} = MPROF_OPTIONS=heap_rate=1:main_profile=1:report=0
// DEFINE: %{read} = %mprof_read --by-function keep_in_object \
// DEFINE:   --by-function keep_for_atexit --by-function keep_for_ever
//
// RUN: for how in return exit; do \
// RUN:   env %{options}:log_path=$how ./app $how && \
// RUN:   %{read} $how.*.main.pb.gz | FileCheck %s --check-prefix=MAIN && \
// RUN:   %{read} $how.*.heap.pb.gz | FileCheck %s --check-prefix=EXIT && \
// RUN:   %mprof run -q -o run.$how -O heap_rate=1:main_profile=1 ./plain $how && \
// RUN:   %{read} run.$how/mprof.plain.*.main.pb.gz | FileCheck %s --check-prefix=MAIN && \
// RUN:   %{read} run.$how/mprof.plain.*.heap.pb.gz | FileCheck %s --check-prefix=EXIT || exit 1; done
// MAIN: cum keep_in_object: {{.*}} inuse_space=1000
// MAIN: cum keep_for_atexit: {{.*}} inuse_space=200
// MAIN: cum keep_for_ever: {{.*}} inuse_space=30
// EXIT: cum keep_in_object: {{.*}} inuse_space=0
// EXIT: cum keep_for_atexit: {{.*}} inuse_space=0
// EXIT: cum keep_for_ever: {{.*}} inuse_space=30
//
// The child allocates another object, and the parent none.
// RUN: env %{options}:log_path=fork.%%p ./app fork
// RUN: ls fork.*.main.pb.gz | wc -l | grep -qx 2
// RUN: for f in fork.*.main.pb.gz; do %{read} $f; done | FileCheck %s --check-prefix=FORK
// FORK-DAG: keep_in_object: {{.*}} inuse_space=1000
// FORK-DAG: keep_for_ever: {{.*}} inuse_space=30
//
// mprof diff shows what was freed, and does not add up the two profiles.
// RUN: %mprof diff return.*.main.pb.gz return.*.heap.pb.gz | FileCheck %s --check-prefix=DIFF
// DIFF: 1,000 B 0 B -1,000 B gone keep_in_object
// DIFF-NEXT: 200 B 0 B -200 B gone keep_for_atexit
// RUN: not %mprof top return.*.main.pb.gz return.*.heap.pb.gz 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SUM
// SUM: cannot be added up
//
// Without the option, and if main has not ended because another thread called
// exit, there is no such profile.
// RUN: %run{heap_rate=1:report=0:log_path=off} ./app return
// RUN: env %{options}:log_path=thread ./app thread
// RUN: ls off.*.heap.pb.gz thread.*.heap.pb.gz
// RUN: not ls off.*.main.pb.gz
// RUN: not ls thread.*.main.pb.gz

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile leaked;
static void *volatile freed_by_atexit;

namespace {
struct object {
  void *volatile block;
  ~object() { free(block); }
};
object of_file;
} // namespace

__attribute__((noinline)) static void keep_in_object(object &o) {
  o.block = malloc(1000);
}

__attribute__((noinline)) static void keep_for_atexit() {
  freed_by_atexit = malloc(200);
  atexit([] { free(freed_by_atexit); });
}

__attribute__((noinline)) static void keep_for_ever() { leaked = malloc(30); }

static void *ends_process(void *) { exit(0); }

int main(int, char **argv) {
  const char *how = argv[1];
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      keep_in_object(of_file);
      return 0;
    }
    keep_for_ever();
    return child < 0 || waitpid(child, nullptr, 0) != child;
  }
  static object of_function;
  keep_in_object(of_function);
  keep_for_ever();
  keep_for_atexit();
  if (strcmp(how, "exit") == 0)
    exit(0);
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, ends_process, nullptr) == 0)
      pthread_join(thread, nullptr);
  }
  return 0;
}
