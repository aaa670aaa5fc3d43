// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the output may contain: colours, characters that are not ASCII, and how
// wide a line may be.

#ifndef MPROF_TOOL_STYLE_H
#define MPROF_TOOL_STYLE_H

#include <stdbool.h>
#include <stdio.h>

struct style {
  bool has_colour;
  bool has_utf8;
  unsigned width; // columns; 0: unlimited
};

// Finds the style of standard output. colour: "always", "never", "auto" or
// NULL. In an output that is no terminal, lines are not cut and have no
// colours.
struct style style_of_output(const char *colour);
// Finds the style of standard error.
struct style style_of_error(const char *colour);

// Prints text from a file. Control characters and invalid UTF-8 become '?', so
// that no file can send commands to the terminal.
void style_put(FILE *out, const char *text);
// Prints a text of several lines, such as the reply of a program, in the same
// way. Line feeds and tabs stay.
void style_put_lines(FILE *out, const char *text, size_t length);
// Returns the number of columns that style_put needs for the text.
unsigned style_width(const char *text);
// Prints at most `columns` columns of the text. A longer text ends in "...".
void style_put_cut(FILE *out, const char *text, unsigned columns);

// Prints the lines of a text as one line, with two blanks between them. If this
// line has more than `columns` columns (0: unlimited), the last parts are left
// out, and then the begin of the first part, but not its leading blanks: of
// "app::Cache::get", "server.cpp:27" and "via std::vector", the end of the name
// and the place say most.
void style_put_parts(FILE *out, const char *text, unsigned columns);
// Returns the columns of the whole line.
unsigned style_parts_width(const char *text);

#endif
