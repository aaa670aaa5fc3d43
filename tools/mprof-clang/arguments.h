// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the arguments of mprof-clang ask for, as a set of facts.

#ifndef MPROF_TOOLS_MPROF_CLANG_ARGUMENTS_H
#define MPROF_TOOLS_MPROF_CLANG_ARGUMENTS_H

#include <stdbool.h>

enum fact {
  // What clang prints in place of compiling or linking.
  PRINTS_VERSION = 1 << 0,
  PRINTS_HELP = 1 << 1,

  HAS_INPUT = 1 << 2,
  HAS_PROGRAM = 1 << 3, // an input that is not a header
  HAS_DASHES = 1 << 4,  // "--"; only inputs follow

  // What clang links. Exactly one of these facts holds.
  LINKS_NOTHING = 1 << 5,
  LINKS_OBJECT = 1 << 6,
  LINKS_LIBRARY = 1 << 7,
  LINKS_PROGRAM = 1 << 8,

  IS_STATIC = 1 << 9,
  WITH_GOLD = 1 << 10,  // the linker
  FOR_X86_64 = 1 << 11, // the target; none of these: clang's own target
  FOR_AARCH64 = 1 << 12,
  FOR_MUSL = 1 << 13,
  FOR_OTHERS = 1 << 14, // MProf does not support the target
  NAMES_LIBC = 1 << 15, // the directories of libc
  NO_LIBRARIES = 1 << 16,
  NO_CXX_LIBRARY = 1 << 17,
  CXX_LIBRARY = 1 << 18,      // -lstdc++
  NO_UNDEFINED = 1 << 19,     // undefined symbols are errors
  WRAPS_ALLOCATOR = 1 << 20,  // --wrap=malloc
  MALLOC_SANITIZER = 1 << 21, // intercepts malloc
  SAFE_STACK = 1 << 22,

  // Parts of MProf that the arguments add, as those of CMake's package,
  // pkg-config and the config files do. Clang runs a pass plugin once for each
  // -fpass-plugin, two plugins in one clang define the same options, and a
  // runtime that is linked twice defines its symbols twice.
  HAS_PLUGIN = 1 << 23,
  HAS_PASS_PLUGIN = 1 << 24,
  HAS_RUNTIME = 1 << 25,
  HAS_INTERCEPTORS = 1 << 26,

  // The flags of MProf ask for it; main.c adds this fact.
  INTERCEPTS = 1 << 27,
};

// The kinds of profiles for which code is instrumented. The bit of a kind is
// 1 << its index.
enum { KIND_HEAP, KIND_BLOCK, KIND_MUTEX, KIND_THREADCREATE, KINDS };
extern const char *const kind_names[KINDS];
#define KINDS_TEXT "heap, block, mutex, threadcreate and trace"

// The flags of MProf that are options of the pass.
enum {
  FLAG_IGNORELIST,
  FLAG_NESTED,
  FLAG_UNWIND,
  FLAG_COROUTINES,
  FLAG_ALLOC_SIZE,
  FLAG_TYPES, // also if it switches the types off, because they are on
  PASS_FLAGS
};

struct arguments {
  unsigned facts; // bits of enum fact
  unsigned kinds;
  bool intercepts;
  const char *for_pass[PASS_FLAGS]; // the last flag of each sort, or NULL
  const char *target;               // or NULL
  // The arguments that are not MProf's own. The list ends with NULL.
  char **kept;
};

// Reads the arguments in one pass. Prints a message and ends the process if
// flags of MProf are wrong.
struct arguments arguments_read(int argc, char **argv);

#endif // MPROF_TOOLS_MPROF_CLANG_ARGUMENTS_H
