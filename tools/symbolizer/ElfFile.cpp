// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads ELF files; see ElfFile.h.

#include "ElfFile.h"

#include <algorithm>
#include <cstdlib>
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
    State = St;
  }
  close(Fd);
  return Whole.Data != nullptr && readSections();
}

int64_t ElfFile::changedNs(const struct stat &St) {
  return static_cast<int64_t>(St.st_ctim.tv_sec) * 1000000000 +
         St.st_ctim.tv_nsec;
}

ElfFile::~ElfFile() {
  if (Whole.Data != nullptr)
    munmap(const_cast<uint8_t *>(Whole.Data), Whole.Size);
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
    return false; // compressed, as old versions of gcc did
  if (strcmp(Name, ".gnu_debuglink") == 0)
    DebugLink = Cursor(S.Content).string();
  if (strcmp(Name, ".note.gnu.build-id") == 0)
    BuildIdNote = S.Content;
  for (const auto &K : Known) {
    if (strcmp(Name, K.Name) != 0)
      continue;
    if ((Debug.*K.Field).Data != nullptr)
      return false;
    Debug.*K.Field = S.Content;
    if ((S.H.sh_flags & SHF_COMPRESSED) == 0)
      continue;
    Inflater *Source = Inflater::make(S.Content.Data, S.Content.Size);
    if (Source == nullptr)
      return false;
    Inflaters.emplace_back(Source);
    Debug.*K.Field = {Source->data(), Source->size(), Source};
  }
  return true;
}

