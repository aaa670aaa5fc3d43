// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an invalid free or realloc ends the program just as it does without
// MProf, by the same signal and with the allocator's own message. The test
// frees blocks twice, foreign addresses, addresses inside a block, and
// page-aligned addresses with various words in front of them. The test runs in
// exact and in sampled mode, with malloc intercepted or not.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -O1 -std=c++17 %s -o plain
// RUN: %mprof_clangxx -fmprof -O1 -std=c++17 %s -o with
// RUN: %mprof_clangxx -fmprof -fmprof-intercept -O1 -std=c++17 %s -o intercepts
// RUN: ulimit -c 0; \
// RUN: for what in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do \
// RUN:   status=0; ./plain $what 2> expected || status=$?; \
// RUN:   test $status -ge 128 || exit 1; \
// RUN:   for app in with intercepts; do \
// RUN:     for mode in heap_rate=1 seed=3; do \
// RUN:       now=0; %run_quiet{$mode:verbosity=0} \
// RUN:         ./$app $what 2> err || now=$?; \
// RUN:       echo "$app $mode $what: $now, not $status"; \
// RUN:       test $now = $status && diff expected err || exit 1; \
// RUN:     done; \
// RUN:   done; \
// RUN: done

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

// glibc takes the word before a freed address for the size of its chunk.
alignas(4096) static std::uint64_t memory[3 * 512];
static void *volatile block, *volatile sink;

static void *in_front(std::uint64_t header) {
  memory[511] = header;
  return &memory[512];
}

// Allocates blocks of which some are sampled and others are not.
static void warm_up() {
  for (int i = 0; i < 20000; i++) {
    std::free(sink = std::malloc(200));
    operator delete(sink = operator new(300));
  }
}

int main(int, char **argv) {
  char local[64];
  warm_up();
  block = std::malloc(200);
  std::malloc(200);
  switch (std::atoi(argv[1])) {
  case 0:
    std::free(block);
    std::free(block);
    break;
  case 1: // too large for any cache
    block = std::malloc(5000);
    sink = std::malloc(5000);
    std::free(block);
    std::free(block);
    break;
  case 2:
    sink = std::memset(local, 0x41, sizeof local);
    block = local + 16;
    std::free(block);
    break;
  case 3:
    std::memset(block, 0, 200);
    std::free(static_cast<char *>(block) + 8);
    break;
  case 4:
    std::memset(block, 0, 200);
    std::free(static_cast<char *>(block) + 64);
    break;
  case 5:
    std::free(in_front(0));
    break;
  case 6:
    std::free(in_front(0x4141414141414141));
    break;
  case 7:
    std::free(in_front(0x7fffffffffff1));
    break;
  case 8:
    sink = std::realloc(in_front(0x4141414141414141), 300);
    break;
  case 9:
    block = operator new(300);
    operator delete(block);
    operator delete(block);
    break;
  case 10:
    operator delete(in_front(0x4141414141414141));
    break;
  case 11:
    std::free(block);
    sink = std::realloc(block, 70000);
    break;
  // Large enough to be sampled each time.
  case 12:
    sink = std::memset(local, 0x41, sizeof local);
    block = local + 16;
    sink = std::realloc(block, 90 << 20);
    break;
  case 13:
    sink = std::realloc(in_front(0x7fffffffffff1), 90 << 20);
    break;
  case 14:
    std::memset(block, 0, 200);
    sink = std::realloc(static_cast<char *>(block) + 8, 90 << 20);
    break;
  case 15:
    std::memset(block, 0, 200);
    sink = std::realloc(static_cast<char *>(block) + 64, 90 << 20);
    break;
  case 16:
    sink = std::memset(local, 0x41, sizeof local);
    block = local + 16;
    sink = reallocarray(block, 90, 1 << 20);
    break;
  }
  return 0;
}
