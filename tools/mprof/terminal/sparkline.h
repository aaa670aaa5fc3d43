// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values over time as a row of blocks.

#ifndef MPROF_TOOL_SPARKLINE_H
#define MPROF_TOOL_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

enum { SPARKLINE_COLUMNS = 30 };

// Text in UTF-8.
struct sparkline {
  char text[SPARKLINE_COLUMNS * 3 + 1];
};

// Returns a block for each value, as high as its share of the highest value. Of
// many values, a block shows the largest of some. Negative values have the
// lowest block.
struct sparkline sparkline_of(const int64_t *values, size_t count);

#endif
