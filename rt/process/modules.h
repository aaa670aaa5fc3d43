// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the modules of the process, which are the program and its shared
// libraries, in the loader's list. Reading this list takes the loader's lock.
// The functions of maps.h do not take this lock, because they read the modules
// from the kernel.

#ifndef MPROF_RT_PROCESS_MODULES_H
#define MPROF_RT_PROCESS_MODULES_H

#include "sys/base.h"
#include "sys/message.h"

#include <stdbool.h>

// The result of a search for the module that contains an address.
struct mprof_module {
  uintptr_t id; // identifies the module; 0: no module contains the address
  uintptr_t start, end; // the module's segment that contains the address
  char name[64];        // base name of the file; "": the program itself
};
// Returns the module that contains an address. Call this function only when the
// runtime starts, because it takes the loader's lock.
struct mprof_module mprof_module_of(void *address);
// Returns whether the module is a C++ runtime library (libstdc++ or libc++).
// The operators new and delete of such a library only forward to malloc and
// free, so they do not replace the program's allocator.
static inline bool mprof_module_is_cxx_library(const struct mprof_module *m) {
  static const char *const names[] = {"libstdc++.so", "libc++.so",
                                      "libc++abi.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (mprof_text_after(m->name, names[i]) != NULL)
      return true;
  return false;
}
// Returns the next definition of a function after that of this library, or
// NULL. Takes the loader's lock.
void *mprof_next_definition(const char *name);
// NULL, or the function that finds the next definition for a library that
// dlopen has loaded, which is not in the loader's order of search
// (preload/late.c). Set at start.
extern void *(*mprof_next_late)(const char *name);
// Returns whether a module is loaded whose file name begins with `prefix`.
// Takes the loader's lock.
bool mprof_module_is_loaded(const char *prefix);
// Number of modules that the loader had loaded at the last call of
// mprof_module_of. Written at start.
extern unsigned long long mprof_module_adds_at_start;
// The numbers of modules that the loader has loaded (adds) and unloaded (subs)
// since the start of the process.
struct mprof_loads {
  unsigned long long adds, subs;
};
// Returns the numbers of loaded and unloaded modules. Takes the loader's lock,
// so call this function only where the program calls the loader anyway.
struct mprof_loads mprof_module_loads(void);

struct dl_phdr_info;
// Returns whether a segment of the module contains the address.
bool mprof_module_contains(const struct dl_phdr_info *info, uintptr_t address);

// Returns the address of the first definition of a symbol in the loader's list,
// or 0. In contrast to dlsym, allocates no memory if there is none, and passes
// over the stubs of programs without PIE. Only for symbols whose address needs
// no call (STT_GNU_IFUNC). except: an address in a module to leave out; NULL:
// none. Takes the loader's lock.
uintptr_t mprof_module_symbol(const char *name, const void *except);

// A module whose symbols are searched.
struct mprof_symbol_source {
  uintptr_t base, dynamic; // the module's base address and dynamic section
  // Copies from the module's memory. Returns false if it cannot. NULL: the
  // memory is the caller's own, and stays mapped.
  bool (*copy)(void *arg, void *to, uintptr_t from, size_t size);
  void *arg;
};
// Returns the address of the definition of a symbol in the module, or 0.
uintptr_t mprof_symbol_find(const struct mprof_symbol_source *from,
                            const char *name);
// Returns the address in an entry of the dynamic section. glibc has added the
// module's base address to it, musl has not.
static inline uintptr_t mprof_dynamic_address(uintptr_t base, uintptr_t entry) {
  return entry < base ? entry + base : entry;
}

// --- the references of a loaded module to functions of other modules ---
//
// For each reference, the module has a word with the function's address, which
// the dynamic linker has written (a relocation). Code can read these words, and
// can change them, so that the module calls another function.

struct mprof_reference {
  const char *name; // of the symbol
  void *now;        // the word's value
  // False: `now` is an address in the module's own code, which finds the
  // function at the first call (lazy binding).
  bool is_bound;
  // Whether the word belongs to the module's calls. Otherwise it belongs to
  // data of the module that contain the function's address.
  bool is_of_calls;
};

// Returns the new value of the word, or NULL to leave the word as it is.
typedef void *mprof_replace_fn(const struct mprof_reference *reference,
                               void *arg);

// Calls `replace` for each reference of the module, and writes the value that
// it returns. Makes pages that are read-only after relocation (RELRO) writable
// for the moment of a write. Leaves these pages as they are if they are not yet
// read-only, because another thread's dlopen then relocates the module. Other
// threads may execute the module's code meanwhile. Keeps errno, and allocates
// no memory. Call it in a callback of dl_iterate_phdr, so that the module stays
// loaded; `replace` must not call the loader.
void mprof_relocations_replace(const struct dl_phdr_info *info,
                               mprof_replace_fn *replace, void *arg);

#endif // MPROF_RT_PROCESS_MODULES_H
