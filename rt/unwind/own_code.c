// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own functions in stacks that a signal has interrupted.

#include "options/flags.h"
#include "unwind/unwind.h"

// Start and end of the section in which own_section.h puts the functions. The
// entries are in another section, and unwound stacks do not contain them.
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const char __start_mprof_own_text[] SECTION_END;
extern const char __stop_mprof_own_text[] SECTION_END;

// Only the address and the name are used. In tests that compile the runtime in
// another way, the section contains only this function.
__attribute__((visibility("hidden"))) void mprof_itself(void);
__attribute__((noinline, used, section("mprof_own_text"))) void
mprof_itself(void) {}

static bool is_own(mprof_pc pc) {
  return pc - 1 - (uintptr_t)__start_mprof_own_text <
         (uintptr_t)(__stop_mprof_own_text - __start_mprof_own_text);
}

size_t mprof_hide_own_code(mprof_pc *pcs, size_t len) {
  if (len == 0 || mprof_flags.own)
    return len;
  size_t kept = 0;
  if (is_own(pcs[0]))
    pcs[kept++] = (uintptr_t)mprof_itself + 1; // as a return address
  for (size_t i = 0; i < len; i++)
    if (!is_own(pcs[i]))
      pcs[kept++] = pcs[i];
  return kept;
}
