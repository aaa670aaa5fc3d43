// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads line tables; see LineTable.h.

#include "LineTable.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>

namespace mprof {

// --- header ---

bool LineTable::open(const ElfFile::Sections &S, Unit &Of) {
  U = &Of;
  Cursor Whole(S.Line, Of.LineOffset.Number);
  Whole.truncate(Whole.u32()); // in 64-bit DWARF, too long
  PlainCursor C = Whole.plain();
  Version = C.u16();
  if (Version < 2 || Version > 5)
    return false;
  if (Version >= 5 && (C.u8() != 8 || C.u8() != 0)) // addresses, segments
    return false;
  Program = C;
  const uint64_t HeaderLength = C.u32();
  Program.skip(4);
  Program.skip(HeaderLength);
  MinInstruction = C.u8();
  if (Version >= 4 && C.u8() != 1) // operations of an instruction
    return false;
  C.skip(1); // default_is_stmt
  LineBase = C.u8();
  if (LineBase > 127) // a signed byte
    LineBase -= 256;
  LineRange = C.u8();
  OpcodeBase = C.u8();
  if (LineRange == 0 || OpcodeBase == 0)
    return false;
  OpcodeLengths = S.Line.Data + C.offset() - 1; // begins with opcode 1
  C.skip(OpcodeBase - 1);
  makeSteps();
  return !Program.isBad() && !C.isBad() && readNames(C);
}

void LineTable::makeSteps() {
  uint32_t Address = 0;
  int32_t Line = 0;
  for (unsigned Opcode = OpcodeBase; Opcode < 256; Opcode++) {
    Steps[Opcode] = {Address, LineBase + Line};
    if (++Line == static_cast<int32_t>(LineRange)) {
      Line = 0;
      Address += MinInstruction;
    }
  }
}

// Reads a table of directories or of files of DWARF 5.
bool LineTable::readEntries(PlainCursor &C, std::vector<FileName> &Out) {
  struct Format {
    uint64_t Content = 0;
    Abbrev::Attribute Attribute = {};
  };
  std::vector<Format> Formats(C.u8());
  for (Format &F : Formats) {
    F.Content = C.uleb();
    F.Attribute.Form = static_cast<uint16_t>(C.uleb());
    F.Attribute.Size =
        static_cast<int16_t>(Unit::fixedSize(F.Attribute.Form, Version));
  }
  // Each entry has at least one byte, so a damaged count cannot take memory.
  const uint64_t Entries = C.uleb();
  if (Entries > C.left())
    return false;
  for (uint64_t Count = Entries; Count > 0 && !C.isBad(); Count--) {
    FileName Name = {};
    for (const Format &F : Formats) {
      Value V;
      if (!U->readValue(C, F.Attribute, V))
        return false;
      if (F.Content == DW_LNCT_path)
        Name.Name = V;
      else if (F.Content == DW_LNCT_directory_index)
        Name.Directory = V.Number;
    }
    if (Name.Name.Form == 0)
      return false;
    Out.push_back(Name);
  }
  return !C.isBad() && U->isOk();
}

bool LineTable::readNames(PlainCursor &C) {
  if (Version >= 5) {
    std::vector<FileName> Entries;
    if (!readEntries(C, Entries))
      return false;
    for (const FileName &E : Entries)
      Directories.push_back(E.Name);
    return readEntries(C, Files);
  }
  const auto MakeValue = [](const char *S) {
    return Value{DW_FORM_string, 0, S};
  };
  for (const char *S = C.string(); *S != '\0'; S = C.string())
    Directories.push_back(MakeValue(S));
  for (const char *S = C.string(); *S != '\0'; S = C.string()) {
    Files.push_back({MakeValue(S), C.uleb()});
    C.uleb(); // time of the last change
    C.uleb(); // length
  }
  return !C.isBad();
}

// --- paths ---

// Appends a part of a path, with a separator if needed.
static void append(std::string &Path, const char *Part) {
  if (*Part == '\0')
    return;
  if (!Path.empty() && Path.back() == '/')
    Part += strspn(Part, "/");
  else if (!Path.empty() && *Part != '/')
    Path += '/';
  Path += Part;
}

// Returns whether the path may be absolute on Windows. llvm-symbolizer checks
// this also for files of other systems.
static bool isWindowsPath(const char *Path) {
  return *Path == '\\' ||
         (isalpha(static_cast<unsigned char>(*Path)) && Path[1] == ':') ||
         (Path[0] == '/' && Path[1] == '/');
}

bool LineTable::filePath(uint64_t File, std::string &Path, bool *HasFile) {
  const uint64_t Index = Version >= 5 ? File : File - 1;
  *HasFile = Index < Files.size();
  if (!*HasFile)
    return true;
  const char *Name = U->string(Files[Index].Name), *Directory = "", *Base = "";
  const uint64_t Number = Files[Index].Directory - (Version < 5);
  if (Number < Directories.size())
    Directory = U->string(Directories[Number]);
  if (U->CompDir.Form != 0)
    Base = U->string(U->CompDir);
  if (isWindowsPath(Name) || isWindowsPath(Directory) || isWindowsPath(Base))
    return false;
  Path.clear();
  if (*Name != '/') {
    // In DWARF 5, directory 0 is the directory of the compilation.
    if (*Directory != '/' && (Version < 5 || Files[Index].Directory != 0))
      append(Path, Base);
    append(Path, Directory);
  }
  append(Path, Name);
  return U->isOk();
}

// --- rows ---

// The state machine that makes the rows of the table.
struct LineTable::State {
  const std::vector<uint64_t> &Addresses;
  std::vector<Found> &Result;
  Row Current;
  bool InSequence = false, IsRemoved = false, IsSorted = true;
  uint64_t FirstAddress = 0; // of the sequence
  Row Last;                  // the row before Current
  // The rows found in this sequence, and the first address after Last.
  std::vector<Row> Rows;
  size_t Next = 0;
  // A row with an address from Last.Address to QuietEnd only becomes the last
  // row. Less than Last.Address: there is no such row.
  uint64_t QuietEnd = 0;
  bool HasTie = false; // two sequences end at one address

