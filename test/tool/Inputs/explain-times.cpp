// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads lock two mutexes in different orders, and the program computes
// for a while.

#include <chrono>
#include <mutex>
#include <thread>

static std::mutex a, b;

static void first() { std::lock_guard<std::mutex> one(a), two(b); }

static void second() { std::lock_guard<std::mutex> one(b), two(a); }

int main() {
  std::thread(first).join();
  std::thread(second).join();
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < end)
    ;
}
