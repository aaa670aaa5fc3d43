// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes back definitions of libmprof_preload.so that have no next definition in
// another library: the operators of C++ in a C program, the functions of
// liburing, and functions that this libc does not have. So libraries that the
// program opens later find the definitions that they would find without this
// library, and so does a program that tests whether a function exists.

#ifndef MPROF_RT_PRELOAD_WITHDRAW_H
#define MPROF_RT_PRELOAD_WITHDRAW_H

// Removes the definitions from the library's table of symbols. Call once, at
// start, after the next definitions have been looked up. Keeps errno.
void mprof_preload_withdraw(void);

#endif // MPROF_RT_PRELOAD_WITHDRAW_H
