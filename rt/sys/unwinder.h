// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets code with cleanups do without a reference to libgcc_s. A function with
// the attribute cleanup refers to the functions __gcc_personality_v0 and
// _Unwind_Resume, which libgcc_s calls or defines. Because of such a reference,
// each C program would load libgcc_s at its start. But an exception can only
// pass through the function after C++ code has loaded libgcc_s.
//
// A file with such a function has the line MPROF_WITHOUT_LIBGCC_S;. It is
// compiled with -fno-addrsig, because address-significance tables would still
// name the two functions.

#ifndef MPROF_RT_SYS_UNWINDER_H
#define MPROF_RT_SYS_UNWINDER_H

#include <stdint.h>

int mprof_gcc_personality(int version, int actions, uint64_t class,
                          void *exception, void *context);
void mprof_unwind_resume(void *exception);

// Makes both names mean the functions above in this file.
#define MPROF_WITHOUT_LIBGCC_S                                                 \
  __asm__(".set __gcc_personality_v0, mprof_gcc_personality\n"                 \
          ".set _Unwind_Resume, mprof_unwind_resume")

#endif // MPROF_RT_SYS_UNWINDER_H
