// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which heap allocations are counted; see event.h. (Go:
// profilealloc)
//
// Sample points form a Poisson process over the bytes that a thread allocates.
// The mean distance of the points is the rate, R bytes. A block of s bytes is
// counted if at least one point lies in the block. The probability of this is
//   p(s) = 1 - exp(-s / R)
// Each counted block represents 1 / p(s) blocks of its size. Writers scale the
// counts by this factor, so that the expected counts equal the true counts. The
// factor is exact for each bucket, because all blocks of a bucket have the same
// size and rate. (Go: nextSample, scaleHeapSample)
//
// Each thread has a countdown, which is the distance to the thread's next
// point. The distance is drawn from the exponential distribution by inversion:
//   d = -ln(q) * R, with q uniform in (0, 1]           (Go: fastexprand)
// Each call site subtracts the size of its block from the countdown. The block
// with which the countdown reaches 0 or less is counted. A new distance is then
// drawn, which begins at the end of this block. This is correct although the
// point lies inside the block, because the exponential distribution has no
// memory.
//
// Two rates are special: rate 0 counts no block, and rate 1 counts each block
// (exact mode).
//
// A block is not counted if it is memory for a block of an outer allocator that
// has taken part in the sampling already. Examples are the program's own
// allocators with -fmprof-nested=outermost, and the program's own operator new
// if malloc is intercepted.

#include "heap/event.h"

#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/scale.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

// The sampling rate and its epoch, which is the number of changes of the rate.
// Both fields are written under registry_lock and read without a lock. The
// epoch is written last, so that a thread that reads the new epoch also reads
// the new rate.
static struct {
  // Each event reads the rate if the rate is 1. Therefore this struct begins a
  // cache line, so that no data that is often written is in the same line.
  _Alignas(64) _Atomic uint64_t rate;
  _Atomic uint64_t epoch; // 0 before the runtime has started
} sampling;

uint64_t mprof_sample_rate(void) {
  return atomic_load_explicit(&sampling.rate, memory_order_relaxed);
}

// Element i is log2(1 + i / 32) * 2^31. (Go: fastlog2Table)
static const uint32_t log2_table[33] = {
    0,          95335645,   187825021,  277633165,  364911162,  449797678,
    532420281,  612896598,  691335320,  767837083,  842495250,  915396590,
    986621888,  1056246482, 1124340739, 1190970490, 1256197405, 1320079339,
    1382670639, 1444022426, 1504182841, 1563197273, 1621108567, 1677957208,
    1733781493, 1788617686, 1842500157, 1895461516, 1947532725, 1998743213,
    2049120974, 2098692655, 2147483648,
};

// Returns log2(v) * 2^31 for v from 1 to 2^26. The result is the exponent of v
// plus the logarithm of its mantissa, which is interpolated in log2_table. (Go:
// fastlog2)
static uint64_t fast_log2(uint32_t v) {
  const unsigned exponent = 31 - (unsigned)__builtin_clz(v);
  // 32 * (mantissa - 1): the upper 5 bits, and 26 bits of the fraction.
  const uint32_t at = (v << (31 - exponent)) & 0x7fffffff;
  const uint64_t low = log2_table[at >> 26];
  const uint64_t step = log2_table[(at >> 26) + 1] - low;
  return ((uint64_t)exponent << 31) + low + (step * (at & 0x3ffffff) >> 26);
}

int64_t mprof_sample_next(uint64_t rate, uint32_t random26) {
  const uint64_t ln2 = UINT64_C(12786308645202655659); // ln(2) * 2^64
  if (rate <= 1)
    return 0;
  // The result is -ln(q) * rate with q = (random26 + 1) / 2^26, computed from
  // log2(q). The product is below 2^64, because rate is at most MPROF_MAX_RATE.
  const uint64_t log = (UINT64_C(26) << 31) - fast_log2(random26 + 1);
  return (int64_t)((uint64_t)((mprof_u128)(log * rate) * ln2 >> 64) >> 31) + 1;
}

// Returns a new countdown for a rate. For rate 0 this is INT64_MAX, so that no
// block is counted. For rate 1 it is 0. For any other rate it is a random
// distance to the next sample.
static int64_t draw(uint64_t rate) {
  if (rate == 0)
    return INT64_MAX;
  if (rate == 1)
    return 0; // counts each allocation, even one of 0 bytes
  return mprof_sample_next(rate, (uint32_t)(mprof_thread_random() >> 38));
}

// Stores in the thread's record that this thread has drawn a countdown for the
// sampling rate with version number `epoch`. After a change of the rate,
// mprof_threads_interrupt waits until each thread has stored the new epoch or
// has the countdown 0. Also registers the thread if needed, so that
// mprof_threads_interrupt finds the thread's countdown.
static MPROF_NOINLINE void note_epoch(uint64_t epoch) {
  mprof_tls.rate_epoch = epoch;
  if (mprof_guard_enter()) {
    struct mprof_thread *t = mprof_thread_self(false);
    if (t)
      atomic_store(&t->rate_epoch, epoch);
    else if (!mprof_process_is_own()) // the parent's thread registers later
      mprof_tls.rate_epoch = 0;
    mprof_guard_leave();
  }
}

