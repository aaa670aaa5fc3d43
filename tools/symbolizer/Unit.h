// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of DWARF's debug information, and the attributes of its entries
// (DIEs). See DWARF 5, sections 7.5 and 7.25.

#ifndef MPROF_TOOLS_SYMBOLIZER_UNIT_H
#define MPROF_TOOLS_SYMBOLIZER_UNIT_H

#include "ElfFile.h"

#include <dwarf.h>

namespace mprof {

// The declaration of the DIEs with one abbreviation code.
struct Abbrev {
  static constexpr int16_t LebSize = -2; // the value is a LEB128 number
  struct Attribute {
    uint16_t Name, Form;
    int16_t Size; // size of the value, LebSize, or -1 if it depends on the DIE
    int64_t Constant; // value of an attribute with DW_FORM_implicit_const
  };
  uint64_t Code = 0;
  uint16_t Tag = 0;
  bool HasChildren = false;
  int FixedSize = 0; // size of all attributes, or -1 if it depends on the DIE
  size_t First = 0, Count = 0; // its attributes among all of the unit
};

// The value of an attribute. For addresses and strings of the forms that are
// indices, Number is the index.
struct Value {
  uint16_t Form = 0; // 0: the DIE does not have the attribute
  uint64_t Number = 0;
  const char *String = nullptr; // value of DW_FORM_string
};

struct AddressRange {
  uint64_t Low, High;
};

class Unit {
  // The attributes of an abbreviation.
  struct AttributeList {
    const Abbrev::Attribute *First;
    size_t Count;
    const Abbrev::Attribute *begin() const { return First; }
    const Abbrev::Attribute *end() const { return First + Count; }
  };

  const ElfFile::Sections *S = nullptr;
  uint64_t Offset = 0, End = 0, FirstDie = 0, AbbrevOffset = 0;
  unsigned Version = 0;
  // The abbreviations that were read so far, and the place of the next one.
  std::vector<Abbrev> Abbrevs;
  std::vector<Abbrev::Attribute> Attributes; // of Abbrevs
  Cursor NextAbbrev;
  bool HasAllAbbrevs = false;
  bool AreInOrder = true; // the codes of Abbrevs are 1, 2 and so on
  uint64_t AddrBase = 0, StrOffsetsBase = 0, RngListsBase = 0;
  bool HasAddrBase = false, HasStrOffsetsBase = false, HasRngListsBase = false;
  uint64_t Base = 0; // address to which offsets in range lists are relative
  bool IsOk = true, HasFirst = false;

  bool readAbbrev();
  const Abbrev *searchAbbrev(uint64_t Code);
  void readAttribute(unsigned Name, const Value &V);
  uint64_t indexedAddress(uint64_t Index);
  void oldRanges(uint64_t At, std::vector<AddressRange> &R);
  void newRanges(uint64_t At, std::vector<AddressRange> &R);

public:
  // The attributes that are needed of the unit's first DIE.
  Value Low, High, RangeList, LineOffset, CompDir;
  // The debug information is in another file, such as a .dwo file.
  bool IsSkeleton = false;
  bool IsTypeUnit = false;

  // Returns the size of a value, Abbrev::LebSize, or -1 if the size depends on
  // the value in another way. Only forms of 32-bit DWARF are known.
  static int fixedSize(unsigned Form, unsigned Version);
  // Reads the header of the unit at the cursor, and moves the cursor behind the
  // unit. Returns false if the unit cannot be understood. Forgets the unit that
  // was read before.
  bool readHeader(const ElfFile::Sections &Sections, Cursor &C);
  // Reads the attributes of the first DIE, unless they are read. Returns false
  // on failure.
  bool readFirst();
  // Becomes false if a value could not be read.
  bool isOk() const { return IsOk; }

  uint64_t offset() const { return Offset; }
  uint64_t end() const { return End; }
  uint64_t firstDie() const { return FirstDie; }
  unsigned version() const { return Version; }
  PlainCursor at(uint64_t InfoOffset) const;

  // Returns the abbreviation with the code, or nullptr. The next call may make
  // the result invalid.
  const Abbrev *abbrev(uint64_t Code) {
    if (Code - 1 < Abbrevs.size() && Abbrevs[Code - 1].Code == Code)
      return &Abbrevs[Code - 1];
    return searchAbbrev(Code);
  }
  AttributeList attributes(const Abbrev &A) const {
    return {Attributes.data() + A.First, A.Count};
  }
  // Reads or skips a value, or the values of a DIE. Returns false if the form
  // is unknown. Most DIEs are skipped, so this code is inlined.
  bool readValue(PlainCursor &C, const Abbrev::Attribute &A, Value &V) const;
  __attribute__((always_inline)) bool
  skipValue(PlainCursor &C, const Abbrev::Attribute &A) const {
    Value V;
    if (A.Size >= 0)
      C.skip(static_cast<uint64_t>(A.Size));
    else if (A.Size == Abbrev::LebSize)
      C.skipLeb();
    else if (A.Form == DW_FORM_exprloc)
      C.skip(C.uleb());
    else
      return readValue(C, A, V);
    return !C.isBad();
  }
  bool skipValues(PlainCursor &C, const Abbrev &A) const {
    if (A.FixedSize >= 0) {
      C.skip(static_cast<uint64_t>(A.FixedSize));
      return !C.isBad();
    }
    for (const Abbrev::Attribute &At : attributes(A))
      if (!skipValue(C, At))
        return false;
    return true;
  }
  // Return the meaning of a value.
  uint64_t address(const Value &V);
  const char *string(const Value &V);
  // Stores in R the address ranges that these attributes of a DIE describe.
  void ranges(const Value &LowPc, const Value &HighPc, const Value &List,
              std::vector<AddressRange> &R);
  // Returns the offset in .debug_info to which an attribute refers. Returns 0
  // if the form is not a reference.
  uint64_t reference(const Value &V) const;
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_UNIT_H
