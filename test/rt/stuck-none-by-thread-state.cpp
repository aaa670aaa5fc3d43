// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread waits for a semaphore whose address is in the state of
// another std::thread (its function object). The waiting thread is not stuck,
// because the other thread posts the semaphore when it ends. If only the state
// of the waiting thread itself has the address, the thread is stuck.
//
// RUN: %mprof_clangxx -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include <atomic>
#include <mprof/mprof.h>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
#include <unistd.h>

static std::atomic<bool> must_end;
static std::atomic<int> begun;

struct PostsAtEnd {
  sem_t *sem;
  explicit PostsAtEnd(sem_t *sem) : sem(sem) {}
  PostsAtEnd(PostsAtEnd &&other) : sem(other.sem) { other.sem = nullptr; }
  ~PostsAtEnd() {
    if (sem)
      sem_post(sem);
  }
  void operator()() const {
    begun++;
    while (!must_end)
      usleep(1000);
  }
};

static std::thread waiting, posting;

__attribute__((noinline)) static void begin(std::thread *posts,
                                            std::thread *waits) {
  sem_t *sem = new sem_t;
  sem_init(sem, 0, 0);
  if (posts)
    *posts = std::thread(PostsAtEnd(sem));
  *waits = std::thread([sem] {
    begun++;
    sem_wait(sem);
  });
}

__attribute__((noinline)) static void forget_calls() {
  volatile char old[16384];
  for (size_t i = 0; i < sizeof(old); i++)
    old[i] = 0;
}

static void apart(std::thread *posts, std::thread *waits) {
  std::thread([=] {
    begin(posts, waits);
    forget_calls();
  }).join();
  forget_calls();
}

// Repeats until the stuck thread is found; it may not wait yet.
static size_t count_stuck() {
  static mprof_stack_record records[8];
  size_t n = 0;
  for (int i = 0; i < 12000 && n == 0; i++) {
    usleep(10000);
    forget_calls();
    if (mprof_thread_leak_profile(records, 8, &n) != 0)
      _exit(2);
  }
  return n;
}

int main() {
  static std::thread stuck;
  apart(nullptr, &stuck);
  apart(&posting, &waiting);
  while (begun < 3)
    usleep(1000);
  for (int i = 0; i < 3; i++)
    if (count_stuck() != 1)
      _exit(1);
  must_end = true;
  posting.join();
  waiting.join();
  _exit(0);
}
