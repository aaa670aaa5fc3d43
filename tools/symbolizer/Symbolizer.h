// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions of addresses in a file. The results are those of
// llvm-symbolizer --inlines --functions=linkage --demangle. In case of doubt
// there is no result, and llvm-symbolizer must be asked.

#ifndef MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H
#define MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H

#include "LineTable.h"

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
  // The attributes of a function that are shown.
  struct Description {
    const char *Name = nullptr, *LinkageName = nullptr;
    uint64_t DeclLine = 0, CallFile = 0, CallLine = 0;
    bool HasDeclLine = false;
  };
  struct UnitRange {
    AddressRange Range;
    size_t Unit;
  };

  static constexpr size_t None = SIZE_MAX;

  const ElfFile &File;
  std::vector<Unit> Units;
  std::vector<UnitRange> Ranges;
  bool IsOk = true;    // the units could be understood
  unsigned Visits = 0; // number of units whose functions were read

  bool readUnits();
  bool readARanges(std::vector<bool> &HasRanges);
  Unit *unitAt(uint64_t InfoOffset);
  static Chain makeChain(const Function &Innermost,
                         const std::vector<Function> &Parents);
  static bool readRanges(Unit &U, Cursor &C, const Abbrev &A,
                         std::vector<AddressRange> &Result);
  static bool findChains(Unit &U, const std::vector<uint64_t> &Addresses,
                         std::vector<Chain> &Chains);
  static void addAttribute(Unit &U, unsigned Name, const Value &V,
                           Description &D);
  bool describe(Unit &U, uint64_t Die, Description &D, unsigned Depth);
  std::vector<size_t> findUnits(const std::vector<uint64_t> &Addresses,
                                std::vector<Answer> &Answers) const;
  bool addFrames(Unit &U, LineTable *Table, const LineTable::Found &Row,
                 const Chain &C, Answer &A);
  bool symbolizeIn(Unit &U, const std::vector<uint64_t> &Addresses,
                   std::vector<Answer> &Answers);

public:
  explicit Symbolizer(const ElfFile &F);
  // Symbolizes the addresses, which are sorted.
  std::vector<Answer> symbolize(const std::vector<uint64_t> &Addresses);
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_SYMBOLIZER_H
