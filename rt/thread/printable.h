// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells which characters can be printed as they are. Other characters, such as
// control characters and unassigned ones, are escaped in texts for people.

#ifndef MPROF_RT_THREAD_PRINTABLE_H
#define MPROF_RT_THREAD_PRINTABLE_H

#include "sys/base.h"

// Returns whether the Unicode character c is printable. (Go: strconv.IsPrint)
bool mprof_is_printable(unsigned c);

#endif // MPROF_RT_THREAD_PRINTABLE_H
