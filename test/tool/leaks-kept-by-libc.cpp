// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof leaks counts blocks that libc, the loader and the C++ library
// keep by design apart from leaks, and --all shows them. A leak below a
// function of libc, in the constructor of a plugin, is a leak.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -g -O1 %s -pthread -o app
// RUN: %mprof_clangxx -fmprof -g -O1 -DPLUGIN -shared -fPIC %s -o plugin.so
// RUN: for way in threads environment process locale thread_key loader; do \
// RUN:   env MPROF_OPTIONS=heap_rate=1:log_path=$way ./app $way || exit 1; \
// RUN:   %build/bin/mprof leaks $way.*.heap.pb.gz > $way.out \
// RUN:     || { echo $way; cat $way.out; exit 1; }; \
// RUN:   grep -E 'leaks: 0 B at 0 stacks' $way.out || exit 1; \
// RUN:   grep -E '^without [0-9]+ blocks? .*that libc keeps by design' \
// RUN:     $way.out || exit 1; done
//
// RUN: not %build/bin/mprof leaks --all --std threads.*.heap.pb.gz \
// RUN:   | FileCheck %s --check-prefix=ALL
// ALL-NOT: by design
// ALL: pthread_create
// ALL-NOT: by design
//
// RUN: env MPROF_OPTIONS=heap_rate=1:log_path=plugin ./app plugin
// RUN: not %build/bin/mprof leaks plugin.*.heap.pb.gz \
// RUN:   | FileCheck %s --check-prefix=PLUGIN
// PLUGIN: leak of {{[0-9]+}} B in 1 block
// PLUGIN-NEXT: Registry::Registry
// PLUGIN: leaks: {{[0-9]+}} B at 1 stack
// PLUGIN-NEXT: without {{[0-9]+}} blocks

#ifdef PLUGIN
#include <cstring>
struct Registry {
  char *name;
  __attribute__((noinline)) Registry() : name(strdup("never freed")) {}
};
Registry registry;
#else
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <locale>
#include <pthread.h>
#include <thread>
#include <vector>

static void threads() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back([] {});
  for (std::thread &t : all)
    t.join();
}

static void environment() {
  for (int i = 0; i < 40; i++) {
    char name[20];
    snprintf(name, sizeof name, "NAME%d", i);
    setenv(name, "first value", 1);
    setenv(name, "second value", 1);
  }
}

static void nothing() {}

static void process() {
  for (int i = 0; i < 60; i++) {
    atexit(nothing);
    pthread_atfork(nothing, nothing, nothing);
  }
}

static void locale() {
  setlocale(LC_ALL, "C.UTF-8");
  std::locale::global(std::locale("C.UTF-8"));
}

static void thread_key() {
  for (int i = 0; i < 100; i++) {
    pthread_key_t key;
    pthread_key_create(&key, nullptr);
    pthread_setspecific(key, &key);
  }
}

int main(int argc, char **argv) {
  const char *way = argc == 2 ? argv[1] : "";
  if (!strcmp(way, "threads"))
    threads();
  else if (!strcmp(way, "environment"))
    environment();
  else if (!strcmp(way, "process"))
    process();
  else if (!strcmp(way, "locale"))
    locale();
  else if (!strcmp(way, "thread_key"))
    thread_key();
  else if (!strcmp(way, "loader"))
    return !dlopen("libz.so.1", RTLD_NOW);
  else
    return !dlopen("./plugin.so", RTLD_NOW);
  return 0;
}
#endif
