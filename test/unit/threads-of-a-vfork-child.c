// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an event in a child of vfork adds no thread to the parent's registry,
// and takes neither the record nor the shard of a living thread of the parent.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "process/process.h"
#include "thread/threads.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

// Creates a child of vfork that asks for its record. Returns whether it got
// one. The calling thread has no record yet, and the child has its thread-local
// variables.
static bool child_gets_record(void) {
  int status;
  const pid_t pid = vfork();
  if (pid == 0) {
    mprof_guard_enter();
    _exit(mprof_thread_self(false) == NULL ? 0 : 1);
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  mprof_guard_leave();
  return WEXITSTATUS(status) != 0;
}

static void *other_thread(void *first) {
  const struct mprof_thread *t = first;
  const unsigned shard = t->shard;
  CHECK(mprof_tls.self == NULL);
  CHECK(!child_gets_record());
  CHECK(mprof_tls.self == NULL);
  CHECK_EQ(mprof_threads_number(), 1);
  CHECK_EQ(t->shard, shard);

  // The thread itself gets its own record after the child has ended.
  CHECK(mprof_guard_enter());
  const struct mprof_thread *own = mprof_thread_self(false);
  CHECK(own != NULL && own != t);
  CHECK(own->shard != shard);
  CHECK_EQ(own->tid, gettid());
  mprof_guard_leave();
  CHECK_EQ(mprof_threads_number(), 2);
  return NULL;
}

int main(void) {
  CHECK(mprof_process_ready());
  CHECK(mprof_guard_enter());
  struct mprof_thread *t = mprof_thread_self(false);
  mprof_guard_leave();
  CHECK(t != NULL && t->shard != 0);
  // As after the destructor of the thread's pthread key: the runtime asks the
  // kernel whether the thread has ended.
  t->countdown = NULL;
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, other_thread, t), 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  return 0;
}
