// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the hash of a stack and a block size equals the hash that Go
// computes.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"

static void check(const mprof_pc *stack, size_t len, size_t size, uint64_t hash,
                  uint64_t slot) {
  CHECK_EQ(mprof_bucket_hash(stack, len, size), hash);
  CHECK_EQ(hash % MPROF_BUCK_HASH_SIZE, slot);
}

int main(void) {
  check(NULL, 0, 0, 0, 0);
  check((mprof_pc[]){0x401000}, 1, 0, 0x2419cbd9f216, 39544);
  check((mprof_pc[]){0x401000, 0x402000}, 2, 64, 0x92ecfa05c3c0ef, 55118);
  check((mprof_pc[]){0x402000, 0x401000}, 2, 64, 0x93371c9397cfbb, 11936);
  check((mprof_pc[]){0x7f0000001234, 0x401136, 0x401200}, 3, 1024,
        0xd75be4969ea4c9cd, 129414);
  return 0;
}
