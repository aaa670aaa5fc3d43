// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions of the runtime's invariants. The assertions are checked only in
// builds without NDEBUG, such as the preset `dev`. Do not use MPROF_ASSERT in
// headers. Tests compile the headers without NDEBUG but link the release build,
// which lacks mprof_assert_failed.

#ifndef MPROF_RT_SYS_ASSERT_H
#define MPROF_RT_SYS_ASSERT_H

#include "sys/base.h"

// Ends the process with a message if cond is false. A release build does not
// evaluate cond.
#ifdef NDEBUG
#define MPROF_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#else
#define MPROF_ASSERT(cond)                                                     \
  (mprof_likely(cond) ? (void)0                                                \
                      : mprof_assert_failed(#cond, __FILE__, __LINE__))

// Prints the text of the assertion with its file and line to stderr, and ends
// the process. May be called anywhere, because the function takes no lock and
// allocates nothing.
_Noreturn void mprof_assert_failed(const char *cond, const char *file,
                                   int line);
#endif

#endif // MPROF_RT_SYS_ASSERT_H