  State(const std::vector<uint64_t> &Addresses, std::vector<Found> &Result)
      : Addresses(Addresses), Result(Result), Rows(Addresses.size()) {
    Last.Address = 1; // more than QuietEnd
  }
  // Appends the current row to the table.
  void emit() {
    if (Current.Address >= Last.Address && Current.Address <= QuietEnd)
      Last = Current;
    else
      emitSlowly(false);
  }
  void emitSlowly(bool IsEnd);
  void endSequence();
  // Sets QuietEnd after a change of another field.
  void noteQuiet() {
    QuietEnd = 0;
    if (!InSequence || IsRemoved)
      Last.Address = 1;
    else
      QuietEnd = Next < Addresses.size() ? Addresses[Next] : ~uint64_t{0};
  }
};

void LineTable::State::emitSlowly(bool IsEnd) {
  if (!IsRemoved) {
    if (!InSequence) {
      InSequence = true;
      FirstAddress = Current.Address;
      Next = static_cast<size_t>(
          std::lower_bound(Addresses.begin(), Addresses.end(), FirstAddress) -
          Addresses.begin());
    } else if (Current.Address < Last.Address) {
      IsSorted = false;
    } else {
      // The previous row is the row of all addresses up to the current row.
      for (; Next < Addresses.size() && Addresses[Next] < Current.Address;
           Next++)
        Rows[Next] = Last;
    }
    Last = Current;
    if (IsEnd && FirstAddress < Current.Address)
      endSequence();
  }
  if (IsEnd) {
    Current = {};
    InSequence = IsRemoved = false;
  }
  noteQuiet();
}

// Searching an address finds the sequence with the lowest end above the
// address. If this sequence does not contain the address, there is no row.
void LineTable::State::endSequence() {
  for (size_t I = 0; I < Addresses.size() && Addresses[I] < Last.Address; I++) {
    Found &F = Result[I];
    const bool IsIn = Addresses[I] >= FirstAddress;
    if (F.Limit == Last.Address && (IsIn || F.HasRow))
      HasTie = true;
    if (F.Limit <= Last.Address)
      continue;
    F = {Last.Address, IsIn, IsIn ? Rows[I] : Row()};
  }
}

bool LineTable::runExtended(State &S, PlainCursor &C) {
  const uint64_t Length = C.uleb();
  PlainCursor Operands = C;
  Operands.truncate(Length);
  C.skip(Length);
  if (C.isBad() || Length == 0)
    return false;
  switch (Operands.u8()) {
  case DW_LNE_end_sequence:
    S.emitSlowly(true);
    break;
  case DW_LNE_set_address:
    if (Length != 9)
      return false;
    S.Current.Address = Operands.u64();
    S.IsRemoved = S.Current.Address == ~uint64_t{0};
    S.noteQuiet();
    break;
  case DW_LNE_define_file:
    return false;
  default:
    break;
  }
  return true;
}

__attribute__((always_inline)) inline bool
LineTable::runStandard(State &S, PlainCursor &C, unsigned Opcode) {
  Row &R = S.Current;
  switch (Opcode) {
  case DW_LNS_copy:
    S.emit();
    break;
  case DW_LNS_advance_pc:
    R.Address += C.uleb() * MinInstruction;
    break;
  case DW_LNS_advance_line:
    R.Line += static_cast<uint64_t>(C.sleb());
    break;
  case DW_LNS_set_file:
    R.File = C.uleb();
    break;
  case DW_LNS_const_add_pc:
    R.Address += uint64_t{(255 - OpcodeBase) / LineRange} * MinInstruction;
    break;
  case DW_LNS_fixed_advance_pc:
    R.Address += C.u16();
    break;
  default: // opcodes that do not change the file, the line or the address
    for (unsigned I = 0; I < OpcodeLengths[Opcode]; I++)
      C.uleb();
  }
  return !C.isBad();
}

bool LineTable::find(const std::vector<uint64_t> &Addresses,
                     std::vector<Found> &Result) {
  Result.assign(Addresses.size(), {});
  State S(Addresses, Result);
  for (PlainCursor C = Program; !C.atEnd();) {
    const unsigned Opcode = C.u8();
    if (Opcode >= OpcodeBase) {
      S.Current.Address += Steps[Opcode].Address;
      S.Current.Line += static_cast<uint64_t>(int64_t{Steps[Opcode].Line});
      S.emit();
    } else if (Opcode == 0 ? !runExtended(S, C) : !runStandard(S, C, Opcode)) {
      return false;
    }
  }
  // llvm-symbolizer uses a line as a 32-bit number and a file as a 16-bit one.
  for (const Found &F : Result)
    if (F.R.Line > UINT32_MAX || F.R.File > UINT16_MAX)
      return false;
  return S.IsSorted && !S.HasTie;
}

} // namespace mprof
