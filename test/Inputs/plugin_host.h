// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host of a test with a plugin: a C program that opens ./plugin.so.

#ifndef MPROF_TEST_PLUGIN_HOST_H
#define MPROF_TEST_PLUGIN_HOST_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// Opens the plugin and returns its function `work`. Ends the program with
// status 1 if the plugin cannot be opened.
static inline void *plugin_work(void) {
  void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    puts(dlerror());
    exit(1);
  }
  return dlsym(plugin, "work");
}

#endif // MPROF_TEST_PLUGIN_HOST_H
