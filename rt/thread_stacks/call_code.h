// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the instruction of a call. The file call_code_x86_64.h or
// call_code_aarch64.h has the code for the processor.

#ifndef MPROF_RT_THREAD_STACKS_CALL_CODE_H
#define MPROF_RT_THREAD_STACKS_CALL_CODE_H

#include "sys/os_memory.h"

#include <stdint.h>

// Returns the address of the function that was called by the call instruction
// before the return address pc. Returns 0 if the instruction contains neither
// the address of the function nor the address of a pointer to the function, and
// does not call a hooked function through a register. The kernel copies the
// code (mprof_os_peek), because its module may be unloaded at any time.
uintptr_t mprof_called_before(uintptr_t pc);

// Returns the pointer at `slot`, or 0.
static inline uintptr_t mprof_peek_pointer(uintptr_t slot) {
  uintptr_t target;
  return mprof_os_peek(slot, &target, sizeof(target)) == sizeof(target) ? target
                                                                        : 0;
}

#endif // MPROF_RT_THREAD_STACKS_CALL_CODE_H
