// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory of jemalloc, tcmalloc and mimalloc is named as theirs. A
// profile of the process splits it into blocks in use, free memory and the
// allocator's own data, as far as the allocator says this. From outside, the
// memory is one part.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g %s -o app
// RUN: %run{heap_rate=1:report=0:log_path=a} \
// RUN:   LD_PRELOAD="%preload libjemalloc.so.2" ./app %mprof a.pb.gz > outside.a
// RUN: %run{heap_rate=1:report=0:log_path=b} \
// RUN:   LD_PRELOAD="%preload libtcmalloc_minimal.so.4" ./app %mprof b.pb.gz > outside.b
// RUN: %run{heap_rate=1:report=0:log_path=c} \
// RUN:   LD_PRELOAD="%preload libmimalloc.so.2" ./app %mprof c.pb.gz > outside.c
// RUN: for x in a b c; do %mprof memory $x.pb.gz > $x.txt; \
// RUN:   %mprof memory --format=json $x.pb.gz > $x.json; done
// RUN: %python -c "import json; \
// RUN:   parts = lambda x: {p['part']: p['rss'] for p in json.load(open(x))['parts']}; \
// RUN:   near = lambda v, least, most: least <= v / 20.8e6 < most;  \
// RUN:   a, b, c = parts('a.json'), parts('b.json'), parts('c.json'); \
// RUN:   print(a, b, c); \
// RUN:   assert near(a['[malloc: in use]'], 1, 1.1) and near(a['[malloc: free]'], 0.94, 1.1); \
// RUN:   assert near(b['[malloc: in use]'], 1, 1.1) and near(b['[malloc: cached]'], 0.94, 1.1); \
// RUN:   assert near(c['[malloc: in use]'], 1, 1.1) and near(c['[malloc: in use or free]'], 0.94, 1.2); \
// RUN:   outside = [parts('outside.' + x)['[malloc: in use or free]'] for x in 'abc']; \
// RUN:   assert all(40 << 20 < v < 52 << 20 for v in outside), outside"
// RUN: grep -q 'jemalloc keeps .* free: MALLOC_CONF=' a.txt
// RUN: grep -q 'tcmalloc keeps .* free: MallocExtension' b.txt

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 200000 };
static char *blocks[N];

int main(int argc, char **argv) {
  (void)argc;
  char command[4096];
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(208), 1, 208);
  for (int i = 0; i < N; i += 2)
    free(blocks[i]);
  int (*write_profile)(const char *, const char *, int) =
      (int (*)(const char *, const char *, int))dlsym(RTLD_DEFAULT,
                                                      "mprof_write_profile");
  if (!write_profile || write_profile("memory", argv[2], 0) != 0)
    return 1;
  snprintf(command, sizeof command,
           "env -u LD_PRELOAD %s memory %d --format=json", argv[1],
           (int)getpid());
  return system(command);
}
