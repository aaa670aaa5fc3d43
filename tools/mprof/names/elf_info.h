// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an ELF file says about MProf.

#ifndef MPROF_TOOL_ELF_INFO_H
#define MPROF_TOOL_ELF_INFO_H

#include <stdbool.h>
#include <stddef.h>

struct elf_info {
  bool is_elf;
  bool has_runtime;   // MProf's runtime is linked into the file
  bool needs_runtime; // the file's code calls the runtime of another file
  bool has_symbols, has_debug_info, has_build_id;
  bool changes_user; // the file calls setuid or the like
  bool is_static;    // the file needs neither an interpreter nor libraries
  bool is_of_this_processor; // a file for the processor that mprof runs on
  bool is_go;         // the program ends without libc, so MProf sees no end
  bool has_allocator; // the file defines malloc for itself and its libraries
  bool has_sanitizer; // AddressSanitizer or another one replaces malloc
  char *interpreter;  // path of the dynamic linker, or NULL
  unsigned abi;  // version of the runtime that the file contains or needs; or 0
  char **needed; // names of the libraries that it needs
  size_t needed_count;
};

// Reads the file. Returns NULL or a message without the path. A file that is
// not an ELF file, such as a script, is no error. elf_info_free frees the
// texts.
const char *elf_info_read(const char *path, struct elf_info *info);
void elf_info_free(struct elf_info *info);
// Returns whether the file is there, but has no symbols.
bool elf_is_stripped(const char *path);

// Returns the path of the file that execvp would run, or NULL. The caller frees
// it.
char *elf_find_program(const char *name);

#endif
