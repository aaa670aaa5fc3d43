// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does the work of the process that worker.h describes.

#ifndef MPROF_TOOL_ANSWER_H
#define MPROF_TOOL_ANSWER_H

#include "names/worker.h"

#include <stdio.h>

// Finds the names that the job asks for, and writes the messages, but no
// MESSAGE_END.
void answer(const struct job *job, const struct places *places, FILE *out);

#endif
