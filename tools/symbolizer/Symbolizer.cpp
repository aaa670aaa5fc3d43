// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions of addresses; see Symbolizer.h.

#include "Symbolizer.h"

#include "common/demangle.h"
#include "symbolize/cut_name.h"

#include <dwarf.h>

#include <algorithm>

namespace mprof {

// The most functions that are shown for an address. Must not be less than in
// the runtime (names.c), so that the rest is not missed.
static constexpr size_t FramesMax = MPROF_CUT_FRAMES;
// No unit begins there.
static constexpr uint64_t NoUnit = ~uint64_t{0};

// --- units ---

Symbolizer::Symbolizer(const ElfFile &File, const ElfFile &DebugFile)
    : File(File), DebugFile(DebugFile) {
  IsOk = readARanges();
  // To find all units, the whole section must be decompressed. That takes long,
  // and is needed only for addresses that .debug_aranges does not have.
  if (DebugFile.debug().Info.Source == nullptr)
    IsOk = IsOk && readUnits();
  DebugFile.release();
}

// Reads .debug_aranges, which lists the address ranges of some units.
bool Symbolizer::readARanges() {
  for (Cursor C(DebugFile.debug().ARanges); !C.atEnd();) {
    const uint64_t Start = C.offset();
    const uint64_t Length = C.u32();
    Cursor Set = C;
    Set.truncate(Length);
    C.skip(Length);
    const uint16_t Version = Set.u16();
    const uint64_t UnitOffset = Set.u32();
    if (C.isBad() || Version != 2 || Set.u8() != 8 || Set.u8() != 0)
      return false;
    OfARanges.push_back(UnitOffset);
    Set.skip((16 - (Set.offset() - Start) % 16) % 16);
    while (Set.left() >= 16) {
      const uint64_t Low = Set.u64(), Size = Set.u64();
      if (Size != 0)
        Ranges.push_back({{Low, Low + Size}, UnitOffset});
    }
  }
  std::sort(OfARanges.begin(), OfARanges.end());
  return true;
}

// Finds all units, and the address ranges of those that .debug_aranges does not
// have.
bool Symbolizer::readUnits() {
  enum { ReleaseEvery = 1 << 19 }; // bytes
  std::vector<AddressRange> OfUnit;
  uint64_t Released = 0;
  Unit U;
  HasAllUnits = true;
  for (Cursor C(DebugFile.debug().Info); !C.atEnd();) {
    if (!U.readHeader(DebugFile.debug(), C))
      return false;
    Offsets.push_back(U.offset());
    if (U.offset() >= Released + ReleaseEvery) {
      DebugFile.release();
      Released = U.offset();
    }
    if (U.IsTypeUnit ||
        std::binary_search(OfARanges.begin(), OfARanges.end(), U.offset()))
      continue;
    if (!U.readFirst())
      return false;
    U.ranges(U.Low, U.High, U.RangeList, OfUnit);
    for (const AddressRange &R : OfUnit)
      if (R.Low < R.High)
        Ranges.push_back({R, U.offset()});
    if (!U.isOk())
      return false;
  }
  return std::all_of(OfARanges.begin(), OfARanges.end(), [&](uint64_t O) {
    return std::binary_search(Offsets.begin(), Offsets.end(), O);
  });
}

// Returns the unit at the offset in .debug_info, or nullptr.
Unit *Symbolizer::unit(uint64_t Offset) {
  const auto [At, IsNew] = Units.try_emplace(Offset);
  Unit &U = At->second;
  Cursor C(DebugFile.debug().Info, Offset);
  if (IsNew && (C.isBad() || !U.readHeader(DebugFile.debug(), C))) {
    Units.erase(At);
    return nullptr;
  }
  return &U;
}

// Returns the unit that contains the DIE at the offset, or nullptr.
Unit *Symbolizer::unitAt(uint64_t InfoOffset) {
  if (!HasAllUnits && !(IsOk = readUnits()))
    return nullptr;
  const auto After =
      std::upper_bound(Offsets.begin(), Offsets.end(), InfoOffset);
  Unit *U = After == Offsets.begin() ? nullptr : unit(*(After - 1));
  return U != nullptr && InfoOffset >= U->firstDie() && InfoOffset < U->end()
             ? U
             : nullptr;
}

// --- functions at an address ---

// Returns the index of a new node for a function. Outers are the DIEs around
// the function, outermost first. Adds nodes for those that have none.
size_t Symbolizer::addNode(std::vector<Node> &Nodes, const Function &Innermost,
                           std::vector<Outer> &Outers) {
  size_t Result = Nodes.size(), Last = None; // Last: the parent is not set yet
  Nodes.push_back({Innermost, None});
  for (size_t O = Outers.size(); O > 0; O--) {
    Outer &Of = Outers[O - 1];
    const size_t Child = Last == None ? Result : Last;
    if (!Nodes[Child].F.IsInlined)
      break; // a function of its own is the outermost one that is shown
    if (!Of.F.IsFunction)
      continue;
    const bool IsNew = Of.Node == None;
    if (IsNew) {
      Of.Node = Nodes.size();
      Nodes.push_back({Of.F, None});
    }
    Nodes[Child].Parent = Of.Node;
    if (!IsNew)
      break;
    Last = Of.Node;
  }
  return Result;
}

// Stores the functions at an address in C. Returns false if there are too many.
bool Symbolizer::makeChain(const std::vector<Node> &Nodes, size_t Innermost,
                           Chain &C) {
  for (size_t I = Innermost; I != None; I = Nodes[I].Parent)
    if (C.size() < FramesMax)
      C.push_back(Nodes[I].F);
    else
      return false;
  return true;
}

// Reads the address ranges of the DIE whose values are at the cursor.
bool Symbolizer::readRanges(Unit &U, PlainCursor &C, const Abbrev &A,
                            std::vector<AddressRange> &Result) {
  Value Low, High, List;
  for (const Abbrev::Attribute &At : U.attributes(A)) {
    Value *V = At.Name == DW_AT_low_pc    ? &Low
               : At.Name == DW_AT_high_pc ? &High
               : At.Name == DW_AT_ranges  ? &List
                                          : nullptr;
    if (V == nullptr ? !U.skipValue(C, At) : !U.readValue(C, At, *V))
      return false;
  }
  U.ranges(Low, High, List, Result);
  return true;
}

// Reads all DIEs of the unit. Stores for each address the index of its
// innermost function, which is the last one that contains the address, because
// a parent precedes its children.
bool Symbolizer::findNodes(Unit &U, const std::vector<uint64_t> &Addresses,
                           std::vector<Node> &Nodes,
                           std::vector<size_t> &Innermost) {
  std::vector<Outer> Outers;
  std::vector<AddressRange> Of; // of a DIE
  Innermost.assign(Addresses.size(), None);
  for (PlainCursor C = U.at(U.firstDie()); !C.atEnd();) {
    const uint64_t Die = C.offset(), Code = C.uleb();
    if (Code == 0) {
      if (!Outers.empty())
        Outers.pop_back();
      if (Outers.empty())
        break;
      continue;
    }
    const Abbrev *A = U.abbrev(Code);
    if (A == nullptr)
      return false;
    const bool IsInlined = A->Tag == DW_TAG_inlined_subroutine;
    const bool IsFunction = IsInlined || A->Tag == DW_TAG_subprogram;
    const bool HasChildren = A->HasChildren;
    Outer O = {{Die, IsFunction, IsInlined},
               None,
               !Outers.empty() && Outers.back().IsForeign};
    if (!IsFunction || (IsInlined && O.IsForeign)) { // most DIEs
      if (!U.skipValues(C, *A))
        return false;
      if (HasChildren)
        Outers.push_back(O);
      else if (Outers.empty())
        break;
      continue;
    }
    Of.clear();
    if (!readRanges(U, C, *A, Of))
      return false;
    if (!IsInlined)
      O.IsForeign = !Of.empty();
    for (const AddressRange &R : Of) {
      auto I = std::lower_bound(Addresses.begin(), Addresses.end(), R.Low);
      for (; I != Addresses.end() && *I < R.High; ++I, O.IsForeign = false) {
        if (O.Node == None)
          O.Node = addNode(Nodes, O.F, Outers);
        Innermost[static_cast<size_t>(I - Addresses.begin())] = O.Node;
      }
    }
    if (HasChildren)
      Outers.push_back(O);
    else if (Outers.empty())
      break;
  }
  return U.isOk();
}

// Reads an attribute of a function into D, unless D has it already.
void Symbolizer::addAttribute(Unit &U, unsigned Name, const Value &V,
                              Description &D) {
  switch (Name) {
  case DW_AT_name:
    if (D.Name == nullptr)
      D.Name = U.string(V);
    break;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    if (D.LinkageName == nullptr)
      D.LinkageName = U.string(V);
    break;
  case DW_AT_decl_line:
    if (!D.HasDeclLine)
      D.DeclLine = V.Number;
    D.HasDeclLine = true;
    break;
  default:
    break;
  }
}

// Reads the attributes of the function at Die. Attributes that the DIE does not
// have come from the DIEs to which it refers. Depth is the number of such
// references that were followed.
bool Symbolizer::describe(Unit &U, uint64_t Die, Description &D,
                          unsigned Depth) {
  enum { DepthMax = 16 };
  if (Depth > DepthMax || !U.readFirst())
    return false;
  PlainCursor C = U.at(Die);
  const Abbrev *A = U.abbrev(C.uleb());
  if (A == nullptr)
    return false;
  uint64_t Origin = 0, Specification = 0;
  for (const Abbrev::Attribute &At : U.attributes(*A)) {
    Value V;
    if (!U.readValue(C, At, V))
      return false;
    addAttribute(U, At.Name, V, D);
    if (At.Name == DW_AT_call_file && Depth == 0)
      D.CallFile = V.Number;
    if (At.Name == DW_AT_call_line && Depth == 0)
      D.CallLine = V.Number;
    if (At.Name != DW_AT_abstract_origin && At.Name != DW_AT_specification)
      continue;
    const uint64_t Target = U.reference(V);
    if (Target == 0)
      return false;
    (At.Name == DW_AT_specification ? Specification : Origin) = Target;
  }
  for (const uint64_t Target : {Specification, Origin}) {
    if (Target == 0)
      continue;
    Unit *Other = unitAt(Target);
    if (Other == nullptr || !describe(*Other, Target, D, Depth + 1))
      return false;
  }
  return U.isOk();
}

// --- frames ---

bool Symbolizer::addFrames(Unit &U, LineTable *Table,
                           const LineTable::Found &Row, const Chain &C,
                           Answer &A) {
  uint64_t CallFile = Row.R.File, CallLine = Row.R.Line;
  bool HasLine = Row.HasRow;
  // With no function there is one frame, which has only a line.
  for (size_t I = 0; I < std::max<size_t>(C.size(), 1); I++) {
    Frame F;
    Description D;
    if (!C.empty() && !describe(U, C[I].Die, D, 0))
      return false;
    const char *Name = D.LinkageName != nullptr ? D.LinkageName : D.Name;
    if (Name != nullptr)
      F.Function = Name;
    F.StartLine = D.DeclLine;
    bool HasFile = false;
    if (HasLine && Table != nullptr &&
        !Table->filePath(CallFile, F.File, &HasFile))
      return false;
    // The line of an address is unknown if its file is. The line of a call of
    // an inlined function is shown in any case.
    F.Line = I > 0 || HasFile ? CallLine : 0;
    CallFile = D.CallFile;
    CallLine = D.CallLine;
    HasLine = true;
    A.Frames.push_back(std::move(F));
  }
  return true;
}

// Symbolizes addresses of one unit.
bool Symbolizer::symbolizeIn(Unit &U, const std::vector<uint64_t> &Addresses,
                             std::vector<Answer> &Answers) {
  std::vector<Node> Nodes;
  std::vector<size_t> Innermost;
  std::vector<LineTable::Found> Rows(Addresses.size());
  LineTable Table;
  const bool HasTable = U.readFirst() && U.LineOffset.Form != 0;
  if (!U.isOk() || U.IsSkeleton || !findNodes(U, Addresses, Nodes, Innermost))
    return false;
  if (HasTable &&
      (!Table.open(DebugFile.debug(), U) || !Table.find(Addresses, Rows)))
    return false;
  for (size_t I = 0; I < Addresses.size(); I++) {
    Chain C;
    if (!makeChain(Nodes, Innermost[I], C) ||
        ((!C.empty() || Rows[I].HasRow) &&
         !addFrames(U, HasTable ? &Table : nullptr, Rows[I], C, Answers[I])))
      Answers[I].IsKnown = false;
  }
  return U.isOk();
}

// Replaces the name of a function by its demangled form. Returns false if the
// name may be in a form that only llvm-symbolizer can demangle.
static bool demangleName(std::string &Name) {
  if (char *Plain = ::demangle(Name.c_str())) {
    Name = Plain;
    free(Plain);
  } else if (!Name.empty() && Name[0] == '?') {
    return false;
  }
  return true;
}

// Returns whether llvm-symbolizer writes the text unchanged. It replaces bytes
// that are not UTF-8.
static bool isAscii(const std::string &S) {
  return std::all_of(S.begin(), S.end(),
                     [](char C) { return static_cast<signed char>(C) >= 0; });
}

// Adds the name in the symbol table, which replaces the outermost name.
static void addSymbol(const Symbol &S, Answer &A) {
  if (A.Frames.empty())
    A.Frames.emplace_back();
  Frame &Outermost = A.Frames.back();
  if (S.Name != nullptr) {
    Outermost.Function = S.Name;
    if (Outermost.File.empty())
      Outermost.File = S.File;
  }
  for (Frame &F : A.Frames)
    if (!demangleName(F.Function) || !isAscii(F.Function) || !isAscii(F.File))
      A.IsKnown = false;
}

// Finds the unit of each address. Sets IsKnown to false for an address that is
// in several units.
void Symbolizer::findUnits(const std::vector<uint64_t> &Addresses,
                           std::vector<uint64_t> &UnitOf,
                           std::vector<Answer> &Answers) const {
  UnitOf.assign(Addresses.size(), NoUnit);
  for (const UnitRange &R : Ranges) {
    auto I = std::lower_bound(Addresses.begin(), Addresses.end(), R.Range.Low);
    for (; I != Addresses.end() && *I < R.Range.High; ++I) {
      const auto At = static_cast<size_t>(I - Addresses.begin());
      if (UnitOf[At] != NoUnit && UnitOf[At] != R.Unit)
        Answers[At].IsKnown = false;
      UnitOf[At] = R.Unit;
    }
  }
}

std::vector<Answer>
Symbolizer::symbolize(const std::vector<uint64_t> &Addresses) {
  std::vector<Answer> Answers(Addresses.size());
  std::vector<Symbol> Symbols;
  std::vector<uint64_t> UnitOf;
  if (IsOk)
    findUnits(Addresses, UnitOf, Answers);
  if (IsOk && !HasAllUnits &&
      std::find(UnitOf.begin(), UnitOf.end(), NoUnit) != UnitOf.end()) {
    IsOk = readUnits();
    findUnits(Addresses, UnitOf, Answers);
  }
  if (!IsOk || !File.findSymbols(Addresses, Symbols)) {
    for (Answer &A : Answers)
      A.IsKnown = false;
    return Answers;
  }
  for (size_t First = 0, End; First < Addresses.size(); First = End) {
    for (End = First + 1; End < Addresses.size(); End++)
      if (UnitOf[End] != UnitOf[First])
        break;
    const std::vector<uint64_t> Of(Addresses.data() + First,
                                   Addresses.data() + End);
    std::vector<Answer> Part(Of.size());
    Unit *U = UnitOf[First] == NoUnit ? nullptr : unit(UnitOf[First]);
    const bool Works =
        UnitOf[First] == NoUnit || (U != nullptr && symbolizeIn(*U, Of, Part));
    for (size_t I = First; I < End; I++) {
      Part[I - First].IsKnown &= Works && Answers[I].IsKnown;
      Answers[I] = std::move(Part[I - First]);
      addSymbol(Symbols[I], Answers[I]);
    }
    // The pages of a unit take up to 0.5 MB.
    File.release();
    DebugFile.release();
  }
  return Answers;
}

} // namespace mprof
