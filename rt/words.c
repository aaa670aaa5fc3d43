// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words that all threads read at their sites and hardly anybody writes, in
// a cache line of their own: nothing that is written in the meantime may lie
// beside them.

#include "fastpath.h"
#include "init.h"

#define IN_LINE __attribute__((section(".data.mprof_words")))
IN_LINE __attribute__((aligned(64))) uintptr_t __mprof_free_mask =
    MPROF_PAGE - 1;
IN_LINE uintptr_t __mprof_delete_mask = MPROF_PAGE - 1;
IN_LINE uintptr_t __mprof_custom_mask = ~(uintptr_t)0;
IN_LINE uint64_t __mprof_sync_kinds = 0;
IN_LINE uint64_t __mprof_owned_mask = 0;
IN_LINE __attribute__((used)) static char rest_of_line[24] = {0};

// Until the runtime starts, and for good where it stands in front of nothing,
// the functions themselves.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));        \
  IN_LINE void *__mprof_next_##Symbol = hooked_##Symbol;
#include "mprof/hooks.def"
