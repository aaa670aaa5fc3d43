// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report's stacks begin with a frame of the program. They leave out
// frames of the C and C++ libraries, but not the function that waited. With
// report_std=1, stacks have all frames, and the sums are equal. With -g1, names
// of inlined members include their class. Paths of headers are short.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:block_rate=1:log_path=own} ./app
// RUN: FileCheck %s --check-prefix=OWN < own.*.txt
// RUN: %run{heap_rate=1:block_rate=1:log_path=all:report_std=1} ./app
// RUN: FileCheck %s --check-prefix=ALL < all.*.txt
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -stdlib=libc++ -O1 -g1 %s -o app %}
// RUN: %if libcxx %{ %run{heap_rate=1:block_rate=1:log_path=libcxx} ./app %}
// RUN: %if libcxx %{ FileCheck %s --check-prefix=OWN < libcxx.*.txt %}
//
// OWN: 1. 390.63 KiB (400,000 bytes) in 1 block
// OWN-NEXT: #0 {{0x[0-9a-f]+}} in blocks::grow {{/.*}}.cpp:
// OWN-NEXT: #1 {{0x[0-9a-f]+}} in fill {{/.*}}.cpp:
// OWN-NEXT: #2 {{0x[0-9a-f]+}} in main {{/.*}}.cpp:
// OWN: 2. 195.31 KiB (200,000 bytes) in 1 block
// OWN-NEXT: #0 {{0x[0-9a-f]+}} in less {{/.*}}.cpp:
// OWN-NEXT: {{^}}    ... {{[0-9]+}} frame{{s?}} of the standard library{{$}}
// OWN-NEXT: #1 {{0x[0-9a-f]+}} in main {{/.*}}.cpp:
// OWN: Where threads waited
// OWN: #0 {{0x[0-9a-f]+}} in pthread_cond_{{.*}}wait (
// OWN-NEXT: {{^}}    ... {{[0-9]+}} frames of the standard library{{$}}
// OWN-NEXT: #1 {{0x[0-9a-f]+}} in wait {{/.*}}.cpp:
// OWN-NEXT: #2 {{0x[0-9a-f]+}} in main {{/.*}}.cpp:
//
// ALL: 1. 390.63 KiB (400,000 bytes) in 1 block
// ALL-NEXT: allocator::allocate {{/[^.]*/}}c++/
// ALL-NOT: blocks::grow
// ALL: in std::vector::reserve {{/[^.]*/}}c++/
// ALL-NEXT: in blocks::grow {{/.*}}.cpp:
// ALL-NEXT: in fill {{/.*}}.cpp:
// ALL: 2. 195.31 KiB (200,000 bytes) in 1 block
// ALL-NOT: frames of the standard library

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

struct block {
  char bytes[100000];
};

struct blocks {
  std::vector<block> v;
  void grow() { v.reserve(v.size() + 4); }
};

static std::vector<int *> kept;

__attribute__((noinline)) static void fill(blocks &b) { b.grow(); }

__attribute__((noinline)) static bool less(int a, int b) {
  kept.push_back(new int[50000]);
  return a < b;
}

static std::mutex mutex;
static std::condition_variable ready;

__attribute__((noinline)) static void wait() {
  std::unique_lock<std::mutex> lock(mutex);
  ready.wait_for(lock, std::chrono::milliseconds(50));
}

int main() {
  blocks b;
  fill(b);
  int v[] = {2, 1};
  std::sort(v, v + 2, less);
  wait();
  for (int *p : kept)
    delete[] p;
  return 0;
}
