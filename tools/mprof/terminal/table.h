// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of text. A caller adds the columns, then the cells row by row.

#ifndef MPROF_TOOL_TABLE_H
#define MPROF_TOOL_TABLE_H

#include "terminal/style.h"

struct table;

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table *table_new(void);
void table_free(struct table *t);
void table_column(struct table *t, const char *title, enum table_align align);
// Adds the next cell. Copies the text, which may contain any characters. Lines
// of the text are parts, see style_put_parts.
void table_cell(struct table *t, const char *text);
// Prints the table in columns. The last column is cut at the width of the
// style.
void table_print(const struct table *t, FILE *out, const struct style *style);
// Prints the table as Markdown. Characters with a meaning in Markdown and in
// HTML are escaped.
void table_print_markdown(const struct table *t, FILE *out);

#endif
