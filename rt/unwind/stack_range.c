// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the kernel which part of a stack is readable, and finds the return
// addresses at the roots of stacks. See unwind.h.

#include "unwind/unwind.h"

#include "process/modules.h"
#include "sys/context.h"
#include "sys/os.h"
#include "unwind/rules.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

#define PROBE_BYTES 4096u
// Maximum distance in bytes of a frame from the end of the thread's own stack.
// A frame with a larger distance is taken for a frame on another stack.
#define MAX_OWN_BYTES (64u << 20)

static uintptr_t page_of(uintptr_t addr) {
  return addr & -(uintptr_t)MPROF_PAGE;
}

// The first thread's stack extends at least to the end of the page that
// contains the random bytes of AT_RANDOM, because the kernel stores these bytes
// above the frames. For any other thread, libc places the thread control block
// at the top of the stack, so the stack ends at this block.
struct mprof_stack_range mprof_stack_range_of_thread(bool is_main) {
  uintptr_t end = is_main ? page_of(getauxval(AT_RANDOM)) + PROBE_BYTES
                          : (uintptr_t)__builtin_thread_pointer();
  return (struct mprof_stack_range){.lo = end, .hi = end, .is_main = is_main};
}

// Returns whether all memory from the start of the page of addr to end is
// readable.
static bool is_readable(uintptr_t addr, uintptr_t end) {
  for (uintptr_t page = page_of(addr); page < end; page += PROBE_BYTES)
    if (!mprof_sys_readable(page))
      return false;
  return true;
}

// Returns whether the frame at fp lies on the thread's own stack. On success,
// extends *r, the part of this stack that is known to be readable, down to fp.
// An unreadable guard page separates the own stack from any stack at lower
// addresses. So the frame is on the own stack if all memory between fp and *r
// is readable.
static MPROF_NOINLINE bool is_own_stack(struct mprof_stack_range *r,
                                        uintptr_t fp) {
  if (fp >= r->lo || r->hi - fp > MAX_OWN_BYTES || !is_readable(fp, r->lo))
    return false;
  r->lo = page_of(fp);
  return true;
}

bool mprof_stack_extend(struct mprof_stack_range *r, uintptr_t addr) {
  uintptr_t end = page_of(addr + 15) + PROBE_BYTES;
  if (!is_readable(r->hi, end))
    return false;
  r->hi = end;
  return true;
}

struct mprof_stack_range *
mprof_stack_enter_outside(struct mprof_stack_range *range,
                          struct mprof_stack_range *foreign, uintptr_t fp) {
  if (is_own_stack(range, fp))
    return range;
  // fp lies on another stack, such as a coroutine's. The readable part of
  // another stack is determined in each call, because memory above fp may have
  // been unmapped since the last call.
  *foreign = (struct mprof_stack_range){.lo = page_of(fp),
                                        .hi = page_of(fp) + PROBE_BYTES,
                                        .is_main = range->is_main};
  return mprof_stack_extend(foreign, fp) ? foreign : NULL;
}

// --- roots ---

struct mprof_stack_roots mprof_stack_roots;

#pragma weak getcontext
#pragma weak makecontext

// Returns the module of libc with this function.
static struct mprof_module libc_with(void *function) {
  struct mprof_module libc = mprof_module_of(function);
  // If libc is linked statically, libc is part of the program's module and has
  // no range of its own. With glibc, the program's module has no name. With
  // musl, the program's module has its file name. Therefore the id of the
  // module, which is the address of its program headers, is also compared with
  // the address of the program's own headers.
  if (libc.name[0] == '\0' || libc.id == getauxval(AT_PHDR))
    libc.start = libc.end = 0;
  return libc;
}

void mprof_unwind_init(void) {
  mprof_stack_roots.libc[0] = libc_with((void *)pthread_getcpuclockid);
  mprof_stack_roots.libc[1] = libc_with((void *)getcontext);
  mprof_find_module_init();
}

void mprof_learn_root(mprof_pc pc) {
  if (mprof_is_root(pc))
    return;
  if (mprof_stack_roots.libc[0].end != 0 && !mprof_is_in_libc(pc))
    return; // pc is not in libc, so its module may be unloaded later
  for (int i = 0; i < MPROF_ROOTS; i++) {
    mprof_pc unused = 0;
    if (atomic_compare_exchange_strong(&mprof_stack_roots.known[i], &unused,
                                       pc) ||
        unused == pc) {
      mprof_rule_forget(pc - 1); // the rule of a known root is not plain
      return;
    }
  }
}

size_t mprof_without_roots(const mprof_pc *pcs, size_t n) {
  if (n > 2 && mprof_without_root(pcs, n, 0) == n &&
      mprof_without_root(pcs, n - 1, 0) < n - 1)
    n--;
  for (size_t kept; (kept = mprof_without_root(pcs, n, 0)) < n;)
    n = kept;
  return n;
}

static void nothing(void) {}

// Calls makecontext for a small stack, and then reads the return address that
// makecontext has stored at the top of this stack.
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
  mprof_stack_roots.context =
      mprof_context_made_root(&context, stack, sizeof(stack));
  // Erases the copy of the thread's registers. Otherwise the search for stuck
  // threads (stuck_scan.c) would mistake old register values for pointers to
  // objects.
  memset(&context, 0, sizeof(context));
  memset(stack, 0, sizeof(stack));
}
