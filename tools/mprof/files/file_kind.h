// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a file is that is no profile, for messages.

#ifndef MPROF_TOOL_FILE_KIND_H
#define MPROF_TOOL_FILE_KIND_H

#include "files/bytes.h"

// Returns a text that says what the data are and what to do with them, such as
// "an execution trace; mprof trace top shows it". Returns NULL if that is
// unknown.
const char *file_kind(const struct bytes *bytes);

#endif
