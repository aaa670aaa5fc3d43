// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes identifiers by which a receiver recognises data that were sent twice.

#ifndef MPROF_TOOL_RANDOM_ID_H
#define MPROF_TOOL_RANDOM_ID_H

#include <stdint.h>

enum { RANDOM_ID = 16, UUID_SIZE = 37 };

void random_id(uint8_t id[RANDOM_ID]);
// Stores a random UUID (version 4) as text.
void random_uuid(char text[UUID_SIZE]);

#endif
