// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thousand libraries are loaded at the same addresses one after
// another, allocate at the same return addresses, and are unloaded. Every stack
// of the profile has the function of its own library and a mapping with this
// library's path and build id. The result, errno and dlerror text of dlclose
// are the same as without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: n=%if emulated %{100%} %else %{300%}
// RUN: %mprof_clang -fmprof -O1 -g1 -fPIC -shared -DPLUGIN %s -o template.so \
// RUN:   -Wl,--build-id=0x9999999999999999999999999999999999999999
// RUN: %python %S/Inputs/plugins.py make template.so $n
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:report_top=1000:log_path=out} ./app $n
// RUN: %python %S/Inputs/plugins.py check out.*.heap.pb.gz $n
// RUN: not grep -q 'no longer mapped' out.*.txt
// RUN: not grep -q 'Missing from the profiles' out.*.txt
// RUN: grep -q 'in plugin_0045 .*unloaded-modules.c:' out.*.txt
//
// The same test, with the libraries closed by code without MProf.
// RUN: %clang -fPIC -shared -DCLOSER %s -o libcloser.so
// RUN: %mprof_clang -fmprof -O1 -g1 -Ddlclose=close_it \
// RUN:   -I%src/test/Inputs %s -o other -L. -lcloser -Wl,-rpath,%t.dir
// RUN: %run{heap_rate=1:log_path=other} ./other $n
// RUN: %python %S/Inputs/plugins.py check other.*.heap.pb.gz $n
// RUN: not grep -q 'Missing from the profiles' other.*.txt

#ifdef PLUGIN
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) static void plugin_9999(void) { sink = malloc(64); }
void run(void) {
  plugin_9999();
  __asm__ volatile("");
}
#elif defined(CLOSER)
#include <dlfcn.h>
int close_it(void *handle) { return dlclose(handle); }
#else
#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  NEED(argc == 2);
  void *first = NULL;
  for (int i = 0; i < atoi(argv[1]); i++) {
    char name[32];
    snprintf(name, sizeof(name), "./plugin.%04d.so", i);
    void *plugin = dlopen(name, RTLD_NOW);
    NEED(plugin);
    void (*run)(void) = (void (*)(void))dlsym(plugin, "run");
    NEED(run);
    if (i == 0)
      first = (void *)run;
    // The emulator does not map at an address that became free.
    NEED((void *)run == first || getenv("MPROF_TEST_EMULATED") != NULL);
    run();
    errno = 42;
    NEED(dlclose(plugin) == 0);
    NEED(errno == 42);
    NEED(dlerror() == NULL);
  }
  void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  NEED(libc && dlclose(libc) == 0);
  NEED(dlclose(libc) != 0); // one time too many
  const char *why = dlerror();
  NEED(why && strstr(why, "not open"));
  return 0;
}
#endif
