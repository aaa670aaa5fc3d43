// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by frame pointers. (Go: fpTracebackPCs)
//
// The pass makes every function that calls another keep a frame pointer. So a
// stack of instrumented code is a linked list:
//   [fp]      the caller's frame address
//   [fp + 8]  the return address
// Code without frame pointers (most libraries) may keep any value in the
// register, so each step is checked: it leads upwards, it is aligned like a
// pushed frame, it is not too far, and the kernel has confirmed that the
// memory is readable. A step may therefore be wrong, but it never faults.
// Writers drop addresses that lie in no code.

#include "unwind/unwind_fp.h"

#include "sys/abi_words.h"
#include "sys/modules.h"
#include "sys/os_linux.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <ucontext.h>

#define PROBE_BYTES 4096u
// Limit of the search for the thread's own stack, in bytes below its top.
#define MAX_OWN_BYTES (64u << 20)

static uintptr_t page_of(uintptr_t addr) { return addr & -(uintptr_t)4096; }

// The first thread's stack ends above the random bytes (AT_RANDOM) that the
// kernel puts there. Any other thread's stack ends at the thread control block,
// which libc puts on top of it.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main) {
  uintptr_t end = is_main ? page_of(getauxval(AT_RANDOM)) + PROBE_BYTES
                          : (uintptr_t)__builtin_thread_pointer();
  return (struct mprof_stack_range){.lo = end, .hi = end, .is_main = is_main};
}

// Returns whether all memory from the page of addr to end is readable.
static bool is_readable(uintptr_t addr, uintptr_t end) {
  for (uintptr_t page = page_of(addr); page < end; page += PROBE_BYTES)
    if (!mprof_sys_readable(page))
      return false;
  return true;
}

// Returns whether the frame at fp lies on the thread's own stack, and if so
// extends the known part of the stack down to it. A guard page lies between the
// thread's own stack and any stack below. So fp is on the own stack if all
// memory between fp and the known part is readable.
static MPROF_NOINLINE bool is_own_stack(struct mprof_stack_range *r,
                                        uintptr_t fp) {
  if (fp >= r->lo || r->hi - fp > MAX_OWN_BYTES || !is_readable(fp, r->lo))
    return false;
  r->lo = page_of(fp);
  return true;
}

// Extends the known part of a foreign stack upwards to hold [addr, addr + 16).
static MPROF_NOINLINE bool extend(struct mprof_stack_range *r, uintptr_t addr) {
  uintptr_t end = page_of(addr + 15) + PROBE_BYTES;
  if (!is_readable(r->hi, end))
    return false;
  r->hi = end;
  return true;
}

#pragma weak getcontext
#pragma weak makecontext

// Address to which a function started by makecontext returns, 0 if unknown. It
// marks the root of a coroutine. The saved frame address there is an arbitrary
// value from the thread that made the context. Written once.
static mprof_pc context_root;

// libc's code, empty if libc is linked statically. Frames in it do not belong
// to the program. Written once at start.
static struct mprof_module libc;

void mprof_unwind_init(void) {
  libc = mprof_module_of((void *)pthread_key_create);
  // A static libc is part of the program's module. glibc reports that module
  // without a name; musl reports its file name, so compare its headers, too.
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
  // Erase the copy of the thread's registers: the scan for stuck threads would
  // take the values for references (stuck_scan.c).
  memset(&context, 0, sizeof(context));
  memset(stack, 0, sizeof(stack));
}

bool mprof_is_context_root(mprof_pc pc) { return pc == context_root; }

// Returns how many of the n frames at pcs to keep, which follow others.
static size_t without_root(const mprof_pc *pcs, size_t n, size_t before) {
  return before + n > 1 && pcs[n - 1] - libc.start < libc.end - libc.start
             ? n - 1
             : n;
}

size_t mprof_without_root(const mprof_pc *pcs, size_t n) {
  return without_root(pcs, n, 0);
}

struct mprof_stack_range *mprof_stack_enter(struct mprof_stack_range *range,
                                            struct mprof_stack_range *foreign,
                                            uintptr_t fp) {
  if (mprof_likely(fp >= range->lo && fp + 16 <= range->hi) ||
      is_own_stack(range, fp))
    return range;
  // A foreign stack is probed anew each time, since memory above it may have
  // been unmapped in the meantime.
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

// Called when the chain cannot be followed beyond the frame at fp. Returns
// COMPLETE if that frame is the thread's root. A thread starts with a frame
// address of 0. In the first thread, main finds an arbitrary value of libc's in
// the register, so instrumented main records its frame address. Before main
// runs and after it has returned, the callers are libc's functions only.
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

MPROF_NO_SANITIZER size_t mprof_unwind_rest(struct mprof_stack_range *range,
                                            uintptr_t fp, mprof_pc *pcs,
                                            size_t before, size_t depth,
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
      return without_root(pcs, n, before);
    }
    // One comparison checks both bounds: if next is below fp, the difference
    // wraps around to a huge value.
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0) {
      *end = classify(range, fp, next);
      return *end == MPROF_STACK_COMPLETE ? without_root(pcs, n, before) : n;
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
