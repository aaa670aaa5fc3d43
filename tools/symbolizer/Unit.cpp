// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads units of DWARF's debug information; see Unit.h.

#include "Unit.h"

namespace mprof {

// Linkers replace the addresses of removed functions by this address.
static constexpr uint64_t Removed = ~uint64_t{0};

// --- sizes of values ---

int Unit::fixedSize(unsigned Form, unsigned Version) {
  switch (Form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const:
    return 0;
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1:
    return 1;
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2:
    return 2;
  case DW_FORM_strx3:
  case DW_FORM_addrx3:
    return 3;
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4:
  case DW_FORM_sec_offset:
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_ref_sup4:
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_GNU_ref_alt:
    return 4;
  case DW_FORM_addr:
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sig8:
  case DW_FORM_ref_sup8:
    return 8;
  case DW_FORM_ref_addr:
    return Version <= 2 ? 8 : 4;
  case DW_FORM_data16:
    return 16;
  case DW_FORM_udata:
  case DW_FORM_sdata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_str_index:
  case DW_FORM_GNU_addr_index:
    return Abbrev::LebSize;
  default:
    return -1;
  }
}

// --- header and abbreviations ---

bool Unit::readHeader(const ElfFile::Sections &Sections, Cursor &C) {
  Unit Old = std::move(*this);
  *this = Unit();
  Abbrevs = std::move(Old.Abbrevs); // keeps their memory
  Attributes = std::move(Old.Attributes);
  Abbrevs.clear();
  Attributes.clear();
  S = &Sections;
  Offset = C.offset();
  const uint64_t Length = C.u32();
  End = C.offset() + Length;
  Cursor Next = C;
  Next.skip(Length);
  Version = C.u16();
  uint8_t Type = DW_UT_compile, AddressSize;
  if (Version >= 5) {
    Type = C.u8();
    AddressSize = C.u8();
    AbbrevOffset = C.u32();
    C.skip(Type == DW_UT_skeleton ? 8 : 0);
  } else {
    AbbrevOffset = C.u32();
    AddressSize = C.u8();
  }
  FirstDie = C.offset();
  NextAbbrev = Cursor(S->Abbrev, AbbrevOffset);
  IsTypeUnit = Type == DW_UT_type;
  IsSkeleton = Type == DW_UT_skeleton;
  // DWARF 2 cannot describe functions that consist of several parts, so its
  // entries may overlap.
  // A length of 0xffffffff begins 64-bit DWARF, and ends the cursor here.
  const bool IsKnown = !C.isBad() && !Next.isBad() && FirstDie <= End &&
                       Version >= 3 && Version <= 5 && AddressSize == 8 &&
                       Type >= DW_UT_compile && Type <= DW_UT_skeleton;
  C = Next;
  return IsKnown;
}

// Reads the next abbreviation. Returns false if there are no more, or if they
// are damaged.
bool Unit::readAbbrev() {
  Cursor &C = NextAbbrev;
  Abbrev A;
  A.Code = C.uleb();
  HasAllAbbrevs = A.Code == 0;
  if (C.isBad())
    IsOk = false;
  if (HasAllAbbrevs)
    return false;
  A.Tag = static_cast<uint16_t>(C.uleb());
  A.HasChildren = C.u8() != 0;
  A.First = Attributes.size();
  for (;;) {
    Abbrev::Attribute At = {};
    At.Name = static_cast<uint16_t>(C.uleb());
    At.Form = static_cast<uint16_t>(C.uleb());
    if (At.Form == DW_FORM_implicit_const)
      At.Constant = C.sleb();
    if (C.isBad())
      return IsOk = false;
    if (At.Name == 0 && At.Form == 0)
      break;
    At.Size = static_cast<int16_t>(fixedSize(At.Form, Version));
    A.FixedSize = At.Size < 0 || A.FixedSize < 0 ? -1 : A.FixedSize + At.Size;
    Attributes.push_back(At);
  }
  A.Count = Attributes.size() - A.First;
  Abbrevs.push_back(A);
  AreInOrder = AreInOrder && A.Code == Abbrevs.size();
  return true;
}

// The codes are usually 1, 2 and so on. An abbreviation is read only when it or
// a later one is needed.
const Abbrev *Unit::searchAbbrev(uint64_t Code) {
  if (!AreInOrder)
    for (const Abbrev &A : Abbrevs)
      if (A.Code == Code)
        return &A;
  while (!HasAllAbbrevs && readAbbrev())
    if (Abbrevs.back().Code == Code)
      return &Abbrevs.back();
  IsOk = false;
  return nullptr;
}

PlainCursor Unit::at(uint64_t InfoOffset) const {
  Bytes B = S->Info;
  if (End < B.Size)
    B.Size = End;
  return Cursor(B, InfoOffset).plain();
}

// Reads an attribute of the first DIE.
void Unit::readAttribute(unsigned Name, const Value &V) {
  const auto Keep = [&V](uint64_t &Field, bool &Has) {
    Field = V.Number;
    Has = true;
  };
  switch (Name) {
  case DW_AT_low_pc:
    Low = V;
    break;
  case DW_AT_high_pc:
    High = V;
    break;
  case DW_AT_ranges:
    RangeList = V;
    break;
  case DW_AT_stmt_list:
    LineOffset = V;
    break;
  case DW_AT_comp_dir:
    CompDir = V;
    break;
  case DW_AT_addr_base:
    Keep(AddrBase, HasAddrBase);
    break;
  case DW_AT_str_offsets_base:
    Keep(StrOffsetsBase, HasStrOffsetsBase);
    break;
  case DW_AT_rnglists_base:
    Keep(RngListsBase, HasRngListsBase);
    break;
  case DW_AT_dwo_name:
  case DW_AT_GNU_dwo_name:
    IsSkeleton = true;
    break;
  default:
    break;
  }
}

bool Unit::readFirst() {
  if (HasFirst)
    return IsOk;
  HasFirst = true;
  PlainCursor C = at(FirstDie);
  const uint64_t Code = C.uleb();
  if (Code == 0)
    return !C.isBad();
  const Abbrev *A = abbrev(Code);
  if (A == nullptr)
    return false;
  for (const Abbrev::Attribute &At : attributes(*A)) {
    Value V;
    if (!readValue(C, At, V))
      return false;
    readAttribute(At.Name, V);
  }
  if (Low.Form != 0)
    Base = address(Low);
  return IsOk;
}

// --- values ---

bool Unit::readValue(PlainCursor &C, const Abbrev::Attribute &A,
                     Value &V) const {
  V.Form = A.Form;
  const int Size = A.Size;
  if (A.Form == DW_FORM_implicit_const) {
    V.Number = static_cast<uint64_t>(A.Constant);
  } else if (A.Form == DW_FORM_flag_present) {
    V.Number = 1;
  } else if (Size > 8) {
    C.skip(static_cast<uint64_t>(Size));
  } else if (Size >= 0) {
    V.Number = C.number(static_cast<unsigned>(Size));
  } else if (Size == Abbrev::LebSize) {
    V.Number =
        A.Form == DW_FORM_sdata ? static_cast<uint64_t>(C.sleb()) : C.uleb();
  } else {
    switch (A.Form) {
    case DW_FORM_string:
      V.String = C.string();
      break;
    case DW_FORM_block1:
      C.skip(C.u8());
      break;
    case DW_FORM_block2:
      C.skip(C.u16());
      break;
    case DW_FORM_block4:
      C.skip(C.u32());
      break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      C.skip(C.uleb());
      break;
    default:
      return false;
    }
  }
  return !C.isBad();
}

uint64_t Unit::indexedAddress(uint64_t Index) {
  Cursor C(S->Addr, AddrBase);
  if (Index > S->Addr.Size)
    Index = S->Addr.Size; // past the end
  C.skip(Index * 8);
  const uint64_t V = C.u64();
  if (C.isBad() || !HasAddrBase)
    IsOk = false;
  return V;
}

uint64_t Unit::address(const Value &V) {
  switch (V.Form) {
  case DW_FORM_addr:
    return V.Number;
  case DW_FORM_addrx:
  case DW_FORM_addrx1:
  case DW_FORM_addrx2:
  case DW_FORM_addrx3:
  case DW_FORM_addrx4:
    return indexedAddress(V.Number);
  default:
    IsOk = false;
    return 0;
  }
}

const char *Unit::string(const Value &V) {
  Bytes Section = S->Str;
  uint64_t At = V.Number;
  switch (V.Form) {
  case DW_FORM_string:
    return V.String;
  case DW_FORM_strp:
    break;
  case DW_FORM_line_strp:
    Section = S->LineStr;
    break;
  case DW_FORM_strx:
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4: {
    Cursor C(S->StrOffsets, StrOffsetsBase);
    C.skip(V.Number > S->StrOffsets.Size ? S->StrOffsets.Size : V.Number * 4);
    At = C.u32();
    if (C.isBad() || !HasStrOffsetsBase)
      IsOk = false;
    break;
  }
  default:
    IsOk = false;
    return "";
  }
  Cursor C(Section, At);
  const char *Text = C.string();
  if (C.isBad())
    IsOk = false;
  return Text;
}

uint64_t Unit::reference(const Value &V) const {
  switch (V.Form) {
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
  case DW_FORM_ref_udata:
    return Offset + V.Number;
  case DW_FORM_ref_addr:
    return V.Number;
  default:
    return 0;
  }
}

// --- address ranges ---

void Unit::ranges(const Value &LowPc, const Value &HighPc, const Value &List,
                  std::vector<AddressRange> &R) {
  R.clear();
  if (LowPc.Form != 0 && HighPc.Form != 0) {
    const uint64_t L = address(LowPc);
    uint64_t H = HighPc.Number;
    switch (HighPc.Form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const:
      H += L;
      break;
    default:
      H = address(HighPc);
    }
    if (L != Removed) {
      R.push_back({L, H});
      return;
    }
  }
  if (List.Form == 0)
    return;
  if (Version < 5)
    return oldRanges(List.Number, R);
  if (List.Form != DW_FORM_rnglistx)
    return newRanges(List.Number, R);
  Cursor C(S->RngLists, RngListsBase);
  C.skip(List.Number > S->RngLists.Size ? S->RngLists.Size : List.Number * 4);
  const uint64_t At = RngListsBase + C.u32();
  if (C.isBad() || !HasRngListsBase) {
    IsOk = false;
    return;
  }
  newRanges(At, R);
}

void Unit::oldRanges(uint64_t At, std::vector<AddressRange> &R) {
  uint64_t From = Base;
  Cursor C(S->Ranges, At);
  for (;;) {
    const uint64_t L = C.u64(), H = C.u64();
    if (C.isBad())
      IsOk = false;
    if (C.isBad() || (L == 0 && H == 0))
      return;
    if (L == Removed)
      From = H;
    else if (From != Removed)
      R.push_back({From + L, From + H});
  }
}

void Unit::newRanges(uint64_t At, std::vector<AddressRange> &R) {
  uint64_t From = Base;
  Cursor C(S->RngLists, At);
  for (;;) {
    uint64_t L = 0, H = 0;
    const uint8_t Kind = C.u8();
    switch (Kind) {
    case DW_RLE_base_addressx:
      From = indexedAddress(C.uleb());
      continue;
    case DW_RLE_base_address:
      From = C.u64();
      continue;
    case DW_RLE_startx_endx:
      L = indexedAddress(C.uleb());
      H = indexedAddress(C.uleb());
      break;
    case DW_RLE_startx_length:
      L = indexedAddress(C.uleb());
      H = L + C.uleb();
      break;
    case DW_RLE_offset_pair:
      L = C.uleb() + From;
      H = C.uleb() + From;
      if (From == Removed)
        continue;
      break;
    case DW_RLE_start_end:
      L = C.u64();
      H = C.u64();
      break;
    case DW_RLE_start_length:
      L = C.u64();
      H = L + C.uleb();
      break;
    default:
      IsOk = IsOk && Kind == DW_RLE_end_of_list;
    }
    if (C.isBad())
      IsOk = false;
    if (!IsOk || Kind == DW_RLE_end_of_list)
      return;
    if (L != Removed)
      R.push_back({L, H});
  }
}

} // namespace mprof
