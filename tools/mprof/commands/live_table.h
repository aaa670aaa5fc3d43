// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of mprof live. Each is made of one page of the program's HTTP
// server.

#ifndef MPROF_TOOL_LIVE_TABLE_H
#define MPROF_TOOL_LIVE_TABLE_H

#include "terminal/table.h"
#include "view/view.h"

enum live_kind {
  LIVE_MEMORY,
  LIVE_ALLOCS,
  LIVE_LOCKS,
  LIVE_BLOCK,
  LIVE_CPU,
  LIVE_THREADS,
  LIVE_KINDS
};

// What a table is made of.
struct live_kind_row {
  const char *name;
  char key;           // that chooses the table
  const char *page;   // NAME of /debug/pprof/NAME
  bool is_rate;       // the page has the events of some seconds
  const char *dump;   // NAME of the profile that is saved
  const char *option; // that switches the profile on; NULL: none
  const char *on;     // a value of the option
};
extern const struct live_kind_row live_kinds[LIVE_KINDS];

enum { LIVE_COLUMNS = 9 };

struct live_column {
  const char *title, *unit;
  enum { LIVE_NUMBER, LIVE_RATE, LIVE_SHARE, LIVE_TEXT, LIVE_NAME } form;
};

struct live_row {
  int64_t numbers[LIVE_COLUMNS]; // of columns that are no texts
  double variance;               // of the number in the first column
  char *texts[LIVE_COLUMNS];     // of columns of texts, or NULL
  size_t place;                  // before the rows were sorted
};

struct live_table {
  enum live_kind kind;
  struct live_column columns[LIVE_COLUMNS];
  size_t column_count;
  struct live_row *rows;
  size_t count, capacity;
  int64_t total;  // of the first column
  double seconds; // by which rates are divided
};

// Makes the table of a profile. options: type and grain are not used. Returns
// false, and writes a message to error, if the profile or an option does not
// fit. seconds: duration of the profile; at least 0.001.
bool live_table_make(struct live_table *t, enum live_kind kind,
                     struct profile *p, const struct view_options *options,
                     bool keeps_std, double seconds, char *error, size_t size);
void live_table_free(struct live_table *t);
// Sorts the rows by a column of numbers, the largest first.
void live_table_sort(struct live_table *t, size_t column);
// Returns the column of numbers after `column`, or the first one after the
// last. Shares have the order of the numbers before them.
size_t live_table_next(const struct live_table *t, size_t column);
// Returns `count` rows from row `first` on, as a table, which the caller frees.
// sorted: the column with a mark. If the style has a width, texts are cut so
// that each column is visible.
struct table *live_table_rows(const struct live_table *t, size_t first,
                              size_t count, size_t sorted,
                              const struct style *style);

#endif
