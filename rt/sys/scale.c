// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of blocks that a sampled block represents. See scale.h.

#include "sys/scale.h"

// Fractions have 63 bits.
#define ONE (UINT64_C(1) << 63)

static uint64_t times(uint64_t a, uint64_t b) {
  return (uint64_t)((mprof_u128)a * b >> 63);
}

// Returns exp(-size / rate) as a fraction. The quotient must be below 64. The
// Taylor series is that of its fractional part, and a table has the factors for
// the bits of its integral part.
static uint64_t exp_minus(uint64_t size, uint64_t rate) {
  enum { TERMS = 20 };
  static const uint64_t exp_minus_power_of_2[] = {
      UINT64_C(3393088950634442637), // exp(-1)
      UINT64_C(1248247667004394400), // exp(-2)
      UINT64_C(168931951563480719),  // exp(-4)
      UINT64_C(3094096621605846),    // exp(-8)
      UINT64_C(1037953783668),       // exp(-16)
      UINT64_C(116806),              // exp(-32)
  };
  const uint64_t x = mprof_mul_div(size % rate, ONE, rate, 0);
  uint64_t e = ONE;
  for (unsigned i = TERMS; i > 0; i--)
    e = ONE - times(x, e) / i;
  for (unsigned i = 0; i < 6; i++)
    if (size / rate >> i & 1)
      e = times(e, exp_minus_power_of_2[i]);
  return e;
}

uint64_t mprof_scale_missed(uint64_t size, uint64_t rate) {
  return rate <= 1 || size == 0 || size / rate >= 64 ? 0
                                                     : exp_minus(size, rate);
}

uint64_t mprof_scale_factor(uint64_t size, uint64_t rate) {
  const uint64_t p = ONE - mprof_scale_missed(size, rate);
  return mprof_mul_div(ONE, MPROF_SCALE_ONE, p, 0);
}

int64_t mprof_scale_up(uint64_t n, uint64_t unit, uint64_t factor) {
  const mprof_u128 product = (mprof_u128)n * unit;
  const uint64_t whole = product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
  return mprof_int64((mprof_u128)whole * factor / MPROF_SCALE_ONE);
}

uint64_t mprof_square_root(mprof_u128 v) {
  mprof_u128 root = 0, rest = v;
  for (mprof_u128 bit = (mprof_u128)1 << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return (uint64_t)(root + (rest > root));
}
