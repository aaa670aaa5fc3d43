// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: names are looked up once and then come from the user's cache
// directory: names in the program, with and without compressed debug
// information, and in libc. The cache is not used if other users can change it,
// if it is damaged or about another file, or with symbolizer_cache=0.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 %s -o app && cp app app.other
// The names of two modules may have the same place in the cache. Then the
// program with the other path has another place.
// RUN: %run{heap_rate=1:log_path=places} XDG_CACHE_HOME=$PWD/places ./app
// RUN: grep -ra __alloc_dir places && grep -raw allocate places || mv app.other app2
// DEFINE: %{app} = ./$(ls app2 || echo app)
// RUN: %run{heap_rate=1:log_path=off:symbolizer_cache=0} \
// RUN:   XDG_CACHE_HOME=$PWD/cache %{app} && test ! -e cache
// RUN: gzip -dc off.*.heap.pb.gz | grep -ac __alloc_dir
//
// RUN: %run{heap_rate=1:log_path=first} XDG_CACHE_HOME=$PWD/cache %{app}
// RUN: ls cache/mprof | not grep -vx 'names-[0-9]*'
// RUN: grep -lar __alloc_dir cache/mprof > name && wc -l < name | grep -x 1
// RUN: grep -lar allocate cache/mprof > program && wc -l < program | grep -x 1
// RUN: sed 's/__alloc_dir/__alloc_new/' $(cat name) > changed
// RUN: sed 's/allocate/allo-new/' $(cat program) > changed-program
//
// DEFINE: %{look} = rm -f p.* && %run{heap_rate=1:log_path=p} XDG_CACHE_HOME=$PWD/cache %{app} && gzip -dc p.*.heap.pb.gz | grep -a -o '__alloc_[a-z]*'
// RUN: %{look} | grep -x __alloc_dir
// RUN: cp changed $(cat name)
// RUN: %{look} | grep -x __alloc_new
// RUN: chmod o+w $(cat name) && %{look} | grep -x __alloc_dir
// RUN: cp changed $(cat name) && chmod 755 $(cat name)
// RUN: chgrp 12 $(cat name) && chmod g+w $(cat name)
// RUN: %{look} | grep -x __alloc_dir
// RUN: cp changed $(cat name) && chmod 755 $(cat name)
// RUN: %{look} | grep -x __alloc_new
// RUN: chmod o+w cache/mprof && %{look} | grep -x __alloc_dir
// RUN: chmod o-w cache/mprof && %{look} | grep -x __alloc_new
// RUN: chmod o+w cache && %{look} | grep -x __alloc_dir && chmod o-w cache
// RUN: sed 's/names 2/names 1/' changed > $(cat name)
// RUN: %{look} | grep -x __alloc_dir
// RUN: head -c 100 changed > $(cat name)
// RUN: %{look} | grep -x __alloc_dir
//
// The program's file is another one after the copy.
// DEFINE: %{look_in_program} = rm -f p.* && %run{heap_rate=1:log_path=p} XDG_CACHE_HOME=$PWD/cache %{app} && gzip -dc p.*.heap.pb.gz | grep -a -o 'allocate\|allo-new'
// RUN: cp changed-program $(cat program) && %{look_in_program} | grep -x allo-new
// RUN: cp %{app} new && mv new %{app} && %{look_in_program} | grep -x allocate
//
// In HOME, the directory is .cache.
// RUN: mkdir home && %run{heap_rate=1:log_path=home} XDG_CACHE_HOME= HOME=$PWD/home %{app}
// RUN: ls home/.cache/mprof | grep 'names-'
//
// In the home of another user, no directory is made. Only root can try this.
// RUN: mkdir other && { chown 1000 other || true; }
// RUN: test $(stat -c %%u other) = $(id -u) || \
// RUN:   { %run{heap_rate=1:log_path=o} XDG_CACHE_HOME= HOME=$PWD/other %{app} && \
// RUN:     ls -A other | count 0; }
//
// RUN: works() { rm -rf cache && %mprof_clang -fmprof -g -O1 -gz %s -o $1 && \
// RUN:   %run{heap_rate=1:log_path=z} XDG_CACHE_HOME=$PWD/cache ./$1 && \
// RUN:   grep -rlaw allocate cache/mprof; }
// RUN: works compressed || works compressed2

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
