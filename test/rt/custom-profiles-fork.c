// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a forked child, the custom profiles of the parent exist and are
// empty, even if threads of the parent change them during the fork. The
// parent's handles are valid in the child. The child writes files of its own,
// and the parent's profiles do not change.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{report=0:symbolize=0:log_path=x} ./app
// RUN: ls x.*.conn.pb.gz | wc -l | grep -qx 21
// RUN: for f in x.*.conn.pb.gz; do %mprof_read --totals $f; done \
// RUN:   | sort | uniq -c > totals
// RUN: grep -x ' *20 total: conn=2' totals && grep -x ' *1 total: conn=3' totals

#include "records.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mprof_profile *conn;
static int has_ended;

enum { THREADS = 8 }; // enough that one holds the lock and others wait

static void *churn(void *arg) {
  uintptr_t value = (uintptr_t)arg;
  while (!__atomic_load_n(&has_ended, __ATOMIC_RELAXED)) {
    CHECK(mprof_profile_add(conn, value, 0) == 0);
    CHECK(mprof_profile_remove(conn, value) == 0);
  }
  return NULL;
}

static int in_child(void) {
  struct mprof_profile *other;
  CHECK(mprof_profile_count(conn) == 0);
  CHECK(mprof_profile_lookup("conn") == conn);
  CHECK(mprof_profile_remove(conn, 1) == ENOENT);
  CHECK(mprof_profile_new("conn", &other) == EEXIST);
  CHECK(mprof_profile_new("childs", &other) == 0);
  CHECK(mprof_profile_add(conn, 1, 0) == 0);
  CHECK(mprof_profile_add(conn, 2, 0) == 0);
  return 0;
}

int main(void) {
  pthread_t t[THREADS];
  CHECK(mprof_profile_new("conn", &conn) == 0);
  for (uintptr_t i = 1; i <= 3; i++)
    CHECK(mprof_profile_add(conn, i, 0) == 0);
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, churn, (void *)(100 + i));
  for (int i = 0; i < 20; i++) {
    pid_t pid = fork();
    if (pid == 0)
      return in_child();
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  has_ended = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  CHECK(mprof_profile_lookup("childs") == NULL);
  CHECK(mprof_profile_count(conn) == 3);
  return 0;
}
