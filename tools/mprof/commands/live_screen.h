// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a screen of mprof live.

#ifndef MPROF_TOOL_LIVE_SCREEN_H
#define MPROF_TOOL_LIVE_SCREEN_H

#include "commands/live_table.h"

#include <stdio.h>

enum { LIVE_TEXT_MAX = 512 };

// What the screen shows.
struct live_screen {
  const char *program;     // such as "server.4711"
  char use[128];           // memory, threads and processor time; "": unknown
  enum live_kind kind;     // the chosen table
  struct live_table table; // count 0 and no columns: none yet
  size_t sorted;           // the column
  size_t first;            // the first row
  char *losses;            // lines, or NULL
  char filter[LIVE_TEXT_MAX];
  char message[LIVE_TEXT_MAX]; // in the last line, or in place of the table
  // The text that the user types behind "/", or NULL.
  const char *prompt;
  bool has_help, is_paused;
};

// Prints the screen. style: the width of its lines. rows: the largest number of
// rows of the table.
void live_screen_plain(const struct live_screen *s, size_t rows, FILE *out,
                       const struct style *style);
// Prints the screen for a terminal of this height, with the keys.
void live_screen_full(const struct live_screen *s, unsigned height, FILE *out,
                      const struct style *style);
// Returns the number of rows of the table that such a screen has.
size_t live_screen_rows(unsigned height);

#endif
