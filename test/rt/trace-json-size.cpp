// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a trace has many waits at deep C++ stacks, its JSON is at most 15
// times as large as the trace. To keep this limit, mprof trace json leaves out
// arrows and prints their number. With --arrows=all, the JSON has all arrows.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o convoy -pthread
// RUN: %run_quiet{trace=1:log_path=x} ./convoy
// RUN: %trace_json -o some.json x.*.trace 2> some.err
// RUN: %trace_json --arrows=all -o all.json x.*.trace
// RUN: %python -B %S/../format/Inputs/timeline.py some.json all.json > out
// RUN: trace=$(stat -c %%s x.*.trace) && test $trace -gt 100000 && \
// RUN:   test $(stat -c %%s some.json) -le $((15 * trace))
// RUN: some=$(grep -c '"ph":"s"' some.json) && \
// RUN:   all=$(grep -c '"ph":"s"' all.json) && \
// RUN:   echo "$((all - some)) missing" >> some.err
// RUN: FileCheck %s < some.err
// CHECK: left out [[N:[1-9][0-9]*]] arrows to keep the JSON small; --arrows=all writes them
// CHECK: {{^}}[[N]] missing

#include <condition_variable>
#include <mutex>
#include <semaphore.h>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable turned;
static int turn;

enum { THREADS = 4, TURNS = 3000 };

static sem_t may_go[THREADS];

// Waits for the turn of this thread, and gives the turn to the next one. Four
// of five turns use semaphores. A trace has messages for each wait and each
// release of a lock, but the JSON does not have them. So the JSON of
// waits for locks is small for its trace, and no arrows would be left out.
static void take_turn(int own, int number) {
  if (number % 5 < 4) {
    sem_wait(&may_go[own]);
    sem_post(&may_go[(own + 1) % THREADS]);
    return;
  }
  std::unique_lock<std::mutex> held(lock);
  turned.wait(held, [own] { return turn % THREADS == own; });
  turn++;
  turned.notify_all();
}

template <int N> __attribute__((noinline)) int at_depth(int own, int number) {
  if constexpr (N == 0) {
    take_turn(own, number);
    return own;
  } else {
    return at_depth<N - 1>(own, number) * 3 + N;
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int own = 0; own < THREADS; own++)
    sem_init(&may_go[own], 0, own == 0);
  for (int own = 0; own < THREADS; own++)
    threads.emplace_back([own] {
      for (int i = 0; i < TURNS; i++)
        at_depth<20>(own, i);
    });
  for (std::thread &t : threads)
    t.join();
}