bool ElfFile::readSections() {
  Elf64_Ehdr E;
  if (!readAt(Whole, 0, E) || memcmp(E.e_ident, ELFMAG, SELFMAG) != 0 ||
      E.e_ident[EI_CLASS] != ELFCLASS64 || E.e_ident[EI_DATA] != ELFDATA2LSB ||
      (E.e_machine != EM_X86_64 && E.e_machine != EM_AARCH64) ||
      (E.e_type != ET_EXEC && E.e_type != ET_DYN) ||
      E.e_shentsize != sizeof(Elf64_Shdr) || E.e_shstrndx >= E.e_shnum)
    return false;
  Machine = E.e_machine;
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
#ifdef MPROF_SYMBOLIZER_TEST
    // AddressSanitizer finds reads behind memory of its own.
    auto *Copy = static_cast<uint8_t *>(malloc(S.Content.Size));
    memcpy(Copy, S.Content.Data, S.Content.Size);
    S.Content.Data = Copy;
#endif
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

// Stores the build ID in a range of notes in Id, if there is one. Returns false
// if the notes cannot be understood.
static bool findBuildId(Bytes Notes, std::string &Id) {
  static const char Digits[] = "0123456789abcdef";
  for (Cursor C(Notes); C.left() >= 12;) {
    const uint32_t NameSize = C.u32(), Size = C.u32(), Type = C.u32();
    const uint64_t NameAt = C.offset();
    C.skip((uint64_t{NameSize} + 3) & ~uint64_t{3});
    const uint64_t At = C.offset();
    if (C.isBad() || Size > C.left())
      return false;
    // The last note may end without padding.
    C.skip(std::min((uint64_t{Size} + 3) & ~uint64_t{3}, C.left()));
    if (Type != NT_GNU_BUILD_ID || NameSize != 4 ||
        memcmp(Notes.Data + NameAt, "GNU", 4) != 0)
      continue;
    for (uint32_t I = 0; I < std::min<uint32_t>(Size, 20); I++) {
      Id += Digits[Notes.Data[At + I] >> 4];
      Id += Digits[Notes.Data[At + I] & 15];
    }
    return true;
  }
  return true;
}

bool ElfFile::buildId(std::string &Id) const {
  Elf64_Ehdr E;
  Elf64_Phdr P;
  Id.clear();
  // In a file with debug information only, the program headers refer to bytes
  // that were removed.
  if (BuildIdNote.Data != nullptr)
    return findBuildId(BuildIdNote, Id);
  if (!readAt(Whole, 0, E))
    return false;
  for (unsigned I = 0; I < E.e_phnum && Id.empty(); I++) {
    if (!readAt(Whole, E.e_phoff + I * sizeof(P), P))
      return false;
    if (P.p_type == PT_NOTE &&
        !findBuildId(part(Whole, P.p_offset, P.p_filesz), Id))
      return false;
  }
  return true;
}

ElfFile::Place ElfFile::debugPlace(const char *Path, std::string &DebugPath,
                                   std::vector<std::string> &Absent) const {
  static const char Root[] = "/usr/lib/debug";
  const auto Exists = [&](const std::string &P) {
    if (access(P.c_str(), F_OK) == 0)
      return true;
    Absent.push_back(P);
    return false;
  };
  std::string Id;
  if (!buildId(Id))
    return Place::Unknown;
  DebugPath = std::string(Root) + "/.build-id/" + Id.substr(0, 2) + "/";
  if (Id.size() > 2) {
    DebugPath += Id.substr(2) + ".debug";
    if (Exists(DebugPath))
      return Place::Separate;
  }
  if (DebugLink.empty())
    return Place::Here;
  const std::string P = Path, Dir = P.substr(0, P.rfind('/') + 1);
  return Exists(Dir + DebugLink) || Exists(Dir + ".debug/" + DebugLink) ||
                 Exists(Root + Dir + DebugLink)
             ? Place::Unknown
             : Place::Here;
}

// --- symbols ---

namespace {
// A symbol that may cover an address. The symbol with the highest address
// covers it. Among symbols with the same address, the largest one does, and
// among these the last one in the table.
struct Candidate {
  bool IsSet = false;
  uint64_t Value = 0, Size = 0, Index = 0;
  uint32_t Name = 0, File = 0; // offsets of strings

  bool isBefore(const Candidate &O) const {
    if (IsSet != O.IsSet)
      return !IsSet;
    if (Value != O.Value)
      return Value < O.Value;
    if (Size != O.Size)
      return Size < O.Size;
    return Index < O.Index;
  }
};
} // namespace

static bool isNamed(const Elf64_Sym &S) {
  const unsigned Type = ELF64_ST_TYPE(S.st_info);
  return Type == STT_NOTYPE || Type == STT_FUNC || Type == STT_OBJECT ||
         Type == STT_GNU_IFUNC;
}

// Returns whether the symbol with this name only tells where the code or the
// data of arm64 begins. As in LLVM, a symbol without a name is one, too.
bool ElfFile::isMappingSymbol(uint32_t Name) const {
  if (Machine != EM_AARCH64)
    return false;
  const char *const N = Cursor(SymbolStrings, Name).string();
  return N[0] == '\0' || (N[0] == '$' && (N[1] == 'x' || N[1] == 'd'));
}

bool ElfFile::findSymbols(const std::vector<uint64_t> &Addresses,
                          std::vector<Symbol> &Result) const {
  enum { ReleaseEvery = 8192 }; // symbols
  std::vector<Candidate> Best(Addresses.size());
  const uint64_t Last = Addresses.empty() ? 0 : Addresses.back();
  uint32_t File = 0; // of the last file symbol; it precedes its local symbols
  Elf64_Sym S;
  size_t At = 0; // of the first address that is not less than the symbol's
  for (uint64_t I = 0; I < Symbols.Size / sizeof(S); I++) {
    memcpy(&S, Symbols.Data + I * sizeof(S), sizeof(S));
    if (I % ReleaseEvery == ReleaseEvery - 1)
      release();
    const unsigned Section = S.st_shndx;
    if (Section == SHN_XINDEX)
      return false;
    if (Section == SHN_UNDEF || Section >= SHN_LORESERVE) {
      if (ELF64_ST_TYPE(S.st_info) == STT_FILE)
        File = S.st_name;
      continue;
    }
    if (Section >= IsAllocated.size())
      return false;
    if (S.st_value > Last || !IsAllocated[Section] || !isNamed(S) ||
        Addresses.empty() || isMappingSymbol(S.st_name))
      continue;
    // Many symbols are near the symbol before.
    if (S.st_value > Addresses[At] ||
        (At > 0 && S.st_value <= Addresses[At - 1]))
      At = static_cast<size_t>(
          std::lower_bound(Addresses.begin(), Addresses.end(), S.st_value) -
          Addresses.begin());
    Candidate &B = Best[At];
    if (B.IsSet && B.Value > S.st_value)
      continue;
    const bool IsLocal = ELF64_ST_BIND(S.st_info) == STB_LOCAL;
    const Candidate C = {true, S.st_value, S.st_size,
                         I,    S.st_name,  IsLocal ? File : 0};
    if (B.isBefore(C))
      B = C;
  }
  Result.assign(Addresses.size(), {});
  for (size_t I = 0; I < Best.size(); I++) {
    if (I > 0 && Best[I].isBefore(Best[I - 1]))
      Best[I] = Best[I - 1];
    const Candidate &B = Best[I];
    if (!B.IsSet || (B.Size != 0 && B.Value + B.Size <= Addresses[I]))
      continue;
    Cursor Name(SymbolStrings, B.Name), OfFile(SymbolStrings, B.File);
    Result[I] = {Name.string(), B.File == 0 ? "" : OfFile.string()};
    if (Name.isBad())
      return false;
  }
  return true;
}

} // namespace mprof
