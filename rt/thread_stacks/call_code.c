// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See call_code.h.

#include "thread_stacks/call_code.h"

#if defined(__x86_64__)
#include "thread_stacks/call_code_x86_64.h"
#elif defined(__aarch64__)
#include "thread_stacks/call_code_aarch64.h"
#endif

uintptr_t mprof_called_before(uintptr_t pc) { return called_before(pc); }
