// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads lock two mutexes in different orders, and the program computes
// for a while.

#include <ctime>
#include <mutex>
#include <thread>

static std::mutex a, b;

static void first() { std::lock_guard<std::mutex> one(a), two(b); }

static void second() { std::lock_guard<std::mutex> one(b), two(a); }

int main() {
  std::thread(first).join();
  std::thread(second).join();
  // A loaded machine may let a thread wait for longer.
  while (std::clock() < CLOCKS_PER_SEC * 3 / 10)
    ;
}
