// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes functions at run time, which call back.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void callback(void);
typedef void made(callback *);

enum { MADE_BYTES = 16, CODE_BYTES = 65536 };

// Each calls the function in %rdi.
static const unsigned char
    // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
    with_frame_pointer[MADE_BYTES] = {0x55, 0x48, 0x89, 0xe5,
                                      0xff, 0xd7, 0x5d, 0xc3},
    // sub $8,%rsp; call *%rdi; add $8,%rsp; ret
    trampoline[MADE_BYTES] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                              0x48, 0x83, 0xc4, 0x08, 0xc3},
    // push %rbp; mov $1,%ebp; call *%rdi; pop %rbp; ret
    without_frame_pointer[MADE_BYTES] = {0x55, 0xbd, 1,    0,    0,
                                         0,    0xff, 0xd7, 0x5d, 0xc3};

// Memory for code, in the middle of which is the next function.
static unsigned char *code;

static made *make(const unsigned char *bytes) {
  if (!code)
    code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char *at = code;
  memcpy(at, bytes, MADE_BYTES);
  code += MADE_BYTES;
  return (made *)at;
}

static void *volatile kept;

__attribute__((noinline)) static void allocate(void) {
  kept = malloc(1000);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void outer(made *f) {
  f(allocate);
  __asm__ volatile("" ::: "memory");
}
