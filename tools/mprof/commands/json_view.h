// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes views as JSON, for the commands that show them (--format=json).
// docs/mprof.schema.json describes the members.

#ifndef MPROF_TOOL_JSON_VIEW_H
#define MPROF_TOOL_JSON_VIEW_H

#include "commands/options.h"
#include "view/functions.h"
#include "view/stacks.h"

// Writes `, "NAME": "TEXT"`, with null for NULL and "".
void json_put_text(FILE *out, const char *name, const char *text);
// Begins the object: command, value type and sum of the view. rows: number of
// all rows, of which the first ones follow.
void json_begin(FILE *out, const struct options *options, const struct view *v,
                size_t rows);
// Ends the object with what was lost.
void json_end(FILE *out, const struct view *v);
// Writes the members of a frame without braces: function, file, line, via.
void json_put_frame(FILE *out, const struct view *v,
                    const struct shown_frame *f);
// Writes a list of frames with its name: `"frames": [...]`.
void json_put_frames(FILE *out, const struct view *v,
                     const struct shown_frame *frames, uint32_t count);

// Write all of the object.
void json_put_top(FILE *out, const struct options *options,
                  const struct view *v, const struct function_table *rows,
                  size_t count);
void json_put_traces(FILE *out, const struct options *options,
                     const struct view *v, const struct stack_table *t,
                     size_t count);

#endif
