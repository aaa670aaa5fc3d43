// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: names in libc, whose debug information is in a compressed file of the
// package libc6-dbg, are looked up once and then come from the user's cache
// directory. So do names in a program with compressed debug information. The
// cache is not used if other users can change it, if it is damaged or about
// another file, or with symbolizer_cache=0.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 %s -o app
// RUN: %run{heap_rate=1:log_path=off:symbolizer_cache=0} \
// RUN:   XDG_CACHE_HOME=$PWD/cache ./app && test ! -e cache
// RUN: gzip -dc off.*.heap.pb.gz | grep -ac __alloc_dir
//
// RUN: %run{heap_rate=1:log_path=first} XDG_CACHE_HOME=$PWD/cache ./app
// RUN: ls cache/mprof | grep -x 'names-[0-9]*' && ls cache/mprof | wc -l | grep -x 1
// RUN: basename cache/mprof/* > name
// RUN: sed 's/__alloc_dir/__alloc_new/' cache/mprof/* > changed
//
// DEFINE: %{look} = rm -f p.* && %run{heap_rate=1:log_path=p} XDG_CACHE_HOME=$PWD/cache ./app && gzip -dc p.*.heap.pb.gz | grep -a -o '__alloc_[a-z]*'
// RUN: %{look} | grep -x __alloc_dir
// RUN: cp changed cache/mprof/$(cat name)
// RUN: %{look} | grep -x __alloc_new
// RUN: chmod g+w cache/mprof/$(cat name) && %{look} | grep -x __alloc_dir
// RUN: cp changed cache/mprof/$(cat name) && chmod 755 cache/mprof/$(cat name)
// RUN: %{look} | grep -x __alloc_new
// RUN: chmod o+w cache/mprof && %{look} | grep -x __alloc_dir
// RUN: chmod o-w cache/mprof && %{look} | grep -x __alloc_new
// RUN: chmod o+w cache && %{look} | grep -x __alloc_dir && chmod o-w cache
// RUN: sed 's/names 1/names 0/' changed > cache/mprof/$(cat name)
// RUN: %{look} | grep -x __alloc_dir
// RUN: head -c 100 changed > cache/mprof/$(cat name)
// RUN: %{look} | grep -x __alloc_dir
//
// In HOME, the directory is .cache.
// RUN: mkdir home && %run{heap_rate=1:log_path=home} XDG_CACHE_HOME= HOME=$PWD/home ./app
// RUN: ls home/.cache/mprof | grep 'names-'
//
// In the home of another user, no directory is made. Only root can try this.
// RUN: mkdir other && { chown 1000 other || true; }
// RUN: test $(stat -c %%u other) = $(id -u) || \
// RUN:   { %run{heap_rate=1:log_path=o} XDG_CACHE_HOME= HOME=$PWD/other ./app && \
// RUN:     ls -A other | count 0; }
//
// The begin of the build id selects the file of the cache. If the program's
// file is that of libc, the second build id selects another.
// RUN: works() { rm -rf cache && %mprof_clang -fmprof -g -O1 -gz %s \
// RUN:   -Wl,--build-id=$1 -o compressed && \
// RUN:   %run{heap_rate=1:log_path=z} XDG_CACHE_HOME=$PWD/cache ./compressed && \
// RUN:   grep -rlaw allocate cache/mprof; }
// RUN: works 0x00011111 || works 0x00022222

#include <dirent.h>
#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void allocate(void) {
  sink = malloc(100);
  sink = opendir("/");
}

int main(void) {
  allocate();
  return 0;
}
