// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions of addresses; see Symbolizer.h.

#include "Symbolizer.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"

#include <algorithm>

using namespace llvm::dwarf;

namespace mprof {

// --- units ---

Symbolizer::Symbolizer(const ElfFile &F) : File(F) {
  IsOk = readUnits();
  File.release();
}

// Reads .debug_aranges, which lists the address ranges of some units. Sets
// HasRanges for these units.
bool Symbolizer::readARanges(std::vector<bool> &HasRanges) {
  for (Cursor C(File.debug().ARanges); !C.atEnd();) {
    const uint64_t Start = C.offset();
    const uint64_t Length = C.u32();
    Cursor Set = C;
    Set.truncate(Length);
    C.skip(Length);
    const uint16_t Version = Set.u16();
    const uint64_t UnitOffset = Set.u32();
    if (C.isBad() || Version != 2 || Set.u8() != 8 || Set.u8() != 0)
      return false;
    const auto U = std::lower_bound(
        Units.begin(), Units.end(), UnitOffset,
        [](const Unit &A, uint64_t O) { return A.offset() < O; });
    if (U == Units.end() || U->offset() != UnitOffset)
      return false;
    const auto Index = static_cast<size_t>(U - Units.begin());
    HasRanges[Index] = true;
    Set.skip((16 - (Set.offset() - Start) % 16) % 16);
    while (Set.left() >= 16) {
      const uint64_t Low = Set.u64(), Size = Set.u64();
      if (Size != 0)
        Ranges.push_back({{Low, Low + Size}, Index});
    }
  }
  return true;
}

bool Symbolizer::readUnits() {
  for (Cursor C(File.debug().Info); !C.atEnd();) {
    Units.emplace_back();
    if (!Units.back().readHeader(File.debug(), C))
      return false;
  }
  std::vector<bool> HasRanges(Units.size());
  if (!readARanges(HasRanges))
    return false;
  std::vector<AddressRange> OfUnit;
  for (size_t I = 0; I < Units.size(); I++) {
    Unit &U = Units[I];
    if (I % 128 == 127)
      File.release();
    if (HasRanges[I] || U.IsTypeUnit)
      continue;
    if (!U.readFirst())
      return false;
    U.ranges(U.Low, U.High, U.RangeList, OfUnit);
    for (const AddressRange &R : OfUnit)
      if (R.Low < R.High)
        Ranges.push_back({R, I});
    if (!U.isOk())
      return false;
  }
  return true;
}

Unit *Symbolizer::unitAt(uint64_t InfoOffset) {
  for (Unit &U : Units)
    if (InfoOffset >= U.firstDie() && InfoOffset < U.end())
      return &U;
  return nullptr;
}

// --- functions at an address ---

// Returns the functions at the addresses of a function's DIE, innermost first.
// Parents are the DIEs that contain the DIE.
Symbolizer::Chain Symbolizer::makeChain(const Function &Innermost,
                                        const std::vector<Function> &Parents) {
  Chain C = {Innermost};
  for (size_t P = Parents.size(); P > 0 && C.back().IsInlined; P--)
    if (Parents[P - 1].IsFunction)
      C.push_back(Parents[P - 1]);
  return C;
}

// Reads the address ranges of the DIE whose values are at the cursor.
bool Symbolizer::readRanges(Unit &U, Cursor &C, const Abbrev &A,
                            std::vector<AddressRange> &Result) {
  Value Low, High, List;
  for (const Abbrev::Attribute &At : A.Attributes) {
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

// Reads all DIEs of the unit. The last DIE of a function that contains an
// address is the innermost one, because a parent precedes its children.
bool Symbolizer::findChains(Unit &U, const std::vector<uint64_t> &Addresses,
                            std::vector<Chain> &Chains) {
  std::vector<Function> Parents;
  std::vector<AddressRange> Of; // of a DIE
  // For each of Parents: whether the innermost function around its children
  // contains none of the addresses. Then the functions that are inlined into it
  // do not contain any, either. A function that is declared in it may, because
  // it has code of its own.
  std::vector<bool> AreForeign;
  Chains.assign(Addresses.size(), {});
  for (Cursor C = U.at(U.firstDie()); !C.atEnd();) {
    const uint64_t Die = C.offset(), Code = C.uleb();
    if (Code == 0) {
      if (!Parents.empty()) {
        Parents.pop_back();
        AreForeign.pop_back();
      }
      if (Parents.empty())
        break;
      continue;
    }
    const Abbrev *A = U.abbrev(Code);
    if (A == nullptr)
      return false;
    const bool IsInlined = A->Tag == DW_TAG_inlined_subroutine;
    const Function F = {Die, IsInlined || A->Tag == DW_TAG_subprogram,
                        IsInlined};
    const bool IsInForeign = !AreForeign.empty() && AreForeign.back();
    Of.clear();
    if (F.IsFunction && !(IsInlined && IsInForeign) ? !readRanges(U, C, *A, Of)
                                                    : !U.skipValues(C, *A))
      return false;
    bool IsForeign = F.IsFunction && !IsInlined ? !Of.empty() : IsInForeign;
    for (const AddressRange &R : Of) {
      auto I = std::lower_bound(Addresses.begin(), Addresses.end(), R.Low);
      for (; I != Addresses.end() && *I < R.High; ++I, IsForeign = false)
        Chains[static_cast<size_t>(I - Addresses.begin())] =
            makeChain(F, Parents);
    }
    if (A->HasChildren) {
      Parents.push_back(F);
      AreForeign.push_back(IsForeign);
    } else if (Parents.empty())
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
  Cursor C = U.at(Die);
  const Abbrev *A = U.abbrev(C.uleb());
  if (A == nullptr)
    return false;
  uint64_t Origin = 0, Specification = 0;
  for (const Abbrev::Attribute &At : A->Attributes) {
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
  std::vector<Chain> Chains;
  std::vector<LineTable::Found> Rows(Addresses.size());
  LineTable Table;
  const bool HasTable = U.readFirst() && U.LineOffset.Form != 0;
  if (!U.isOk() || U.IsSkeleton || !findChains(U, Addresses, Chains))
    return false;
  if (HasTable &&
      (!Table.open(File.debug(), U) || !Table.find(Addresses, Rows)))
    return false;
  for (size_t I = 0; I < Addresses.size(); I++)
    if ((!Chains[I].empty() || Rows[I].HasRow) &&
        !addFrames(U, HasTable ? &Table : nullptr, Rows[I], Chains[I],
                   Answers[I]))
      Answers[I].IsKnown = false;
  return U.isOk();
}

// Replaces the name of a function by its demangled form. Returns false if the
// name may be in a form that only llvm-symbolizer can demangle.
static bool demangle(std::string &Name) {
  std::string Plain;
  if (llvm::nonMicrosoftDemangle(Name, Plain))
    Name = Plain;
  else if (!Name.empty() && Name[0] == '?')
    return false;
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
    if (!demangle(F.Function) || !isAscii(F.Function) || !isAscii(F.File))
      A.IsKnown = false;
}

// Finds the unit of each address. Sets IsKnown to false for an address that is
// in several units.
std::vector<size_t>
Symbolizer::findUnits(const std::vector<uint64_t> &Addresses,
                      std::vector<Answer> &Answers) const {
  std::vector<size_t> UnitOf(Addresses.size(), None);
  for (const UnitRange &R : Ranges) {
    auto I = std::lower_bound(Addresses.begin(), Addresses.end(), R.Range.Low);
    for (; I != Addresses.end() && *I < R.Range.High; ++I) {
      const auto At = static_cast<size_t>(I - Addresses.begin());
      if (UnitOf[At] != None && UnitOf[At] != R.Unit)
        Answers[At].IsKnown = false;
      UnitOf[At] = R.Unit;
    }
  }
  return UnitOf;
}

std::vector<Answer>
Symbolizer::symbolize(const std::vector<uint64_t> &Addresses) {
  std::vector<Answer> Answers(Addresses.size());
  std::vector<Symbol> Symbols;
  if (!IsOk || !File.findSymbols(Addresses, Symbols)) {
    for (Answer &A : Answers)
      A.IsKnown = false;
    return Answers;
  }
  File.release();
  const std::vector<size_t> UnitOf = findUnits(Addresses, Answers);
  for (size_t First = 0, End; First < Addresses.size(); First = End) {
    for (End = First + 1; End < Addresses.size(); End++)
      if (UnitOf[End] != UnitOf[First])
        break;
    const std::vector<uint64_t> Of(Addresses.data() + First,
                                   Addresses.data() + End);
    std::vector<Answer> Part(Of.size());
    const bool Works =
        UnitOf[First] == None || symbolizeIn(Units[UnitOf[First]], Of, Part);
    if (++Visits % 4 == 0)
      File.release();
    for (size_t I = First; I < End; I++) {
      Part[I - First].IsKnown &= Works && Answers[I].IsKnown;
      Answers[I] = std::move(Part[I - First]);
      addSymbol(Symbols[I], Answers[I]);
    }
  }
  return Answers;
}

} // namespace mprof
