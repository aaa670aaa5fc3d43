// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads numbers of a section of an ELF file. Numbers that are not inside of the
// slice are 0.

#ifndef MPROF_TOOL_SLICE_H
#define MPROF_TOOL_SLICE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
  uint8_t *at;
  size_t length;
};

// Returns the section of this name, decompressed, or an empty slice.
struct slice slice_of_section(Elf *elf, const char *name);
// Returns a part, or an empty slice if it is not inside.
struct slice slice_part(struct slice s, uint64_t offset, uint64_t length);
// Returns the little-endian number of `size` bytes at the offset.
uint64_t slice_number(struct slice s, uint64_t offset, unsigned size);
// Reads a number in LEB128 at *offset, and moves *offset behind it.
uint64_t slice_uleb(struct slice s, uint64_t *offset);
// Returns the string at the offset, or NULL.
const char *slice_string(struct slice s, uint64_t offset);

#endif
