// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which allocations are counted, and holds the sampling rate.
//
// Sample points lie at random among the bytes that a thread allocates and form
// a Poisson process. Their mean distance is R bytes, the rate. A block of s
// bytes is counted if at least one point lies in it. The probability of this is
//   p(s) = 1 - exp(-s / R)
// Each counted block represents 1 / p(s) blocks of its size. Writers scale the
// counts by this factor, so the expected counts equal the true counts. A
// bucket's key contains the size and the rate, so the factor is exact for each
// bucket. (Go: nextSample, scaleHeapSample)
//
// The points are not drawn one by one. A thread's countdown is the distance to
// its next point, drawn from the exponential distribution by inversion:
//   d = -ln(q) * R, with q uniform in (0, 1]           (Go: fastexprand)
// Each call site subtracts its block's size from the countdown, and the block
// that makes the countdown run out is counted. Then a new distance is drawn,
// from the end of this block on. That is correct although the point lies inside
// the block, because the exponential distribution has no memory.
//
// Two rates are special: 0 counts no block, 1 counts each block (exact mode).

#include "heap/sample.h"

#include "heap/nested_alloc.h"
#include "heap/page_placement.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

// Both fields are written under registry_lock and read without a lock. The
// epoch is written last, so a thread that reads a new epoch then also reads the
// new rate.
static struct {
  // Begins a cache line, since each event in exact mode reads the rate.
  _Alignas(64) _Atomic uint64_t rate;
  _Atomic uint64_t epoch; // 0 before the runtime has started
} sampling;

uint64_t mprof_sample_rate(void) {
  return atomic_load_explicit(&sampling.rate, memory_order_relaxed);
}

// log2(1 + i / 32). (Go: fastlog2Table)
static const double log2_table[33] = {0,
                                      0.044394119358453436,
                                      0.087462841250339401,
                                      0.12928301694496647,
                                      0.16992500144231237,
                                      0.20945336562894978,
                                      0.24792751344358549,
                                      0.28540221886224837,
                                      0.32192809488736235,
                                      0.35755200461808367,
                                      0.39231742277876031,
                                      0.42626475470209796,
                                      0.45943161863729726,
                                      0.49185309632967472,
                                      0.52356195605701283,
                                      0.55458885167763738,
                                      0.58496250072115619,
                                      0.61470984411520824,
                                      0.6438561897747247,
                                      0.67242534197149562,
                                      0.70043971814109218,
                                      0.7279204545631992,
                                      0.75488750216346856,
                                      0.7813597135246596,
                                      0.80735492205760406,
                                      0.83289001416474162,
                                      0.85798099512757209,
                                      0.88264304936184124,
                                      0.90689059560851848,
                                      0.93073733756288624,
                                      0.95419631038687525,
                                      0.97727992349991644,
                                      1};

// Returns log2 of a number from 1 to 2^26: the exponent plus the logarithm of
// the mantissa, interpolated in the table. (Go: fastlog2)
static double fast_log2(uint32_t v) {
  unsigned exponent = 31 - (unsigned)__builtin_clz(v);
  double mantissa = (double)v / (double)(1u << exponent); // 1 <= m < 2
  double at = (mantissa - 1) * 32;
  unsigned i = (unsigned)at;
  double low = log2_table[i];
  return exponent + low + (at - i) * (log2_table[i + 1] - low);
}

int64_t mprof_sample_next(uint64_t rate, uint32_t random26) {
  const double minus_ln2 = -0.6931471805599453;
  if (rate <= 1)
    return 0;
  // -ln(q) * rate for q = (random26 + 1) / 2^26, computed from log2(q).
  double log = fast_log2(random26 + 1) - 26;
  if (log > 0)
    log = 0;
  return (int64_t)(log * (minus_ln2 * (double)rate)) + 1;
}

// Returns a new countdown for the rate: INT64_MAX (no sample), 0, or a random
// distance.
static int64_t draw(uint64_t rate) {
  if (rate == 0)
    return INT64_MAX;
  if (rate == 1)
    return 0; // so that each allocation is counted, even one of 0 bytes
  return mprof_sample_next(rate, (uint32_t)(mprof_thread_random() >> 38));
}

// Records that this thread has drawn a countdown for the rate of the epoch.
// mprof_sample_set_rate waits for this record. Registers the thread if
// necessary, so that mprof_threads_interrupt finds its countdown.
static MPROF_NOINLINE void note_epoch(uint64_t epoch) {
  mprof_tls.rate_epoch = epoch;
  if (mprof_guard_enter()) {
    struct mprof_thread *t = mprof_thread_self(false);
    if (t)
      atomic_store(&t->rate_epoch, epoch);
    mprof_guard_leave();
  }
}

// Returns whether a block of size bytes is counted at the rate of this epoch.
// Sets the countdown to the next sample.
static bool decide(size_t size, uint64_t epoch, uint64_t *rate) {
  *rate = mprof_sample_rate();
  bool is_hit = true;
  if (mprof_unlikely(mprof_tls.rate_epoch != epoch)) {
    // This is the thread's first allocation, or the first since the rate
    // changed. The countdown does not belong to this rate, so draw a new one
    // and compare the size with that.
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
    // No block can be this large. The site's subtraction overflowed; undo it.
    __mprof_heap_countdown += (int64_t)size;
    return false;
  }
  if (__mprof_heap_countdown > 0)
    return false;
  if (mprof_unlikely(!mprof_init_ready())) {
    __mprof_heap_countdown = mprof_init_is_inert() ? INT64_MAX : 0;
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
    // decide stored the countdown. In this case, decide has overwritten the 0
    // by which mprof_threads_interrupt requests a new countdown.
    atomic_signal_fence(memory_order_seq_cst);
    if (mprof_likely(atomic_load_explicit(&sampling.epoch,
                                          memory_order_acquire) == epoch))
      // A nested allocation is not counted. The countdown drawn above stays
      // valid, since a Poisson process has no memory.
      return is_hit && !mprof_is_nested((uintptr_t)__builtin_frame_address(0));
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
