// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of DWARF's debug information, and the attributes of its entries
// (DIEs). See DWARF 5, sections 7.5 and 7.25.

#ifndef MPROF_TOOLS_SYMBOLIZER_UNIT_H
#define MPROF_TOOLS_SYMBOLIZER_UNIT_H

#include "ElfFile.h"

namespace mprof {

// The declaration of the DIEs with one abbreviation code.
struct Abbrev {
  struct Attribute {
    uint16_t Name, Form;
    int16_t Size;     // size of the value, or -1 if it depends on the DIE
    int64_t Constant; // value of an attribute with DW_FORM_implicit_const
  };
  uint64_t Code = 0;
  uint16_t Tag = 0;
  bool HasChildren = false;
  int FixedSize = 0; // size of all attributes, or -1 if it depends on the DIE
  std::vector<Attribute> Attributes;
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
  const ElfFile::Sections *S = nullptr;
  uint64_t Offset = 0, End = 0, FirstDie = 0, AbbrevOffset = 0;
  unsigned Version = 0;
  std::vector<Abbrev> Abbrevs; // empty: not read yet
  uint64_t AddrBase = 0, StrOffsetsBase = 0, RngListsBase = 0;
  bool HasAddrBase = false, HasStrOffsetsBase = false, HasRngListsBase = false;
  uint64_t Base = 0; // address to which offsets in range lists are relative
  bool IsOk = true, HasFirst = false;

  bool readAbbrev(Cursor &C, Abbrev &A);
  bool readAbbrevs();
  uint64_t indexedAddress(uint64_t Index);
  void oldRanges(uint64_t At, std::vector<AddressRange> &R);
  void newRanges(uint64_t At, std::vector<AddressRange> &R);

public:
  // The attributes that are needed of the unit's first DIE.
  Value Low, High, RangeList, LineOffset, CompDir;
  // The debug information is in another file, such as a .dwo file.
  bool IsSkeleton = false;
  bool IsTypeUnit = false;

  // Returns the size of a value, or -1 if it depends on the value. Only forms
  // of 32-bit DWARF are known.
  static int fixedSize(unsigned Form, unsigned Version);
  // Reads the header of the unit at the cursor, and moves the cursor behind the
  // unit. Returns false if the unit cannot be understood.
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
  Cursor at(uint64_t InfoOffset) const;

  // Returns the abbreviation with the code, or nullptr.
  const Abbrev *abbrev(uint64_t Code);
  // Reads or skips a value. Returns false if the form is unknown.
  bool readValue(Cursor &C, const Abbrev::Attribute &A, Value &V) const;
  bool skipValue(Cursor &C, const Abbrev::Attribute &A) const;
  bool skipValues(Cursor &C, const Abbrev &A) const;
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
