// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of a program without libc, and a small runtime and allocator for it.
// All its code has landing pads, which Debian's libc for arm64 does not have. The
// exit status of the program is 0 if each call has reached the function that it
// should call. With -DNO_LANDING_PAD it jumps to an address without landing pad.

typedef unsigned long size_t;

_Thread_local long __mprof_heap_countdown;
size_t __mprof_free_mask = 4095;
void *__mprof_main_frame;
const char __mprof_abi_v10 = 1;
const char is_there
    __asm__("__mprof_runtime is missing: link with mprof-clang -fmprof") = 1;
const char __mprof_is_program = 1;

static char memory[1 << 16];
static size_t used;
static int plain, frees, entries;

static void *take(size_t n) {
  used += (n + 31) & ~15ul;
  return memory + used - n;
}

void *malloc(size_t n) { return plain++, take(n); }
void *realloc(void *p, size_t n) { return (void)p, plain++, take(n); }
void free(void *p) { frees += p != 0; }
void *(*__mprof_next_malloc)(size_t) = malloc;
void *(*__mprof_next_realloc)(void *, size_t) = realloc;
void (*__mprof_next_free)(void *) = free;
void (*__mprof_free_off_page)(void *) = free;

void *__mprof_malloc(size_t n) {
  entries++;
  __mprof_heap_countdown = 100;
  return take(n);
}
void *__mprof_realloc(void *p, size_t n) { return (void)p, __mprof_malloc(n); }
void __mprof_free(void *p) { (void)p, entries++; }
void __mprof_drop_sample(size_t n) { (void)n; }
void __mprof_module_unloads(const void *inside) { (void)inside; }
// See MPROF_MODULE_HOOK_FIELD in hooks.def.
void __mprof_module_binds(void **hook) {
  hook[0] = hook[3];
  hook[1] = hook[4];
}

__asm__(".globl no_landing_pad\nno_landing_pad: ret");
void no_landing_pad(void);

void *inner(size_t);
void *tail(size_t);
void *resize(void *, size_t);
void release(void *);

__attribute__((used)) static int run(void) {
  for (int i = 0; i < 2; i++) {
    __mprof_heap_countdown = 100;
    void *p = inner(60), *q = tail(30); // neither is sampled
    p = resize(p, 60);                  // sampled, as is the next
    __mprof_heap_countdown = 10;
    q = tail(60);
    __mprof_heap_countdown = 10;
    p = inner(60);
    p = resize(p, 10);
    release(p);
    release((void *)4096);
    release((void *)0);
  }
#ifdef NO_LANDING_PAD
  void (*volatile f)(void) = no_landing_pad;
  f();
#endif
  return plain == 6 && frees == 2 && entries == 8 ? 0 : 1;
}

// The thread-local variable is behind the 16 bytes at the thread pointer.
static char thread[4096] __attribute__((aligned(64), used));
__attribute__((naked)) void _start(void) {
  __asm__("adrp x0, thread\n"
          "add x0, x0, :lo12:thread\n"
          "msr tpidr_el0, x0\n"
          "bl run\n"
          "mov x8, #94\n" // exit_group
          "svc #0\n");
}
