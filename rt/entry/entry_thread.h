// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the entries of thread creation do in libmprof_preload.so.

#ifndef MPROF_RT_ENTRY_ENTRY_THREAD_H
#define MPROF_RT_ENTRY_ENTRY_THREAD_H

// Tells the entry of pthread_create that libstdc++'s own calls reach it, too.
// These calls pass a start function of libstdc++ and a std::thread::_State. So
// the entry can find the function that the std::thread runs. Call once, at
// start. Takes the loader's lock.
void mprof_entry_thread_sees_library(void);

#endif // MPROF_RT_ENTRY_ENTRY_THREAD_H
