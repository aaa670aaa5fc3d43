// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads ELF files; see ElfFile.h.

#include "ElfFile.h"

#include <algorithm>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mprof {

struct SectionHeader {
  Elf64_Shdr H;
  Bytes Content;
};

// Returns the bytes of the file in the given range, or none if the range is not
// in the file.
static Bytes part(Bytes Whole, uint64_t Offset, uint64_t Size) {
  if (Offset > Whole.Size || Size > Whole.Size - Offset)
    return {};
  return {Whole.Data + Offset, static_cast<size_t>(Size)};
}

template <typename T> static bool readAt(Bytes B, uint64_t Offset, T &Out) {
  const Bytes P = part(B, Offset, sizeof(T));
  if (P.Data == nullptr)
    return false;
  memcpy(&Out, P.Data, sizeof(T));
  return true;
}

bool ElfFile::open(const char *Path) {
  const int Fd = ::open(Path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (Fd < 0)
    return false;
  struct stat St;
  if (fstat(Fd, &St) == 0 && S_ISREG(St.st_mode) && St.st_size > 0) {
    const auto Size = static_cast<size_t>(St.st_size);
    void *Data = mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, Fd, 0);
    if (Data != MAP_FAILED)
      Whole = {static_cast<const uint8_t *>(Data), Size};
    ChangedNs = static_cast<int64_t>(St.st_ctim.tv_sec) * 1000000000 +
                St.st_ctim.tv_nsec;
  }
  close(Fd);
  return Whole.Data != nullptr && readSections();
}

void ElfFile::release() const {
  madvise(const_cast<uint8_t *>(Whole.Data), Whole.Size, MADV_DONTNEED);
}

bool ElfFile::readSection(const SectionHeader &S, const char *Name) {
  static constexpr struct {
    const char *Name;
    Bytes Sections::*Field;
  } Known[] = {{".debug_info", &Sections::Info},
               {".debug_abbrev", &Sections::Abbrev},
               {".debug_str", &Sections::Str},
               {".debug_line_str", &Sections::LineStr},
               {".debug_line", &Sections::Line},
               {".debug_ranges", &Sections::Ranges},
               {".debug_rnglists", &Sections::RngLists},
               {".debug_addr", &Sections::Addr},
               {".debug_str_offsets", &Sections::StrOffsets},
               {".debug_aranges", &Sections::ARanges}};
  if (strncmp(Name, ".zdebug_", 8) == 0)
    return false; // compressed
  if (strcmp(Name, ".gnu_debuglink") == 0)
    DebugLink = Cursor(S.Content).string();
  for (const auto &K : Known) {
    if (strcmp(Name, K.Name) != 0)
      continue;
    if ((S.H.sh_flags & SHF_COMPRESSED) != 0 ||
        (Debug.*K.Field).Data != nullptr)
      return false;
    Debug.*K.Field = S.Content;
  }
  return true;
}

bool ElfFile::readSections() {
  Elf64_Ehdr E;
  if (!readAt(Whole, 0, E) || memcmp(E.e_ident, ELFMAG, SELFMAG) != 0 ||
      E.e_ident[EI_CLASS] != ELFCLASS64 || E.e_ident[EI_DATA] != ELFDATA2LSB ||
      E.e_machine != EM_X86_64 || (E.e_type != ET_EXEC && E.e_type != ET_DYN) ||
      E.e_shentsize != sizeof(Elf64_Shdr) || E.e_shstrndx >= E.e_shnum)
    return false;
  std::vector<SectionHeader> Headers(E.e_shnum);
  for (size_t I = 0; I < Headers.size(); I++) {
    SectionHeader &S = Headers[I];
    if (!readAt(Whole, E.e_shoff + I * sizeof(S.H), S.H))
      return false;
    IsAllocated.push_back((S.H.sh_flags & SHF_ALLOC) != 0);
    if (S.H.sh_type == SHT_NOBITS || S.H.sh_type == SHT_NULL ||
        S.H.sh_size == 0)
      continue;
    S.Content = part(Whole, S.H.sh_offset, S.H.sh_size);
    if (S.Content.Data == nullptr)
      return false;
  }
  const SectionHeader *Table = nullptr;
  for (const SectionHeader &S : Headers) {
    Cursor Name(Headers[E.e_shstrndx].Content, S.H.sh_name);
    if (!readSection(S, Name.string()) || Name.isBad())
      return false;
    // The dynamic symbols are used only if there are no others.
    if (S.H.sh_type == SHT_SYMTAB ||
        (S.H.sh_type == SHT_DYNSYM && Table == nullptr))
      Table = &S;
  }
  if (Table == nullptr)
    return true;
  if (Table->H.sh_link >= Headers.size())
    return false;
  Symbols = Table->Content;
  SymbolStrings = Headers[Table->H.sh_link].Content;
  return true;
}

// --- the build ID ---

