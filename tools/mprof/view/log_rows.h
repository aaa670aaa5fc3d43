// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of the lists that mprof log prints, and the pairs of allocations and
// frees that they are made of.

#ifndef MPROF_TOOL_LOG_ROWS_H
#define MPROF_TOOL_LOG_ROWS_H

#include "model/alloc_log.h"

// Indices of records.
struct log_pair {
  uint32_t alloc, free;
};
struct log_double_free {
  uint32_t alloc, free, again;
};

struct log_pairs {
  // The allocations without a free, in the order in which their addresses were
  // first taken.
  uint32_t *live;
  struct log_pair *pairs;              // in the order of the frees
  struct log_double_free *freed_twice; // in the order of the second frees
  size_t live_count, pair_count, freed_twice_count;
  uint64_t allocs, frees, collections;
  uint64_t bytes;       // of all allocations
  uint64_t lost_frees;  // blocks whose free is not in the log
  uint64_t lost_allocs; // frees of blocks whose allocation is not in the log
  double end;           // time of the last record
};

// The caller frees the result with log_pairs_free.
struct log_pairs log_pairs_of(const struct alloc_log *log);
void log_pairs_free(struct log_pairs *pairs);

// Adds to a number of bytes, which stays at the largest number.
void log_add_bytes(uint64_t *sum, uint64_t bytes);

// The live blocks that one stack has allocated.
struct live_row {
  uint32_t stack;
  size_t order; // rows that are equal else are in this order
  uint64_t blocks, bytes;
  double oldest; // time of the oldest block's allocation
  uint64_t oldest_address;
};
struct live_rows {
  struct live_row *rows; // largest first
  size_t count;
};

// How long the blocks of one stack lived, in seconds.
struct lifetime_row {
  uint32_t stack;
  size_t order, pairs;
  double shortest, median, longest;
};
struct lifetime_rows {
  struct lifetime_row *rows; // most pairs first
  size_t count;
};

// The caller frees the rows. At most `limit` rows are returned.
struct live_rows live_rows_of(const struct alloc_log *log,
                              const struct log_pairs *pairs, size_t limit);
struct lifetime_rows lifetime_rows_of(const struct alloc_log *log,
                                      const struct log_pairs *pairs,
                                      size_t limit);

#endif // MPROF_TOOL_LOG_ROWS_H
