// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the data words that every instrumented call site reads. These words
// change rarely. They have cache lines of their own, because frequent writes to
// another word in the same cache line would slow down every call site.

#include "sys/abi_words.h"

#include "sys/base.h"

#define IN_LINE __attribute__((section(".data.mprof_words")))
IN_LINE __attribute__((aligned(64))) uintptr_t __mprof_free_mask =
    MPROF_PAGE - 1;
IN_LINE uintptr_t __mprof_delete_mask = MPROF_PAGE - 1;
IN_LINE uintptr_t __mprof_custom_mask = ~(uintptr_t)0;
IN_LINE uint64_t __mprof_sync_kinds = 0;
IN_LINE __attribute__((used)) static char rest_of_line[32] = {0};

// Defines the pointers __mprof_next_*. At first, each pointer has the address
// of the hooked function itself. If the runtime intercepts the function, the
// runtime changes the pointer at start. Otherwise the pointer never changes.
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  extern char hooked_##Symbol[] __asm__(#Symbol) __attribute__((weak));        \
  IN_LINE void *__mprof_next_##Symbol = hooked_##Symbol;
#include "mprof/hooks.def"
// The same for sites that pass the size of the copy.
IN_LINE void *__mprof_sized_strdup = hooked_strdup;
IN_LINE void *__mprof_sized_strndup = hooked_strndup;
IN_LINE void *__mprof_copy_malloc = NULL;
// The function for blocks off a page boundary, which at first is free, too.
IN_LINE void *__mprof_free_off_page = hooked_free;
_Static_assert(MPROF_PLACED_BITS == MPROF_PAGE - 1, "sites test these bits");

// Has one element for each slot of the table of waiters. The runtime changes an
// element only while it holds the slot's lock; see lock_wait/waiters.c.
_Alignas(64) uint32_t __mprof_waiters[MPROF_WAITER_SLOTS];

__thread int64_t __mprof_heap_countdown;
__thread uintptr_t __mprof_nested_frame;
__thread uintptr_t __mprof_nested_return;
void *__mprof_main_frame;

const char mprof_runtime_is_there = 1;

const char __mprof_is_program = 1;
