// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF file that is mapped read-only, and the names in its symbol table.
// Only the pages that are read take memory.

#ifndef MPROF_TOOLS_SYMBOLIZER_ELFFILE_H
#define MPROF_TOOLS_SYMBOLIZER_ELFFILE_H

#include "Cursor.h"

#include <string>
#include <vector>

namespace mprof {

// The symbol that covers an address.
struct Symbol {
  const char *Name = nullptr; // nullptr: no symbol covers the address
  const char *File = "";      // source file of a local symbol, or ""
};

class ElfFile {
public:
  // The sections that names are read from.
  struct Sections {
    Bytes Info, Abbrev, Str, LineStr, Line, Ranges, RngLists, Addr, StrOffsets,
        ARanges;
  };

private:
  Bytes Whole;
  Sections Debug;
  Bytes Symbols, SymbolStrings;
  std::vector<bool> IsAllocated; // for each section
  std::string DebugLink;
  int64_t ChangedNs = 0;

  bool readSections();
  bool readSection(const struct SectionHeader &S, const char *Name);

public:
  // Maps the file. Returns false if the file cannot be read, or if this reader
  // does not understand the file.
  bool open(const char *Path);
  const Sections &debug() const { return Debug; }
  // The time of the last change of the file or of its inode.
  int64_t changedNs() const { return ChangedNs; }
  // Returns the build ID in hexadecimal, or "". At most 20 bytes of the ID are
  // returned.
  std::string buildId() const;
  // Returns whether the debug information may be in a separate file, which this
  // reader does not read. Path is the path of this file.
  bool hasSeparateDebugFile(const char *Path) const;
  // Unmaps the pages that were read so far, so that they do not count as memory
  // of this process. Another read maps a page again.
  void release() const;
  // Finds the symbols that cover the addresses. The addresses are sorted.
  // Returns false if the symbol table is damaged.
  bool findSymbols(const std::vector<uint64_t> &Addresses,
                   std::vector<Symbol> &Result) const;
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_ELFFILE_H
