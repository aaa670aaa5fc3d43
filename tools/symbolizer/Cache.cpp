// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps names; see Cache.h.

#include "Cache.h"

#include "Cursor.h"

#include "symbolize/name_list.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mprof {

template <typename T> static void put(std::string &Out, const T &V) {
  Out.append(reinterpret_cast<const char *>(&V), sizeof(V));
}

static std::string makeHeader(const char *BuildId,
                              const std::vector<NameSource> &Sources) {
  std::string Header;
  mprof_kept_header H = {MPROF_KEPT_MAGIC, "", "",
                         static_cast<uint32_t>(Sources.size())};
  strncpy(H.build_id, BuildId, sizeof(H.build_id) - 1);
  put(Header, H);
  for (const NameSource &S : Sources) {
    put(Header, S.Stamp);
    Header.append(S.Path.c_str(), S.Path.size() + 1);
  }
  return Header;
}

static void putNames(std::string &Out, uint64_t Address,
                     const std::string &Names) {
  put(Out, Address);
  put(Out, static_cast<uint32_t>(Names.size()));
  Out += Names;
}

// Returns whether only the user can change the file or the directory.
static bool isOwn(int Fd, mode_t Type, off_t *Size = nullptr) {
  struct stat St;
  if (fstat(Fd, &St) != 0 || (St.st_mode & S_IFMT) != Type ||
      St.st_uid != geteuid() || (St.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return false;
  if (Size != nullptr)
    *Size = St.st_size;
  return true;
}

// Opens a directory. Returns -1 if another user can change it.
static int openOwnDirectory(int At, const char *Path, int Flags = 0) {
  const int Fd = openat(At, Path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | Flags);
  if (Fd < 0 || isOwn(Fd, S_IFDIR))
    return Fd;
  close(Fd);
  return -1;
}

// Opens the directory Path, and makes it if needed. Makes it only in a
// directory of the user. Otherwise root, who may run with the HOME of another
// user, would leave this user a directory of root.
static int openRoot(std::string Path) {
  while (Path.size() > 1 && Path.back() == '/')
    Path.pop_back();
  const size_t Slash = Path.rfind('/');
  if (access(Path.c_str(), F_OK) != 0 && Slash != std::string::npos) {
    const int Parent =
        openOwnDirectory(AT_FDCWD, Path.substr(0, Slash + 1).c_str());
    if (Parent < 0)
      return -1;
    mkdirat(Parent, Path.c_str() + Slash + 1, 0700);
    close(Parent);
  }
  return openOwnDirectory(AT_FDCWD, Path.c_str());
}

static int createNew(int Directory, const char *Name) {
  return openat(Directory, Name,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

// Returns whether a process was killed before it renamed this temporary file.
static bool isLeft(int Directory, const char *Name) {
  enum { Seconds = 60 };
  struct stat St;
  return fstatat(Directory, Name, &St, AT_SYMLINK_NOFOLLOW) == 0 &&
         St.st_mtim.tv_sec + Seconds < time(nullptr);
}

Cache::Cache(const char *Path, const char *BuildId,
             const std::vector<NameSource> &Sources)
    : Header(makeHeader(BuildId, Sources)), Size(Header.size()) {
  Name = "names-" +
         std::to_string(mprof_kept_number(Sources.front().Path.c_str()));
  const int Parent = openRoot(Path);
  if (Parent < 0)
    return;
  mkdirat(Parent, "mprof", 0700);
  Directory = openOwnDirectory(Parent, "mprof", O_NOFOLLOW);
  close(Parent);
  if (Directory < 0)
    return;
  load();
}

Cache::~Cache() {
  if (Directory >= 0)
    close(Directory);
}

// Adds the names in the file.
void Cache::load() {
  const int Fd = openat(Directory, Name.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (Fd < 0)
    return;
  off_t Length = 0;
  if (isOwn(Fd, S_IFREG, &Length) && Length > 0 && Length <= MPROF_KEPT_SIZE) {
    std::string Content(static_cast<size_t>(Length), '\0');
    if (::read(Fd, Content.data(), Content.size()) == Length)
      read({reinterpret_cast<const uint8_t *>(Content.data()), Content.size()});
  }
  close(Fd);
}

void Cache::read(Bytes File) {
  if (File.Size < Header.size() ||
      memcmp(File.Data, Header.data(), Header.size()) != 0)
    return;
  PlainCursor C(File, Header.size());
  while (!C.atEnd()) {
    const uint64_t Address = C.u64(), Length = C.u32(), At = C.offset();
    C.skip(Length);
    const auto *const OfAddress =
        reinterpret_cast<const char *>(File.Data + At);
    if (C.isBad() || Length >= MPROF_REPLY_SIZE ||
        !mprof_is_name_list(OfAddress, Length))
      return;
    insert(Address, std::string(OfAddress, Length));
  }
}

// Returns whether the names are new and there is room for them.
bool Cache::insert(uint64_t Address, const std::string &OfAddress) {
  std::string Entry;
  putNames(Entry, Address, OfAddress);
  if (Size + Entry.size() > MPROF_KEPT_SIZE ||
      !Names.emplace(Address, OfAddress).second)
    return false;
  Size += Entry.size();
  return true;
}

const std::string *Cache::find(uint64_t Address) const {
  const auto At = Names.find(Address);
  return At == Names.end() ? nullptr : &At->second;
}

void Cache::add(uint64_t Address, const std::string &OfAddress) {
  IsChanged |= insert(Address, OfAddress);
}

void Cache::save() {
  if (!IsChanged || Directory < 0)
    return;
  const std::string Temporary = Name + ".new";
  int Fd = createNew(Directory, Temporary.c_str());
  if (Fd < 0 && errno == EEXIST && isLeft(Directory, Temporary.c_str())) {
    unlinkat(Directory, Temporary.c_str(), 0);
    Fd = createNew(Directory, Temporary.c_str());
  }
  if (Fd < 0)
    return; // perhaps another process is writing
  load();   // what other processes have written since
  std::string Content = Header;
  for (const auto &[Address, OfAddress] : Names)
    putNames(Content, Address, OfAddress);
  const bool IsWritten = write(Fd, Content.data(), Content.size()) ==
                         static_cast<ssize_t>(Content.size());
  close(Fd);
  IsChanged = !IsWritten || renameat(Directory, Temporary.c_str(), Directory,
                                     Name.c_str()) != 0;
  if (IsChanged)
    unlinkat(Directory, Temporary.c_str(), 0);
}

} // namespace mprof