// --- nested allocations ---

// Returns whether the function with the frame address `nested` is on the stack
// of the calling thread, of which `frame` is a frame.
static bool is_on_stack(uintptr_t nested, uintptr_t frame) {
  // If the guard is already set, a signal handler has interrupted the runtime.
  // The handler's event is lost in any case, so the result does not matter.
  if (!mprof_guard_enter())
    return true;
  struct mprof_thread *t = mprof_thread_self(false);
  bool is_there = t && mprof_stack_has_frame(&t->range, frame, nested,
                                             __mprof_nested_return);
  mprof_guard_leave();
  return is_there;
}

// Returns whether the function with the frame address __mprof_nested_frame is
// still active. `frame` is the frame address of a function of the runtime that
// it has called.
//
// An allocator that is left by longjmp or by an exception does not clear
// __mprof_nested_frame. A comparison of addresses cannot detect such a stale
// frame address, because the address may be above all frames from which the
// thread allocates later. So the stack is unwound. The frame is active only if
// it is on the stack and has the return address in __mprof_nested_return. The
// return address is compared, because a later frame of another function may
// have the same frame address.
static MPROF_NOINLINE bool is_active(uintptr_t frame) {
  uintptr_t nested = __mprof_nested_frame;
  if (frame < nested && is_on_stack(nested, frame))
    return true;
  __mprof_nested_frame = 0;
  return false;
}

// Returns whether the current allocation is nested, so that its block is part
// of another block. The outermost allocation call stores its frame address in
// __mprof_nested_frame and its return address in __mprof_nested_return, and
// clears __mprof_nested_frame when it returns. frame: see is_active.
static inline bool is_nested(uintptr_t frame) {
  return mprof_unlikely(__mprof_nested_frame != 0) && is_active(frame);
}

// --- the decision ---

// Returns whether a block of `size` bytes is counted. Sets the countdown to the
// distance to the next sample, and *rate to the sampling rate. epoch: version
// number of the rate, which the caller has read before the call.
static bool decide(size_t size, uint64_t epoch, uint64_t *rate) {
  *rate = mprof_sample_rate();
  bool is_hit = true;
  if (mprof_unlikely(mprof_tls.rate_epoch != epoch)) {
    // This is the thread's first allocation, or its first allocation since the
    // rate changed. The old countdown does not belong to the new rate. So draw
    // a new countdown and compare it with the size of the block.
    int64_t left = draw(*rate);
    is_hit = (uint64_t)size >= (uint64_t)left;
    if (!is_hit)
      __mprof_heap_countdown = left - (int64_t)size;
  }
  if (is_hit)
    __mprof_heap_countdown = draw(*rate);
  return is_hit && *rate != 0;
}

bool mprof_sample_hit(size_t size, uint64_t *rate) {
  if (mprof_unlikely(size > PTRDIFF_MAX)) {
    // No block can be this large. The subtraction at the call site has
    // overflowed, so undo the subtraction.
    __mprof_heap_countdown += (int64_t)size;
    return false;
  }
  if (__mprof_heap_countdown > 0)
    return false;
  if (mprof_unlikely(!mprof_process_ready())) {
    __mprof_heap_countdown = mprof_process_is_inert() ? INT64_MAX : 0;
    return false;
  }
  for (;;) {
    uint64_t epoch =
        atomic_load_explicit(&sampling.epoch, memory_order_acquire);
    bool is_new = mprof_tls.rate_epoch != epoch;
    bool is_hit = decide(size, epoch, rate);
    if (mprof_unlikely(is_new))
      note_epoch(epoch);
    // Check the epoch again. Another thread may have set a new rate before
    // `decide` stored the countdown. In this case, `decide` has overwritten the
    // 0 that mprof_threads_interrupt stored to request a new countdown.
    atomic_signal_fence(memory_order_seq_cst);
    if (mprof_likely(atomic_load_explicit(&sampling.epoch,
                                          memory_order_acquire) == epoch))
      // A nested allocation is not counted, because its block is part of
      // another block. The countdown that was drawn above stays valid, because
      // a Poisson process has no memory.
      return is_hit && !is_nested((uintptr_t)__builtin_frame_address(0));
  }
}

uint64_t mprof_sample_set_rate(uint64_t rate) {
  if (rate > MPROF_MAX_RATE)
    rate = MPROF_MAX_RATE;
  mprof_lock_acquire(&mprof_registry_lock);
  uint64_t before = mprof_sample_rate();
  mprof_place_set_masks(rate);
  atomic_store(&sampling.rate, rate);
  uint64_t epoch = atomic_fetch_add(&sampling.epoch, 1) + 1;
  __mprof_heap_countdown = 0;
  mprof_threads_interrupt(epoch);
  mprof_lock_release(&mprof_registry_lock);
  return before;
}

void mprof_sample_init(uint64_t rate) {
  mprof_place_set_masks(rate);
  atomic_store(&sampling.rate, rate);
  atomic_store(&sampling.epoch, 1);
}
