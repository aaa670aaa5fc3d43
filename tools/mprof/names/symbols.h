// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbol tables of ELF files. Among several symbols for an address, the choice
// is that of llvm-symbolizer.

#ifndef MPROF_TOOL_SYMBOLS_H
#define MPROF_TOOL_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
  uint64_t value, size;
  const char *name;
  const char *file; // the source file of a local symbol, or ""
  size_t index;     // in the ELF file's table
};

struct symbols {
  struct symbol *items; // sorted
  size_t count, capacity;
};

// Reads .symtab, or .dynsym if there is none.
struct symbols symbols_of_elf(Elf *elf);
// Reads all tables that libdwfl finds, such as the compressed one in
// .gnu_debugdata.
struct symbols symbols_of_module(Dwfl_Module *m);
// Returns the symbol that contains the address, or NULL.
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);
void symbols_free(struct symbols *s);

#endif
