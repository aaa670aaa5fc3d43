// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the names of wrappers, which are functions that the program marks with
// mprof_wrapper. Each module registers the names of its wrappers. Writers of
// profiles omit the frames of wrappers from stacks. A name stays registered
// after its module is unloaded. Also makes the expression by which readers of a
// profile omit frames, and defines the pseudo frames, which stand for missing
// frames.

#ifndef MPROF_RT_SYMBOLIZE_WRAPPERS_H
#define MPROF_RT_SYMBOLIZE_WRAPPERS_H

#include "sys/abi_words.h"
#include "sys/message.h"

#include <string.h>

// Maximum length of a wrapper's name, with the terminating null byte. A
// function with a longer name is not treated as a wrapper.
#define MPROF_WRAPPER_NAME 512

// The names of the functions that the plugin invents for the types of blocks
// begin so (pass/BlockTypes.h). They are wrappers of the allocation.
#define MPROF_TYPE_SCOPE "typeinfo name for "
static inline bool mprof_is_type_scope(const char *function) {
  return strncmp(function, MPROF_TYPE_SCOPE, sizeof MPROF_TYPE_SCOPE - 1) == 0;
}

// Returns whether a function is marked with mprof_wrapper, or invented for a
// type. `function` is the demangled name of the function, with parameters.
bool mprof_is_wrapper(const char *function);
// Returns whether a function is marked with mprof_wrapper. If it is and out is
// not NULL, appends to out the function's name without result type, parameters
// and template arguments. The result can be passed to mprof_wrapper_pattern.
bool mprof_wrapper_name(struct mprof_text *out, const char *function);
// Appends to out a regular expression that matches the wrapper `name`, with or
// without template arguments. Appends nothing if `name` is too long for a
// wrapper (MPROF_WRAPPER_NAME).
void mprof_wrapper_pattern(struct mprof_text *out, const char *name);
// Calls fn(name, arg) with registry_lock held, for the name of each registered
// wrapper.
void mprof_each_wrapper(void (*fn)(const char *name, void *arg), void *arg);

// A node with the names of the wrappers of one translation unit. The pass emits
// a node for each translation unit that defines wrappers. A constructor of the
// translation unit registers the node, and a destructor unregisters it. Guarded
// by registry_lock.
struct __mprof_wrappers {
  struct __mprof_wrappers *next;
  const char *const *names; // demangled names, without parameters
  size_t count;
};
MPROF_ENTRY void __mprof_register_wrappers(struct __mprof_wrappers *node);
MPROF_ENTRY void __mprof_unregister_wrappers(struct __mprof_wrappers *node);

// --- the frames that readers omit ---

// Appends to t the regular expression for the functions whose frames readers
// omit. If `allocators` is true, as for heap profiles, the expression also
// matches allocation functions.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// Pseudo frame that is shown instead of a thread's creation stack if the
// runtime did not see the creation of the thread.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// Pseudo frame that is shown instead of a stack if no frame of the stack is
// left, because the program has asked to omit the innermost frames (the field
// `skip` of the bucket). (Go: lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

#endif // MPROF_RT_SYMBOLIZE_WRAPPERS_H
