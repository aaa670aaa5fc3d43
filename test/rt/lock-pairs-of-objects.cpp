// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof locks shows locks in counted blocks by the type of the block,
// the line that allocated it, and the offset in the block. Locks of many
// objects are one row, and two locks of one object are two.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:mutex_fraction=1:log_path=x} ./app
// RUN: %mprof locks x.*.locks.pb.gz > out
// RUN: grep -o 'mutex +[0-9]* in .*' out | sort -u | FileCheck %s
//
// CHECK: mutex +48 in Account lock-pairs-of-objects.cpp:[[@LINE+14]]
// CHECK-NEXT: mutex +8 in Account lock-pairs-of-objects.cpp:[[@LINE+13]]
// CHECK-NOT: {{.}}

#include "waited.h"

#include <mutex>
#include <thread>

struct Account {
  long balance = 0;
  std::mutex first, second;
};

__attribute__((noinline)) static Account *open_account() { return new Account; }

static void contend(std::mutex &m) {
  m.lock();
  std::thread t([&m] { std::lock_guard<std::mutex> guard(m); });
  until_waited_for(&m);
  m.unlock();
  t.join();
}

static Account *accounts[3];

int main() {
  for (Account *&a : accounts) {
    a = open_account();
    contend(a->first);
    contend(a->second);
  }
  return 0;
}
