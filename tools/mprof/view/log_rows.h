// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of the lists that mprof log prints.

#ifndef MPROF_TOOL_LOG_ROWS_H
#define MPROF_TOOL_LOG_ROWS_H

#include "model/log_pairs.h"

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

#endif
