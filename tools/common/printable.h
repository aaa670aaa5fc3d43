// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which characters of a file's text may be shown.

#ifndef MPROF_TOOLS_PRINTABLE_H
#define MPROF_TOOLS_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

// Returns the length in bytes of the UTF-8 character at text, which is not
// empty. Returns 0 if the next byte must be replaced: it begins no valid
// character, or a control character. Controls are those of terminals (C0, DEL,
// C1), of lines (U+2028, U+2029) and of the direction of the text, which could
// show a name in another order. To skip such a character, use
// printable_skip.
size_t printable_length(const char *text);
// Returns the number of bytes to skip for a character that must be replaced.
size_t printable_skip(const char *text);
// Prints the text, which may contain null bytes. '?' replaces what must not be
// shown, so that no text can send commands to a terminal.
void printable_put(FILE *out, const char *text, size_t length);

#endif
