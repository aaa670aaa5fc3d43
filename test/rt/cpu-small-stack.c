// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the handler of the CPU profile needs little of the program's stacks:
// neither a small alternate signal stack nor a small stack of a coroutine
// overflows, and both have samples.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:cpu_rate=500} ./app > truth
// RUN: %python %src/test/Inputs/cpu_check.py --max-sigmas 8 x.*.cpu.pb.gz truth

#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(beside)
BURNER(in_handler)
BURNER(in_coroutine)

static ucontext_t outer, inner;

static void on_signal(int sig) {
  (void)sig;
  in_handler(200);
}

static void coroutine(void) {
  in_coroutine(200);
  swapcontext(&inner, &outer);
}

// Returns the start of a stack that an unreadable page precedes.
static char *make_stack(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t all = (bytes + page - 1) / page * page;
  char *p = mmap(NULL, page + all, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(p != MAP_FAILED);
  NEED(mprotect(p, page, PROT_NONE) == 0);
  return p + page;
}

int main(void) {
  // The stack has room for the data that the kernel stores there, and for
  // little more.
  const size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 640;
  stack_t alternate = {.ss_sp = make_stack(bytes), .ss_size = bytes};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  // The coroutine's stack also has the kernel's data of a signal.
  NEED(getcontext(&inner) == 0);
  inner.uc_stack.ss_size = bytes + 512;
  inner.uc_stack.ss_sp = make_stack(bytes + 512);
  makecontext(&inner, coroutine, 0);
  NEED(swapcontext(&outer, &inner) == 0);
  NEED(sigaltstack(&alternate, NULL) == 0);
  beside(200);
  // A second signal in the handler needs room for the kernel's data again.
  alternate.ss_sp = make_stack(2 * bytes + 256);
  alternate.ss_size = 2 * bytes + 256;
  NEED(sigaltstack(&alternate, NULL) == 0);
  NEED(sigaction(SIGUSR1, &action, NULL) == 0);
  NEED(raise(SIGUSR1) == 0);
  PRINT_TRUTH(beside);
  PRINT_TRUTH(in_handler);
  PRINT_TRUTH(in_coroutine);
  return 0;
}
