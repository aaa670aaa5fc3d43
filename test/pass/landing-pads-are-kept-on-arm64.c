// Intent: with -mbranch-protection, each function that rewritten code or the
// pass adds begins with a landing pad if it is called indirectly, indirect jumps
// use the registers that landing pads of functions accept, and return addresses
// on the stack are signed. Such a program runs where the processor enforces it.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: cc='--target=aarch64-linux-gnu -mbranch-protection=standard'
// RUN: for flags in '-O0 -fPIE' '-O2 -fPIE' '-O2 -fPIC' '-O3 -fno-pic' '-Oz -fPIC'; do \
// RUN:   %clang_mprof $cc $flags -c -o a.o %s && \
// RUN:   llvm-objdump -d --mattr=+v8.5a --no-show-raw-insn a.o > a.s && \
// RUN:   llvm-readelf -n a.o | grep 'BTI, PAC' > note && \
// RUN:   awk '/>:$/ && !/[.]cold/ { name = $2; getline; if (!/bti|paciasp/) print name, $0 }' a.s \
// RUN:     | count 0 && \
// RUN:   awk '$2 == "br" && $3 !~ /^x1[67]$/' a.s | count 0 && \
// RUN:   awk '/>:$/ { s = 0 } $2 == "paciasp" { s = 1 } $2 == "stp" && /x30/ && !s' a.s \
// RUN:     | count 0 || exit 1; done

// The processor enforces landing pads on the pages of a program whose objects
// all have them. The emulator comes with utils/setup.sh arm64.
// RUN: %clang $cc -O1 -c %S/Inputs/bare_arm64.c -o bare.o
// RUN: %clang $cc -O1 -DNO_LANDING_PAD -c %S/Inputs/bare_arm64.c -o bad.o
// RUN: link="%clang $cc -fuse-ld=lld -nostdlib -static -Wl,-z,bti-report=error"
// RUN: for flags in '-O0 -fPIE' '-O2 -fPIE' '-O2 -fPIC' '-O3 -fno-pic' '-Os -fPIC'; do \
// RUN:   %clang_mprof $cc $flags -c -o a.o %s && $link a.o bare.o -o a && \
// RUN:   %if qemu %{ qemu-aarch64-static -cpu max ./a && \
// RUN:     qemu-aarch64-static -cpu cortex-a72 ./a %} %else %{ true %} || exit 1; done
// RUN: $link a.o bad.o -o bad
// RUN: %if qemu %{ qemu-aarch64-static -cpu cortex-a72 ./bad %}
// RUN: %if qemu %{ not --crash qemu-aarch64-static -cpu max ./bad %}

typedef unsigned long size_t;
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);

void *volatile sink;
void *inner(size_t n) {
  sink = malloc(n);
  return sink;
}
void *tail(size_t n) { return malloc(n); }
void *resize(void *p, size_t n) { return realloc(p, n); }
void release(void *p) { free(p); }
