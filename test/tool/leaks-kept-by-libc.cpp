// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof leaks counts blocks that libc, the loader and the C++ library
// keep by design apart from leaks, and --all shows them. A leak below a
// function of libc, in the constructor of a plugin, is a leak. So is a block
// that the program must free by a function of libc.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -g -O1 %s -pthread -o app
// RUN: %mprof_clangxx -fmprof -g -O1 -DPLUGIN -shared -fPIC %s -o plugin.so
// RUN: for way in threads environment process locale thread_key loader \
// RUN:   freed dates users; do \
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
// PLUGIN-NEXT: blocks that the program can still reach count as leaks, too
// PLUGIN-NEXT: without {{[0-9]+}} blocks
//
// RUN: for way in locales locale_t copied_locale_t charset resolver stream \
// RUN:   directory expression addresses; do \
// RUN:   env MPROF_OPTIONS=heap_rate=1:log_path=$way ./app $way || exit 1; \
// RUN:   code=0; %build/bin/mprof leaks $way.*.heap.pb.gz > $way.out || code=$?; \
// RUN:   test $code -eq 1 && grep '^leaks: [1-9]' $way.out \
// RUN:     || { echo $way; cat $way.out; exit 1; }; done

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
#include <ctime>
#include <dirent.h>
#include <dlfcn.h>
#include <iconv.h>
#include <locale>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
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

static void freed() {
  iconv_close(iconv_open("UTF-16", "UTF-8"));
  locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  freelocale(duplocale(l));
  freelocale(l);
  std::locale local("C.UTF-8");
}

static void dates() {
  time_t t = 0;
  localtime(&t);
  t = mktime(gmtime(&t));
  strerror(12345);
}

static addrinfo *addresses() {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  getaddrinfo("127.0.0.1", "80", &hints, &found);
  return found;
}

static regex_t expression;
static struct __res_state resolver;

int main(int argc, char **argv) {
  const char *way = argc == 2 ? argv[1] : "";
  if (!strcmp(way, "locales"))
    for (int i = 0; i < 2; i++)
      new std::locale("C.UTF-8");
  else if (!strcmp(way, "locale_t"))
    return !newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  else if (!strcmp(way, "copied_locale_t"))
    return !duplocale(LC_GLOBAL_LOCALE);
  else if (!strcmp(way, "charset"))
    return !iconv_open("UTF-16", "UTF-8");
  else if (!strcmp(way, "resolver"))
    return res_ninit(&resolver);
  else if (!strcmp(way, "stream"))
    return !fopen("/dev/null", "r");
  else if (!strcmp(way, "directory"))
    return !opendir(".");
  else if (!strcmp(way, "expression"))
    return regcomp(&expression, "a*b", 0);
  else if (!strcmp(way, "addresses"))
    return !addresses();
  else if (!strcmp(way, "freed"))
    freed();
  else if (!strcmp(way, "dates"))
    dates();
  else if (!strcmp(way, "users"))
    getpwnam("root");
  else if (!strcmp(way, "threads"))
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
