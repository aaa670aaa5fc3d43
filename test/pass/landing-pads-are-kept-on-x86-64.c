// Intent: with -fcf-protection, each function that rewritten code or the pass
// adds begins with a landing pad if it is called indirectly, and no jump skips
// the check. Each call is balanced by a return, so that the shadow stack agrees.
// In particular, the asm that calls the runtime is a plain call.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: cc='--target=x86_64-linux-gnu -fcf-protection=full -mshstk'
// RUN: for flags in '-O0 -fPIE' '-O2 -fPIE' '-O2 -fPIC' '-O3 -fno-pic' '-Oz -fPIC'; do \
// RUN:   %clang_mprof $cc $flags -c -o a.o %s && \
// RUN:   llvm-objdump -dr --no-show-raw-insn a.o > a.s && \
// RUN:   llvm-readelf -n a.o | grep 'IBT, SHSTK' > note && \
// RUN:   awk '/>:$/ { name = $2; getline; if (!/endbr64/) print name, $0 }' a.s | count 0 && \
// RUN:   awk '/notrack/ || $2 == "pushq" && $3 ~ /^[$]/ || $2 ~ /^ret/ && $3' a.s \
// RUN:     | count 0 || exit 1; done
// RUN: %clang_mprof $cc -O2 -fPIE -S -o - %s | FileCheck %s

typedef unsigned long size_t;
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);

void *volatile sink;
void *inner(size_t n) {
  sink = malloc(n);
  return sink;
}
// CHECK-LABEL: tail:
// CHECK: endbr64
// CHECK: jmpq *__mprof_next_malloc(%rip)
// CHECK: #APP
// CHECK-NEXT: callq __mprof_malloc@PLT
// CHECK-NEXT: #NO_APP
// CHECK-NEXT: retq
void *tail(size_t n) { return malloc(n); }
void *resize(void *p, size_t n) { return realloc(p, n); }
void release(void *p) { free(p); }
