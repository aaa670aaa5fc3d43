// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See sample.h.

#include "sample.h"

#include "abi_words.h"
#include "lock.h"
#include "nested.h"
#include "place.h"
#include "process.h"
#include "threads.h"
#include "tls.h"

// Both are written under registry_lock and read without: the epoch last, so
// that who sees a new epoch sees its rate.
static struct {
  // Alone in its cache line: in exact mode every event reads it.
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

// log2 of a number from 1 to 2^26: the exponent, and the mantissa's logarithm
// interpolated in the table. (Go: fastlog2)
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
  // -ln(q) * mean of a q uniform in (0, 1], by way of log2.
  double log = fast_log2(random26 + 1) - 26;
  if (log > 0)
    log = 0;
  return (int64_t)(log * (minus_ln2 * (double)rate)) + 1;
}

// What is left until the next sample, for a rate: never, always, or a draw.
static int64_t draw(uint64_t rate) {
  if (rate == 0)
    return INT64_MAX;
  if (rate == 1)
    return 0; // which no allocation is below, not even of 0 bytes
  return mprof_sample_next(rate, (uint32_t)(mprof_thread_random() >> 38));
}

// Tells mprof_sample_set_rate that this thread has drawn for a new rate, and
// where its countdown is.
static MPROF_NOINLINE void note_epoch(uint64_t epoch) {
  mprof_tls.rate_epoch = epoch;
  if (mprof_guard_enter()) {
    struct mprof_thread *t = mprof_thread_self(false);
    if (t)
      atomic_store(&t->rate_epoch, epoch);
    mprof_guard_leave();
  }
}

// Decides for the rate of one epoch, and sets the countdown.
static bool decide(size_t size, uint64_t epoch, uint64_t *rate) {
  *rate = mprof_sample_rate();
  bool is_hit = true;
  if (mprof_unlikely(mprof_tls.rate_epoch != epoch)) {
    // The thread's first allocation, or the first since the rate has changed:
    // the countdown is not of this rate, so it is held against a new one.
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
    // No block is as large. The site's subtraction went around; undo it.
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
    // A new rate may have come before the countdown was set, which then
    // covered the 0 that mprof_threads_interrupt had put there.
    atomic_signal_fence(memory_order_seq_cst);
    if (mprof_likely(atomic_load_explicit(&sampling.epoch,
                                          memory_order_acquire) == epoch))
      // The next is drawn as ever, since a Poisson process has no memory.
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
