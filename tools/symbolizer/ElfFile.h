// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF file that is mapped read-only, and the names in its symbol table.
// Only the pages that are read take memory. Sections with debug information may
// be compressed.

#ifndef MPROF_TOOLS_SYMBOLIZER_ELFFILE_H
#define MPROF_TOOLS_SYMBOLIZER_ELFFILE_H

#include "Cursor.h"

#include <memory>
#include <string>
#include <sys/stat.h>
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
  std::vector<std::unique_ptr<Inflater>> Inflaters;
  Bytes Symbols, SymbolStrings;
  std::vector<char> IsAllocated; // for each section
  Bytes BuildIdNote;             // the section .note.gnu.build-id
  std::string DebugLink;
  struct stat State = {};
  uint16_t Machine = 0; // EM_X86_64 or EM_AARCH64

  bool readSections();
  bool readSection(const struct SectionHeader &S, const char *Name);
  bool isMappingSymbol(uint32_t Name) const;

public:
  ElfFile() = default;
  ~ElfFile();
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;

  // Maps the file. Returns false if the file cannot be read, or if this reader
  // does not understand the file.
  bool open(const char *Path);
  const Sections &debug() const { return Debug; }
  // The time of the last change of the file or of its inode.
  int64_t changedNs() const { return changedNs(State); }
  static int64_t changedNs(const struct stat &St);
  // The size, the inode and the time of the last change.
  const struct stat &state() const { return State; }
  // Stores the build ID in hexadecimal in Id, or "" if there is none. At most
  // 20 bytes of the ID are stored. Returns false if the notes that may have the
  // ID cannot be understood.
  bool buildId(std::string &Id) const;
  // The places where the debug information may be.
  enum class Place {
    Here,     // in this file
    Separate, // in a file that has the same build ID
    Unknown   // perhaps in a file that this reader does not look for
  };
  // Finds the place of the debug information of this file, whose path is Path.
  // Stores the path of a separate file in DebugPath, and the paths at which
  // there is no such file in Absent.
  Place debugPlace(const char *Path, std::string &DebugPath,
                   std::vector<std::string> &Absent) const;
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
