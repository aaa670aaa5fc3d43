// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line table of a unit: the file and the line of each address. See DWARF 5,
// section 6.2.

#ifndef MPROF_TOOLS_SYMBOLIZER_LINETABLE_H
#define MPROF_TOOLS_SYMBOLIZER_LINETABLE_H

#include "Unit.h"

namespace mprof {

class LineTable {
public:
  struct Row {
    uint64_t Address = 0;
    uint64_t File = 1, Line = 1;
  };
  // The row for an address.
  struct Found {
    uint64_t Limit = ~uint64_t{0}; // end of the sequence that has the row
    bool HasRow = false;
    Row R;
  };

private:
  struct FileName {
    Value Name;
    uint64_t Directory;
  };
  struct State;

  Unit *U = nullptr;
  unsigned Version = 0, MinInstruction = 1, LineRange = 0, OpcodeBase = 0;
  int LineBase = 0;
  const uint8_t *OpcodeLengths = nullptr;
  // The numbers that a special opcode adds to the address and to the line.
  struct Step {
    uint32_t Address;
    int32_t Line;
  };
  Step Steps[256] = {};
  PlainCursor Program;
  std::vector<Value> Directories;
  std::vector<FileName> Files;

  void makeSteps();
  bool readNames(PlainCursor &C);
  bool readEntries(PlainCursor &C, std::vector<FileName> &Out);
  bool runExtended(State &S, PlainCursor &C);
  bool runStandard(State &S, PlainCursor &C, unsigned Opcode);

public:
  // Reads the header of the unit's line table. Returns false if the table
  // cannot be understood.
  bool open(const ElfFile::Sections &S, Unit &Of);
  // Finds the rows for the addresses, which are sorted. Returns false if the
  // table cannot be understood.
  bool find(const std::vector<uint64_t> &Addresses, std::vector<Found> &Result);
  // Stores the path of a file in Path. Returns false if the path cannot be
  // determined. If there is no such file, leaves Path unchanged and sets
  // *HasFile to false.
  bool filePath(uint64_t File, std::string &Path, bool *HasFile);
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_LINETABLE_H
