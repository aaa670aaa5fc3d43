// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/sparkline.h"

#include <string.h>

struct sparkline sparkline_of(const int64_t *values, size_t count) {
  static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};
  enum { HEIGHTS = sizeof blocks / sizeof *blocks };
  const size_t columns = count < SPARKLINE_COLUMNS ? count : SPARKLINE_COLUMNS;
  struct sparkline line = {0};
  int64_t most = 1;
  for (size_t i = 0; i < count; i++)
    most = values[i] > most ? values[i] : most;
  for (size_t c = 0, i = 0; c < columns; c++) {
    int64_t value = 0;
    for (; i * columns < (c + 1) * count; i++)
      value = values[i] > value ? values[i] : value;
    const double share = (double)value / (double)most;
    strcat(line.text, blocks[(size_t)(share * (HEIGHTS - 1) + 0.5)]);
  }
  return line;
}
