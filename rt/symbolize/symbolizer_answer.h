// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the answers of llvm-symbolizer, which are lines of JSON. The other
// output styles of llvm-symbolizer end a name at the end of a line. A directory
// whose name contains a line break would then shift all further names.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_ANSWER_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_ANSWER_H

#include "sys/message.h"

// A frame in text form consists of function, file, line and the line at which
// the function begins. This character separates these fields. Other control
// characters in a name are replaced by escape sequences such as \012, as in
// /proc/self/maps.
#define MPROF_FRAME_SEPARATOR '\x1f'

// Receives the frames of the return address pc: a string for each frame in this
// form, and an empty string at the end.
typedef void mprof_names_fn(mprof_pc pc, const char *frames, void *arg);

// Appends to *out a string for each frame in `answer`, innermost first.
// `answer` is one line of JSON, which this function changes. *out has no text,
// and room for MPROF_CUT_ALL bytes. Omits frames without a function. Shortens
// names that are too long (cut_name.h). If there are too many frames, or if the
// end of the answer is missing, MPROF_CUT_MARK is the name of the outermost
// frame.
void mprof_symbolizer_answer(char *answer, struct mprof_text *out);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZER_ANSWER_H
