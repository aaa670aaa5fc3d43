// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SipHash by Aumasson and Bernstein, with one round for each word and three
// rounds at the end.

#include "common/siphash.h"

#include <string.h>
#include <sys/random.h>

struct state {
  uint64_t v[4];
};

static const uint64_t *key(void) {
  static uint64_t words[2];
  static int is_set;
  // Without random numbers, the tables work, but may be slow on purpose.
  if (!is_set && getrandom(words, sizeof words, GRND_NONBLOCK) < 0)
    words[0] = (uint64_t)(uintptr_t)words;
  is_set = 1;
  return words;
}

static uint64_t rotate(uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

static void round_of(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = rotate(v[1], 13) ^ v[0];
  v[0] = rotate(v[0], 32);
  v[2] += v[3];
  v[3] = rotate(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotate(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotate(v[1], 17) ^ v[2];
  v[2] = rotate(v[2], 32);
}

static void add_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  round_of(v);
  v[0] ^= word;
}

uint64_t siphash(uint64_t number, const void *bytes, size_t length) {
  const uint64_t *k = key();
  uint64_t v[4] = {k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
                   k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573};
  const unsigned char *p = bytes;
  const uint64_t total = length + sizeof number;
  add_word(v, number);
  for (; length >= 8; p += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    add_word(v, word);
  }
  uint64_t tail = 0;
  if (length)
    memcpy(&tail, p, length);
  add_word(v, tail | total << 56);
  v[2] ^= 0xff;
  for (int i = 0; i < 3; i++)
    round_of(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
