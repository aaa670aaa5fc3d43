// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are marked mprof_wrapper.

#ifndef MPROF_RT_SYMBOLIZE_WRAPPERS_H
#define MPROF_RT_SYMBOLIZE_WRAPPERS_H

#include "sys/abi_words.h"
#include "sys/message.h"

// Longer names of functions than that, with the 0, are no wrapper's.
#define MPROF_WRAPPER_NAME 512

// Whether a function (demangled, with parameters) was marked mprof_wrapper.
bool mprof_is_wrapper(const char *function);
// The same; then out gets its name without result, parameters and template
// arguments, which the expression below matches.
bool mprof_wrapper_name(struct mprof_text *out, const char *function);
// An expression for the name that matches it with template arguments or not,
// and nothing if it is too long.
void mprof_wrapper_pattern(struct mprof_text *out, const char *name);
// Calls fn for each registered wrapper's name, under registry_lock.
void mprof_each_wrapper(void (*fn)(const char *name, void *arg), void *arg);

// Names of a module's mprof_wrapper functions. The pass emits one such node
// for each translation unit that defines any, registered by a constructor and
// unregistered by a destructor. Guarded by the registry lock.
struct __mprof_wrappers {
  struct __mprof_wrappers *next;
  const char *const *names; // demangled, without parameters
  size_t count;
};
MPROF_ENTRY void __mprof_register_wrappers(struct __mprof_wrappers *node);
MPROF_ENTRY void __mprof_unregister_wrappers(struct __mprof_wrappers *node);

#endif // MPROF_RT_SYMBOLIZE_WRAPPERS_H
