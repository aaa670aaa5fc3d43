// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by frame pointers. The pass makes every function that calls
// another keep one, so a stack of its code is a list: [fp] is the caller's
// frame address, [fp + 8] the return address. Code without frame pointers
// (most libraries) may keep anything in the register, so each step is checked:
// upwards, aligned as a pushed frame is, near, and in memory that the kernel
// has said to be readable. That makes a step wrong at worst, never a fault;
// writers drop addresses that lie in no code. (Go: fpTracebackPCs)

#include "unwind_fp.h"

#include "abi_words.h"
#include "modules.h"
#include "os_linux.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <ucontext.h>

#define PROBE_BYTES 4096u
// The thread's own stack is looked for up to this depth.
#define MAX_OWN_BYTES (64u << 20)

static uintptr_t page_of(uintptr_t addr) { return addr & -(uintptr_t)4096; }

// The first thread's stack ends above the random bytes that the kernel puts
// there; another's at its thread control block, which libc puts on top.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main) {
  uintptr_t end = is_main ? page_of(getauxval(AT_RANDOM)) + PROBE_BYTES
                          : (uintptr_t)__builtin_thread_pointer();
  return (struct mprof_stack_range){.lo = end, .hi = end, .is_main = is_main};
}

// Whether all from the page of addr to end can be read.
static bool is_readable(uintptr_t addr, uintptr_t end) {
  for (uintptr_t page = page_of(addr); page < end; page += PROBE_BYTES)
    if (!mprof_sys_readable(page))
      return false;
  return true;
}

// Whether the frame the thread is in lies on its own stack. Between that and
// any other stack below it is the own one's guard page, so it is the own one if
// all up to what is known of it can be read.
static MPROF_NOINLINE bool is_own_stack(struct mprof_stack_range *r,
                                        uintptr_t fp) {
  if (fp >= r->lo || r->hi - fp > MAX_OWN_BYTES || !is_readable(fp, r->lo))
    return false;
  r->lo = page_of(fp);
  return true;
}

// Widens a part of a foreign stack upwards to hold [addr, addr + 16).
static MPROF_NOINLINE bool extend(struct mprof_stack_range *r, uintptr_t addr) {
  uintptr_t end = page_of(addr + 15) + PROBE_BYTES;
  if (!is_readable(r->hi, end))
    return false;
  r->hi = end;
  return true;
}

#pragma weak getcontext
#pragma weak makecontext

// Where the functions that makecontext starts return to, 0 if unknown: the
// root of a coroutine. The frame address there is whatever it was in the
// thread that made the context. Written once.
static mprof_pc context_root;

// libc's code, if it is a module of its own: no frame of the program's. Written
// once at start.
static struct mprof_module libc;

void mprof_unwind_init(void) {
  libc = mprof_module_of((void *)pthread_key_create);
  // Part of the program, which glibc gives no name, and musl the one it has.
  if (libc.name[0] == '\0' || libc.id == getauxval(AT_PHDR))
    libc.start = libc.end = 0;
}

static void nothing(void) {}

// makecontext leaves the return address on top of the stack it prepares.
void mprof_unwind_learn_roots(void) {
  static ucontext_t context;
  static char stack[512] __attribute__((aligned(16)));
  static atomic_bool is_known;
  if (!getcontext || !makecontext || atomic_exchange(&is_known, true) ||
      getcontext(&context) != 0)
    return;
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = sizeof(stack);
  makecontext(&context, nothing, 0);
  uintptr_t sp = (uintptr_t)context.uc_mcontext.gregs[REG_RSP];
  if (sp - (uintptr_t)stack <= sizeof(stack) - sizeof(mprof_pc))
    context_root = *(const mprof_pc *)sp;
  // What the thread had in its registers would stay reachable (stuck_scan.c).
  memset(&context, 0, sizeof(context));
  memset(stack, 0, sizeof(stack));
}

bool mprof_is_context_root(mprof_pc pc) { return pc == context_root; }

size_t mprof_without_root(const mprof_pc *pcs, size_t n) {
  return n > 1 && pcs[n - 1] - libc.start < libc.end - libc.start ? n - 1 : n;
}

struct mprof_stack_range *mprof_stack_enter(struct mprof_stack_range *range,
                                            struct mprof_stack_range *foreign,
                                            uintptr_t fp) {
  if (mprof_likely(fp >= range->lo && fp + 16 <= range->hi) ||
      is_own_stack(range, fp))
    return range;
  // A stack that is not the thread's own is looked at anew each time: what was
  // above it may be gone since.
  *foreign = (struct mprof_stack_range){.lo = page_of(fp),
                                        .hi = page_of(fp) + PROBE_BYTES,
                                        .is_main = range->is_main};
  return extend(foreign, fp) ? foreign : NULL;
}

bool mprof_stack_reaches(struct mprof_stack_range *range, bool is_foreign,
                         uintptr_t addr) {
  return mprof_likely(addr + 16 <= range->hi) ||
         (is_foreign && extend(range, addr));
}

// The chain cannot be followed from the frame at fp: was it the thread's last?
// Threads start with a frame address of 0. The first thread's main has whatever
// libc kept in the register, so the pass has main note its frame; before main
// runs and after it returned, the callers are libc's alone.
static enum mprof_stack_end classify(const struct mprof_stack_range *r,
                                     uintptr_t fp, uintptr_t next) {
  if (next == 0)
    return MPROF_STACK_COMPLETE;
  if (!r->is_main)
    return MPROF_STACK_CUT_CHAIN;
  uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  return main_frame == 0 || fp == main_frame ? MPROF_STACK_COMPLETE
                                             : MPROF_STACK_CUT_CHAIN;
}

MPROF_NO_SANITIZER size_t mprof_unwind(struct mprof_stack_range *range,
                                       uintptr_t fp, mprof_pc *pcs,
                                       size_t depth,
                                       enum mprof_stack_end *end) {
  size_t n = 0;
  *end = MPROF_STACK_CUT_DEPTH;
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  if (!range)
    return 0;
  for (;;) {
    uintptr_t next = ((const uintptr_t *)fp)[0];
    uintptr_t pc = ((const uintptr_t *)fp)[1];
    if (mprof_unlikely(pc < 4096 || pc >> 47)) {
      *end = pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      return n;
    }
    pcs[n++] = pc;
    if (mprof_unlikely(pc == context_root)) {
      *end = MPROF_STACK_COMPLETE;
      return mprof_without_root(pcs, n);
    }
    // One comparison for both ends: a next below fp wraps to a huge distance.
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0) {
      *end = classify(range, fp, next);
      return *end == MPROF_STACK_COMPLETE ? mprof_without_root(pcs, n) : n;
    }
    if (n == depth)
      return n;
    if (!mprof_stack_reaches(range, range == &foreign, next)) {
      *end = MPROF_STACK_CUT_CHAIN;
      return n;
    }
    fp = next;
  }
}
