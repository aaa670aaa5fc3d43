// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions of addresses in a file. The results are those of
// llvm-symbolizer --inlines --functions=linkage --demangle. In case of doubt
// there is no result, and llvm-symbolizer must be asked.

#ifndef MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H
#define MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H

#include "LineTable.h"

#include <map>

namespace mprof {

struct Frame {
  std::string Function, File;       // "": unknown
  uint64_t Line = 0, StartLine = 0; // 0: unknown
};

// What is known about an address.
struct Answer {
  bool IsKnown = true;       // false: ask llvm-symbolizer
  std::vector<Frame> Frames; // innermost first
};

class Symbolizer {
  // A DIE: a function, a function that was inlined, or something else.
  struct Function {
    uint64_t Die;
    bool IsFunction, IsInlined;
  };
  // The functions at one address, innermost first.
  using Chain = std::vector<Function>;
  static constexpr size_t None = SIZE_MAX;
  // A function that contains an address or such a function.
  struct Node {
    Function F;
    size_t Parent; // index of the function around it, or None
  };
  // A DIE that contains the DIE that is being read.
  struct Outer {
    Function F;
    size_t Node; // index of its node, or None
    // The innermost function around its children contains none of the
    // addresses. Then the functions that are inlined into it do not contain
    // any, either. A function that is declared in it may, because it has code
    // of its own.
    bool IsForeign;
  };
  // The attributes of a function that are shown.
  struct Description {
    const char *Name = nullptr, *LinkageName = nullptr;
    uint64_t DeclLine = 0, CallFile = 0, CallLine = 0;
    bool HasDeclLine = false;
  };
  struct UnitRange {
    AddressRange Range;
    uint64_t Unit;
  };

  const ElfFile &File;             // has the symbols
  const ElfFile &DebugFile;        // has the debug information
  std::vector<uint64_t> Offsets;   // of all units; empty: not read yet
  std::map<uint64_t, Unit> Units;  // the units that were needed
  std::vector<UnitRange> Ranges;   // a unit is known by its offset
  std::vector<uint64_t> OfARanges; // sorted units that are in .debug_aranges
  bool IsOk = true;                // the units could be understood
  bool HasAllUnits = false;

  bool readARanges();
  bool readUnits();
  Unit *unit(uint64_t Offset);
  Unit *unitAt(uint64_t InfoOffset);
  static size_t addNode(std::vector<Node> &Nodes, const Function &Innermost,
                        std::vector<Outer> &Outers);
  static bool makeChain(const std::vector<Node> &Nodes, size_t Innermost,
                        Chain &C);
  static bool readRanges(Unit &U, PlainCursor &C, const Abbrev &A,
                         std::vector<AddressRange> &Result);
  static bool findNodes(Unit &U, const std::vector<uint64_t> &Addresses,
                        std::vector<Node> &Nodes,
                        std::vector<size_t> &Innermost);
  static void addAttribute(Unit &U, unsigned Name, const Value &V,
                           Description &D);
  bool describe(Unit &U, uint64_t Die, Description &D, unsigned Depth);
  void findUnits(const std::vector<uint64_t> &Addresses,
                 std::vector<uint64_t> &UnitOf,
                 std::vector<Answer> &Answers) const;
  bool addFrames(Unit &U, LineTable *Table, const LineTable::Found &Row,
                 const Chain &C, Answer &A);
  bool symbolizeIn(Unit &U, const std::vector<uint64_t> &Addresses,
                   std::vector<Answer> &Answers);

public:
  // The two files may be the same.
  Symbolizer(const ElfFile &File, const ElfFile &DebugFile);
  // Symbolizes the addresses, which are sorted.
  std::vector<Answer> symbolize(const std::vector<uint64_t> &Addresses);
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H
