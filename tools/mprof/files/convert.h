// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes views in the file formats of other viewers. All frames are written,
// those of the standard libraries too.

#ifndef MPROF_TOOL_CONVERT_H
#define MPROF_TOOL_CONVERT_H

#include "view/view.h"

#include <stdio.h>

// One line for each stack: "main;work;make 1234", callers first. Read by
// flamegraph.pl, speedscope and others. A ";" in a name becomes ",".
void write_folded(const struct view *v, FILE *out);
// speedscope's JSON format, with one profile for the view. Negative values are
// left out, because speedscope rejects them.
void write_speedscope(const struct view *v, FILE *out);
// The format of callgrind, for KCachegrind.
void write_callgrind(const struct view *v, FILE *out);
// Chrome's trace event format: the call tree as nested slices, whose lengths
// are the values. Perfetto opens it, too.
void write_chrome(const struct view *v, FILE *out);
// One line for each stack: value, unit, and the stack as in write_folded.
void write_csv(const struct view *v, FILE *out);

// Writes a text as a field of a CSV file. Control characters become "?".
void csv_string(FILE *out, const char *text);

#endif
