// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an instrumented library has a malloc and operators of its own, which
// a version script hides. Code of the library calls them, both code with MProf
// and code without it. All blocks of the library come from its own allocator
// and go back there. They are not in the profile, but the program's blocks are.
// This holds whether the program opens the library or is linked with it, and
// also with -fno-mprof-intercept.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: echo '{ global: run; early*; local: *; };' > hide.map
// RUN: %clangxx -O1 -fPIC -DPLAIN_PART -c %s -o plain.o
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fPIC -shared -DLIBRARY %s plain.o \
// RUN:   -Wl,--version-script=hide.map -fuse-ld=bfd -o libown.so
// RUN: %mprof_clangxx -fmprof -O1 -g1 -DOPENS %s -o opens
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o linked -L. -lown \
// RUN:   -Wl,-rpath,%t.dir
// RUN: %mprof_clangxx -fmprof -fno-mprof-intercept -O1 -g1 -DOPENS %s -o bare
// RUN: %run{heap_rate=1:log_path=opens} ./opens
// RUN: %run{heap_rate=1:log_path=linked} ./linked
// RUN: %run{heap_rate=1:log_path=bare} ./bare
// RUN: %run{heap_rate=512:seed=2:log_path=sampled} ./opens
// RUN: for run in opens linked bare sampled; do \
// RUN:   %go tool pprof -sample_index=alloc_objects -top $run.*.heap.pb.gz \
// RUN:     > $run.top || exit 1; \
// RUN:   if grep -q in_library $run.top; then exit 1; fi; done
// RUN: for run in opens linked bare; do \
// RUN:   grep '^ *20000 .* program_s_block' $run.top || exit 1; done
//
// The library's blocks do not count as the program's: the estimate is that for
// 20,000 blocks of 64 bytes, within five sigmas of 390.
// RUN: awk '/program_s_block/ { n = $1 } \
// RUN:   END { exit !(n > 18050 && n < 21950) }' sampled.top
//
// The linker, lld or ld, binds the calls by -Bsymbolic. DT_INIT makes calls
// before any constructor.
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fPIC -shared -DLIBRARY -DINIT %s plain.o \
// RUN:   -Wl,-Bsymbolic -Wl,-init,early -fuse-ld=lld -o libown.so && ./opens
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fPIC -shared -DLIBRARY -DINIT %s plain.o \
// RUN:   -Wl,-Bsymbolic -Wl,-init,early -fuse-ld=bfd -o libown.so && ./opens
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fPIC -shared -DLIBRARY -DINIT %s plain.o \
// RUN:   -Wl,--version-script=hide.map -Wl,-init,early -fuse-ld=bfd -o libown.so && \
// RUN:   ./linked
// The library is one object made beforehand, whose hidden symbols are local.
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fPIC -DLIBRARY -c %s -o part.o
// RUN: %clangxx -r -nostdlib part.o plain.o -o one.o && \
// RUN:   llvm-objcopy --localize-hidden one.o
// RUN: %mprof_clang -fmprof -O1 -fPIC -DOTHER -x c -c %s -o other.o
// RUN: %mprof_clangxx -fmprof -shared one.o other.o \
// RUN:   -Wl,--version-script=hide.map -o libown.so && ./opens
// The library does not refer to operator new[], because no code calls it.
// RUN: %mprof_clangxx -fmprof -O1 -fPIC -ffunction-sections -fdata-sections \
// RUN:   -fvisibility=hidden -DUNUSED -c %s -o unused.o
// RUN: %mprof_clang -fmprof -shared -Wl,--gc-sections unused.o -o libunused.so
// RUN: llvm-nm -D --undefined-only libunused.so > nm.txt
// RUN: not grep _Znam nm.txt

#ifdef OTHER
#include <stdlib.h>
void other(void) { free(malloc(1)); }
#elif defined(UNUSED)
int *unused(int n) { return new int[static_cast<unsigned>(n)]; }
#else
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" void run();
#if defined(LIBRARY) || defined(PLAIN_PART)
extern "C" void *own_take(size_t size);
extern "C" void own_give(void *p);
extern "C" void *plain_part(void *mine); // frees mine and returns another block
extern "C" long live_blocks(void);
#endif

#ifdef PLAIN_PART // the allocator

alignas(4096) static char arena[1 << 20];
static size_t used;
static long live;

// Blocks are on page boundaries, as counted blocks would be. Few live at a
// time.
void *own_take(size_t size) {
  size = (size + 4095) & ~static_cast<size_t>(4095);
  if (used + size > sizeof(arena))
    used = 0;
  live++;
  used += size;
  return arena + used - size;
}
void own_give(void *p) {
  if (!p)
    return;
  if (p < arena || p >= arena + sizeof(arena)) {
    puts("a block of another allocator");
    std::_Exit(1);
  }
  live--;
}
long live_blocks() { return live; }

extern "C" void *malloc(size_t size) { return own_take(size); }
extern "C" void *realloc(void *p, size_t size) {
  void *q = own_take(size);
  if (p)
    std::memcpy(q, p, 64);
  own_give(p);
  return q;
}
extern "C" void free(void *p) { own_give(p); }

void *plain_part(void *mine) {
  free(mine);
  return malloc(64);
}

#elif defined(LIBRARY) // the code that uses the allocator

void *operator new(size_t size) { return own_take(size); }
void operator delete(void *p) noexcept { own_give(p); }
void operator delete(void *p, size_t) noexcept { own_give(p); }

static void *volatile sink;
__attribute__((noinline)) static void in_library() {
  void *p = std::malloc(64);
  sink = p;
  p = std::realloc(p, 128);
  sink = p;
  std::free(plain_part(p));
  int *q = new int(1);
  sink = q;
  delete q;
  std::free(own_take(64));
}

#ifdef INIT
extern "C" void early() { in_library(); }
#endif
extern "C" void run() {
  in_library();
  if (live_blocks() != 0) {
    std::printf("%ld blocks live\n", live_blocks());
    std::_Exit(1);
  }
}

#else // the program
#include <dlfcn.h>

static void *volatile sink;
__attribute__((noinline)) static void program_s_block() {
  void *p = std::malloc(64);
  sink = p;
  std::free(p);
}

int main() {
#ifdef OPENS
  void *library = dlopen("./libown.so", RTLD_NOW);
  auto *run =
      library ? reinterpret_cast<void (*)()>(dlsym(library, "run")) : nullptr;
  if (!run)
    return 1;
#endif
  for (int i = 0; i < 20000; i++) {
    program_s_block();
    run();
  }
  return 0;
}
#endif
#endif
