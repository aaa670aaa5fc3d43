// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the type of a heap block in the name of the function that allocated the
// block: functions of the C++ library have the type as a template argument.

#ifndef MPROF_TOOL_BLOCK_TYPE_H
#define MPROF_TOOL_BLOCK_TYPE_H

#include <stdbool.h>
#include <stddef.h>

enum block_type {
  BLOCK_TYPE_UNKNOWN, // neither this function nor its caller tells the type
  BLOCK_TYPE_CALLER,  // the function allocates what its caller wants
  BLOCK_TYPE_FOUND,
  BLOCK_TYPE_STRING, // found: the characters of a std::basic_string
};

struct block_type_name {
  const char *text; // a part of the function's name, not 0-terminated
  size_t length;
};

// Sets *type to the type of the blocks that the function allocates itself.
// name: the demangled name, as LLVM or GNU demangle it. has_inlined: functions
// that were inlined into this one have frames of their own. Without them, a
// function whose callees may allocate, too, is unknown.
enum block_type block_type_of(const char *name, bool has_inlined,
                              struct block_type_name *type);

// Copies the type to `to`, which has room for length + 1 bytes, in the form
// that both C++ libraries and both demanglers share: without the inline
// namespaces of std, without default arguments such as std::allocator, and with
// ">>" instead of "> >". is_whole: keeps the default arguments.
void block_type_text(char *to, struct block_type_name type, bool is_whole);

#endif
