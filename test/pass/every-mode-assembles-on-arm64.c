// Intent: the assembler accepts the code for arm64 in each mode of code, at each
// level of optimization and after optimizations at link time. The code of
// programs has the offset of the countdown in its instructions, and the code of
// libraries loads it. clang 16 does not tell the pass that it got the option
// -fno-direct-access-external-data.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: cc='%clang_mprof --target=aarch64-linux-gnu -ffreestanding -c -o a.o %s'
// RUN: for level in -O0 -O1 -O2 -O3 -Oz; do \
// RUN:   for mode in -fno-pic -fPIE '-fno-pic -mcmodel=large' '-fPIE -mcmodel=tiny' \
// RUN:       '-fPIE -mbranch-protection=standard'; do \
// RUN:     $cc $level $mode && llvm-readelf -r a.o | FileCheck %s || exit 1; done; \
// RUN:   for mode in -fPIC %if clang-16 %{%} %else \
// RUN:       %{ '-fno-pic -fno-direct-access-external-data' %} ; do \
// RUN:     $cc $level $mode && llvm-readelf -r a.o | FileCheck %s --check-prefix=GOT \
// RUN:       || exit 1; done; done
// RUN: for flags in '-O2 -flto -fPIE' '-O0 -flto -fPIC' '-O2 -flto=thin -fPIE' \
// RUN:     '-O3 -flto=thin -fPIC'; do \
// RUN:   $cc $flags && llc -O2 -relocation-model=pic -filetype=obj a.o -o b.o && \
// RUN:   llvm-readelf -r b.o | grep __mprof_heap_countdown > relocations || exit 1; done
// CHECK: R_AARCH64_TLSLE_ADD_TPREL_HI12 {{.*}} __mprof_heap_countdown
// CHECK-NEXT: R_AARCH64_TLSLE_LDST64_TPREL_LO12_NC {{.*}} __mprof_heap_countdown
// CHECK-NEXT: R_AARCH64_TLSLE_LDST64_TPREL_LO12_NC {{.*}} __mprof_heap_countdown
// CHECK-NOT: TLSIE
// GOT: R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21 {{.*}} __mprof_heap_countdown
// GOT-NEXT: R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC {{.*}} __mprof_heap_countdown
// GOT-NOT: TLSLE

typedef unsigned long size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
char *strdup(const char *);
__attribute__((mprof_alloc(1))) void *pool_get(size_t);
void use(void *);

void *tail(size_t n) { return malloc(n); }
void *all(char *s, size_t n) {
  void *p = malloc(n);
  use(p);
  p = realloc(p, 4096);
  use(strdup(s));
  use(pool_get(n));
  free(p);
  use(calloc(n, 1ul << 33));
  return realloc(s, n);
}
