// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Definitions for all files of the runtime: standard types, compiler hints, the
// page size and the version. This header declares no functions and includes no
// other header of the runtime.

#ifndef MPROF_RT_SYS_BASE_H
#define MPROF_RT_SYS_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define mprof_likely(x) __builtin_expect(!!(x), 1)
#define mprof_unlikely(x) __builtin_expect(!!(x), 0)
#define MPROF_NOINLINE __attribute__((noinline))
// Attribute for the declaration of a variable that other files of the runtime
// define. Without the attribute, the compiler reads the address of the variable
// from the global offset table, because the variable might be in another
// module.
#define MPROF_HIDDEN __attribute__((visibility("hidden")))
// Attribute for the definition of a public function, which mprof/mprof.h
// declares.
#define MPROF_PUBLIC __attribute__((visibility("default")))

// Fails to compile if the text and its terminating 0 do not fit in the array. A
// large table with texts has arrays of characters, or offsets in a struct of
// all texts, and no pointers. The loader writes each pointer at the start of
// every program: 8 bytes of memory that the process does not share, and 24
// bytes in the program's file.
#define MPROF_FITS(Text, array)                                                \
  _Static_assert(sizeof(Text) <= sizeof(array), "the text is too long");

// The smallest size in bytes of a page, and the alignment of placed blocks. The
// kernel's pages may be larger (mprof_sys_page_size).
#define MPROF_PAGE 4096u
#define MPROF_IS_ON_PAGE(p) (((uintptr_t)(p) & (MPROF_PAGE - 1)) == 0)

typedef uintptr_t mprof_pc; // a return address

// The version of MProf that files and messages show. CMake defines it as the
// project's version.
#ifndef MPROF_VERSION
#define MPROF_VERSION "0.1.0"
#endif

#endif // MPROF_RT_SYS_BASE_H
