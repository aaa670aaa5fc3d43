// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a person can do about the memory of a process: one sentence for each
// part that is large and that an option makes smaller or explains.

#ifndef MPROF_TOOLS_MPROF_VIEW_MEMORY_ADVICE_H
#define MPROF_TOOLS_MPROF_VIEW_MEMORY_ADVICE_H

#include "view/memory_parts.h"

#include <stdio.h>

// Prints the sentences to out, one in each line.
void memory_advise(const struct memory_parts *m, FILE *out);

#endif // MPROF_TOOLS_MPROF_VIEW_MEMORY_ADVICE_H