// Returns the build ID in a segment of notes, or "".
static std::string findBuildId(Bytes Notes) {
  static const char Digits[] = "0123456789abcdef";
  for (Cursor C(Notes); !C.atEnd();) {
    const uint32_t NameSize = C.u32(), Size = C.u32(), Type = C.u32();
    const uint64_t NameAt = C.offset();
    C.skip((uint64_t{NameSize} + 3) & ~uint64_t{3});
    const uint64_t At = C.offset();
    C.skip((uint64_t{Size} + 3) & ~uint64_t{3});
    if (C.isBad())
      break;
    if (Type != NT_GNU_BUILD_ID || NameSize != 4 ||
        memcmp(Notes.Data + NameAt, "GNU", 4) != 0)
      continue;
    std::string Id;
    for (uint32_t I = 0; I < std::min<uint32_t>(Size, 20); I++) {
      Id += Digits[Notes.Data[At + I] >> 4];
      Id += Digits[Notes.Data[At + I] & 15];
    }
    return Id;
  }
  return "";
}

std::string ElfFile::buildId() const {
  Elf64_Ehdr E;
  Elf64_Phdr P;
  if (!readAt(Whole, 0, E))
    return "";
  for (unsigned I = 0; I < E.e_phnum; I++) {
    if (!readAt(Whole, E.e_phoff + I * sizeof(P), P))
      break;
    const std::string Id =
        P.p_type == PT_NOTE ? findBuildId(part(Whole, P.p_offset, P.p_filesz))
                            : "";
    if (!Id.empty())
      return Id;
  }
  return "";
}

bool ElfFile::hasSeparateDebugFile(const char *Path) const {
  static const char Root[] = "/usr/lib/debug";
  const auto Exists = [](const std::string &P) {
    return access(P.c_str(), F_OK) == 0;
  };
  const std::string Id = buildId();
  if (Id.size() > 2 && Exists(std::string(Root) + "/.build-id/" +
                              Id.substr(0, 2) + "/" + Id.substr(2) + ".debug"))
    return true;
  if (DebugLink.empty())
    return false;
  const std::string P = Path, Dir = P.substr(0, P.rfind('/') + 1);
  return Exists(Dir + DebugLink) || Exists(Dir + ".debug/" + DebugLink) ||
         Exists(Root + Dir + DebugLink);
}

// --- symbols ---

namespace {
// A symbol that may cover an address. The symbol with the highest address
// covers it. Among symbols with the same address, the largest one does, and
// among these the last one in the table.
struct Candidate {
  bool IsSet = false;
  Elf64_Sym Sym = {};
  uint64_t Index = 0;
  const char *File = "";

  bool isBefore(const Candidate &O) const {
    if (IsSet != O.IsSet)
      return !IsSet;
    if (Sym.st_value != O.Sym.st_value)
      return Sym.st_value < O.Sym.st_value;
    if (Sym.st_size != O.Sym.st_size)
      return Sym.st_size < O.Sym.st_size;
    return Index < O.Index;
  }
};
} // namespace

static bool isNamed(const Elf64_Sym &S) {
  const unsigned Type = ELF64_ST_TYPE(S.st_info);
  return Type == STT_NOTYPE || Type == STT_FUNC || Type == STT_OBJECT ||
         Type == STT_GNU_IFUNC;
}

bool ElfFile::findSymbols(const std::vector<uint64_t> &Addresses,
                          std::vector<Symbol> &Result) const {
  std::vector<Candidate> Best(Addresses.size());
  Candidate C;
  const char *File = ""; // the last file symbol; it precedes its local symbols
  C.IsSet = true;
  for (; C.Index < Symbols.Size / sizeof(C.Sym); C.Index++) {
    readAt(Symbols, C.Index * sizeof(C.Sym), C.Sym);
    const unsigned Section = C.Sym.st_shndx;
    if (Section == SHN_XINDEX)
      return false;
    if (Section == SHN_UNDEF || Section >= SHN_LORESERVE) {
      if (ELF64_ST_TYPE(C.Sym.st_info) == STT_FILE)
        File = Cursor(SymbolStrings, C.Sym.st_name).string();
      continue;
    }
    if (Section >= IsAllocated.size())
      return false;
    if (!IsAllocated[Section] || !isNamed(C.Sym))
      continue;
    C.File = ELF64_ST_BIND(C.Sym.st_info) == STB_LOCAL ? File : "";
    const auto First =
        std::lower_bound(Addresses.begin(), Addresses.end(), C.Sym.st_value);
    if (First == Addresses.end())
      continue;
    Candidate &B = Best[static_cast<size_t>(First - Addresses.begin())];
    if (B.isBefore(C))
      B = C;
  }
  Result.assign(Addresses.size(), {});
  for (size_t I = 0; I < Best.size(); I++) {
    if (I > 0 && Best[I].isBefore(Best[I - 1]))
      Best[I] = Best[I - 1];
    const Elf64_Sym &S = Best[I].Sym;
    if (!Best[I].IsSet ||
        (S.st_size != 0 && S.st_value + S.st_size <= Addresses[I]))
      continue;
    Cursor Name(SymbolStrings, S.st_name);
    Result[I] = {Name.string(), Best[I].File};
    if (Name.isBad())
      return false;
  }
  return true;
}

} // namespace mprof
