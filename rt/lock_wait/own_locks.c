// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records contention for the profiler's own locks; see contention.h.
//
// A thread that releases such a lock cannot record the contention at once.
// Recording takes locks of the profiler, and the thread may already hold some
// of them. So each thread keeps the stack of one release that made other
// threads wait, and the ticks that these threads waited. The thread records
// this stack after it has released its last lock of the profiler.
//
// If the thread has a second such release before that, it keeps only one of the
// two stacks. A random choice, weighted by the ticks, decides which one. The
// ticks of the dropped stack are added to the field `lost`. The lost ticks are
// recorded for the pseudo function mprof_lost_contended_runtime_lock. (Go:
// mLockProfile)
//
// The stack is kept in the thread's buffers. A thread that begins or ends has
// no buffers, and many other threads have none either. If such a thread
// releases its last lock of the profiler, its stack is recorded at once.

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

// Returns the option mutex_fraction.
static uint64_t fraction_now(void) {
  return atomic_load_explicit(&mprof_contention.mutex_fraction,
                              memory_order_relaxed);
}

static bool has_buffers(void) {
  return mprof_tls.self != NULL && mprof_tls.self->scratch != NULL;
}

// Stores the stack that begins at frame address `frame` in the thread's
// buffers. If the thread has no buffers, stores no stack. (Go:
// mLockProfile.captureStack)
static void capture(struct mprof_lock_profile *p, uintptr_t frame) {
  struct mprof_thread *t = mprof_tls.self;
  p->stack_len = 0;
  if (!has_buffers())
    return;
  enum mprof_stack_end end;
  p->stack_len = (uint32_t)mprof_unwind_cfi(
      &t->range, frame, mprof_scratch_lock_stack(t->scratch),
      mprof_flags.stack_depth, &end);
  p->end = (uint8_t)end;
}

// Chooses whether the thread keeps the stack of a release that made other
// threads wait, and stores the stack if so. Returns whether the thread keeps
// the stack. (Go: mLockProfile.recordUnlock)
// cycles: ticks that the other threads waited.
// frame: frame address at which the stack begins.
static bool keep(struct mprof_lock_profile *p, uint64_t cycles,
                 uintptr_t frame) {
  uint64_t fraction = fraction_now();
  if (fraction == 0 || mprof_thread_random() % fraction != 0)
    return false;
  if (p->disabled) {
    p->lost += cycles;
    return false;
  }
  if (p->cycles != 0) {
    uint64_t of_kept = mprof_thread_random() % p->cycles;
    uint64_t of_new = mprof_thread_random() % cycles;
    if (of_kept > of_new) {
      p->lost += cycles;
      return false;
    }
    p->lost += p->cycles;
  }
  capture(p, frame);
  p->cycles = cycles;
  return true;
}

static void add_own(const mprof_pc *stack, uint32_t len, uint8_t end,
                    uint64_t cycles) {
  struct mprof_bucket_key key = {.stack = stack,
                                 .stack_len = len,
                                 .type = MPROF_BUCKET_MUTEX,
                                 .end = end,
                                 .kind = MPROF_KIND_own};
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  uint64_t fraction = fraction_now();
  if (b)
    mprof_mutex_add(b, cycles, fraction ? fraction : 1);
}

// Records the stack that begins at frame address `frame` in the mutex profile,
// for a thread without buffers. The array for the stack is a local variable.
// The array has few elements, because the thread may have little stack memory.
static MPROF_NOINLINE void add_at_once(uint64_t cycles, uintptr_t frame) {
  enum { DEPTH = 32 };
  mprof_pc stack[DEPTH];
  const size_t depth =
      mprof_flags.stack_depth < DEPTH ? mprof_flags.stack_depth : DEPTH;
  struct mprof_stack_range range =
      mprof_tls.self ? mprof_tls.self->range
                     : mprof_stack_range_of_thread(mprof_sys_gettid() ==
                                                   mprof_sys_getpid());
  enum mprof_stack_end end;
  const size_t len = mprof_unwind_cfi(&range, frame, stack, depth, &end);
  add_own(stack, (uint32_t)len, (uint8_t)end, cycles);
}

// Records the kept stack and the lost ticks in the mutex profile. (Go:
// mLockProfile.storeSlow)
// frame: if the kept stack is the stack of the present release: the frame
//   address of this release. Otherwise 0.
static void store_kept(struct mprof_lock_profile *p, uintptr_t frame) {
  const uint64_t cycles = p->cycles;
  p->disabled = true;
  p->cycles = 0;
  if (p->stack_len != 0 && has_buffers())
    add_own(mprof_scratch_lock_stack(mprof_tls.self->scratch), p->stack_len,
            p->end, cycles);
  else if (frame != 0 && !has_buffers() && mprof_flags.stack_depth != 0)
    add_at_once(cycles, frame);
  else
    p->lost += cycles;
  // add_own() may itself make other threads wait for a lock of the profiler.
  // Then keep() adds the ticks of these waits to `lost`, because `disabled` is
  // set. The ticks from the first add_own() are recorded by the second
  // add_own() below. The ticks from the second add_own() are recorded by the
  // next store_kept().
  const uint64_t lost = p->lost;
  p->lost = 0;
  if (lost != 0) {
    mprof_pc pc = mprof_op_pc((uintptr_t)mprof_lost_contended_runtime_lock);
    add_own(&pc, 1, MPROF_STACK_COMPLETE, lost);
  }
  p->disabled = false;
}

// store_kept() may itself release locks of the profiler, and so call this
// function again. The nested call only adds to `lost`.
MPROF_NOINLINE void mprof_own_lock_released(uint64_t cycles, uintptr_t frame) {
  struct mprof_lock_profile *p = &mprof_tls.lock_profile;
  const bool is_kept = cycles != 0 && keep(p, cycles, frame);
  if (mprof_tls.held == 0 && p->cycles != 0 && !p->disabled)
    store_kept(p, is_kept ? frame : 0);
}
