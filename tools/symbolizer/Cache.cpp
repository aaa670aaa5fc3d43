// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps answers; see Cache.h. A file is a header and entries. An entry is an
// address, the number of frames and the frames.

#include "Cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mprof {

// Increase the number when the format or the answers change.
static constexpr char Magic[] = "mprof names 1\n";

static void putNumber(std::string &Out, uint64_t V) {
  Out.append(reinterpret_cast<const char *>(&V), sizeof(V));
}

static void putAnswer(std::string &Out, uint64_t Address, const Answer &A) {
  putNumber(Out, Address);
  putNumber(Out, A.Frames.size());
  for (const Frame &F : A.Frames) {
    Out.append(F.Function.c_str(), F.Function.size() + 1);
    Out.append(F.File.c_str(), F.File.size() + 1);
    putNumber(Out, F.Line);
    putNumber(Out, F.StartLine);
  }
}

static std::string makeHeader(const std::string &BuildId, int64_t ChangedNs,
                              int64_t DebugChangedNs) {
  std::string Header = Magic + BuildId + "\n";
  putNumber(Header, static_cast<uint64_t>(ChangedNs));
  putNumber(Header, static_cast<uint64_t>(DebugChangedNs));
  return Header;
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

Cache::Cache(const char *Path, const std::string &BuildId, int64_t ChangedNs,
             int64_t DebugChangedNs)
    : Header(makeHeader(BuildId, ChangedNs, DebugChangedNs)),
      Size(Header.size()) {
  Name = "names-" +
         std::to_string(strtoul(BuildId.substr(0, 4).c_str(), nullptr, 16) %
                        Slots);
  const int Parent = openRoot(Path);
  if (Parent < 0)
    return;
  mkdirat(Parent, "mprof", 0700);
  Directory = openOwnDirectory(Parent, "mprof", O_NOFOLLOW);
  close(Parent);
  if (Directory < 0)
    return;
  const int Fd = openat(Directory, Name.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (Fd < 0)
    return;
  off_t Length = 0;
  if (isOwn(Fd, S_IFREG, &Length) && Length > 0 && Length <= SizeMax) {
    std::string Content(static_cast<size_t>(Length), '\0');
    if (::read(Fd, Content.data(), Content.size()) == Length)
      read({reinterpret_cast<const uint8_t *>(Content.data()), Content.size()});
  }
  close(Fd);
}

Cache::~Cache() {
  if (Directory >= 0)
    close(Directory);
}

void Cache::read(Bytes File) {
  if (File.Size < Header.size() ||
      memcmp(File.Data, Header.data(), Header.size()) != 0)
    return;
  PlainCursor C(File, Header.size());
  while (!C.atEnd()) {
    const uint64_t Address = C.u64();
    Answer A;
    // A frame has at least two bytes.
    for (uint64_t N = std::min(C.u64(), C.left()); N > 0 && !C.isBad(); N--) {
      Frame F;
      F.Function = C.string();
      F.File = C.string();
      F.Line = C.u64();
      F.StartLine = C.u64();
      A.Frames.push_back(std::move(F));
    }
    if (!C.isBad())
      Answers.emplace(Address, std::move(A));
  }
  if (C.isBad())
    Answers.clear();
  else
    Size = File.Size;
}

const Answer *Cache::find(uint64_t Address) const {
  const auto At = Answers.find(Address);
  return At == Answers.end() ? nullptr : &At->second;
}

void Cache::add(uint64_t Address, const Answer &A) {
  std::string Entry;
  putAnswer(Entry, Address, A);
  if (!A.IsKnown || Size + Entry.size() > SizeMax)
    return;
  if (Answers.emplace(Address, A).second) {
    Size += Entry.size();
    IsChanged = true;
  }
}

void Cache::save() {
  if (!IsChanged || Directory < 0)
    return;
  IsChanged = false;
  std::string Content = Header;
  for (const auto &[Address, A] : Answers)
    putAnswer(Content, Address, A);
  const std::string Temporary = Name + "." + std::to_string(getpid());
  // A process with this number may have been killed before it renamed its file.
  unlinkat(Directory, Temporary.c_str(), 0);
  const int Fd =
      openat(Directory, Temporary.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (Fd < 0)
    return;
  const bool IsWritten = write(Fd, Content.data(), Content.size()) ==
                         static_cast<ssize_t>(Content.size());
  close(Fd);
  if (!IsWritten ||
      renameat(Directory, Temporary.c_str(), Directory, Name.c_str()) != 0)
    unlinkat(Directory, Temporary.c_str(), 0);
}

} // namespace mprof
