// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loads of gate.py whose heap functions are called by code that the pass
// has not rewritten, as in libraries. This file is compiled without the pass
// for both programs, so each of its calls reaches an interceptor of MProf.
//   free-null    free of null pointers
//   malloc       malloc and free of small blocks
//   calloc       calloc and free of small blocks
//   realloc      realloc of a null pointer, growth of the block, and free
//   delete-null  operator delete of null pointers
//   new          operator new and delete of small blocks
//   regexec      regexec of libc, which frees several null pointers in a call
//
// usage: gate-library LOAD ROUNDS

#include "bench.h"

#include <new>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_null(long rounds) {
  for (long i = 0; i < rounds; i++)
    free(nullptr);
}

static void use_malloc(long rounds) {
  for (long i = 0; i < rounds; i++) {
    void *p = malloc(16 + (size_t)(i % 4) * 16);
    bench_sink(p);
    free(p);
  }
}

static void use_calloc(long rounds) {
  for (long i = 0; i < rounds; i++) {
    void *p = calloc(1 + (size_t)(i % 4), 16);
    bench_sink(p);
    free(p);
  }
}

static void use_realloc(long rounds) {
  for (long i = 0; i < rounds; i++) {
    void *p = realloc(nullptr, 16);
    bench_sink(p);
    p = realloc(p, 48);
    bench_sink(p);
    free(p);
  }
}

static void delete_null(long rounds) {
  for (long i = 0; i < rounds; i++) {
    operator delete(nullptr);
    operator delete(nullptr, (size_t)16);
  }
}

static void use_new(long rounds) {
  for (long i = 0; i < rounds; i++) {
    void *p = operator new(16 + (size_t)(i % 4) * 16);
    bench_sink(p);
    operator delete(p);
  }
}

static void use_regexec(long rounds) {
  static const char line[] = "int lua_12345x;";
  static regex_t re;
  if (re.buffer == nullptr && regcomp(&re, "lua_[a-z]*x", REG_EXTENDED) != 0)
    exit(1);
  for (long i = 0; i < rounds; i++) {
    regmatch_t m[1];
    int result = regexec(&re, line, 1, m, 0);
    bench_sink(&result);
  }
}

static const struct {
  const char *name;
  void (*run)(long rounds);
} loads[] = {{"free-null", free_null},     {"malloc", use_malloc},
             {"calloc", use_calloc},       {"realloc", use_realloc},
             {"delete-null", delete_null}, {"new", use_new},
             {"regexec", use_regexec}};
static void (*run)(long rounds);

extern "C" __attribute__((noinline)) void gate_warm_up(long rounds) {
  run(rounds);
  bench_sink(nullptr); // not a tail call
}

extern "C" __attribute__((noinline)) void gate_counted(long rounds) {
  run(rounds);
  bench_sink(&run); // another body than gate_warm_up, and not a tail call
}

int main(int argc, char **argv) {
  for (auto &load : loads)
    if (argc > 1 && strcmp(argv[1], load.name) == 0)
      run = load.run;
  if (run == nullptr) {
    fprintf(stderr, "gate-library: the first argument must be a load\n");
    return 2;
  }
  long rounds = bench_arg(argc, argv, 2);
  gate_warm_up(rounds);
  gate_counted(rounds);
  return 0;
}
