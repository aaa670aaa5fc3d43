// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small runtime for link tests. It defines the runtime's variables, and
// functions such as __mprof_malloc, which print their calls.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef VERSION
#define VERSION __mprof_abi_v10
#endif

_Thread_local int64_t __mprof_heap_countdown
    __attribute__((tls_model("initial-exec"))) = 100;
uintptr_t __mprof_free_mask = 4095;
uintptr_t __mprof_delete_mask = 4095;
uintptr_t __mprof_custom_mask = 4095;
void *__mprof_main_frame;
void *__mprof_next_malloc = malloc;
void *__mprof_next_free = free;
void *__mprof_free_off_page = free;
const char VERSION = 1;
const char is_there
    __asm__("__mprof_runtime is missing: link with mprof-clang -fmprof") = 1;
const char __mprof_is_program = 1;

void *__mprof_malloc(size_t n) {
  printf("malloc %zu, left %ld\n", n, (long)__mprof_heap_countdown);
  __mprof_heap_countdown = 100;
  return aligned_alloc(4096, 4096);
}

void __mprof_free(void *p) {
  printf("free %d\n", (int)((uintptr_t)p & 4095));
  free(p);
}

void *stub_main_frame(void) { return __mprof_main_frame; }

void __mprof_module_unloads(const void *inside) { (void)inside; }

// See MPROF_MODULE_HOOK_FIELD in hooks.def.
void __mprof_module_binds(void **hook) {
  hook[0] = hook[3];
  hook[1] = hook[4];
}
void __mprof_drop_sample(size_t size) { (void)size; }
