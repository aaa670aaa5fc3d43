// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof-symbolizer: the program that finds the names of addresses for the
// runtime. llvm-symbolizer takes tens of milliseconds and about 60 MB to start,
// which is much more than a short program takes. This program starts in less
// than a millisecond. It reads only what names need, and leaves unusual files
// to llvm-symbolizer. symbolizer_protocol.h describes the messages.

#include "Cache.h"
#include "Symbolizer.h"

#include "symbolize/cut_name.h"
#include "symbolize/symbolizer_protocol.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern "C" void mprof_source_path(char *Path);

namespace mprof {
namespace {

using Request = mprof_symbolizer_request;

enum {
  Connection = STDIN_FILENO,
  FilesMax = 32,
  MemoryMax = 512 << 20, // bytes
  SecondsMax = 20,       // processor time
  IdleSeconds = 600,     // longest time without a request
};
static_assert(MPROF_CUT_ALL == MPROF_REPLY_SIZE,
              "a reply has room for all frames");

// Where names are kept.
struct Keeping {
  const char *Directory = nullptr; // the user's cache directory, or nullptr
  const char *Program = "";        // path of this program
  uint64_t ProgramStamp = 0;
};

uint64_t stamp(const struct stat &St) {
  return mprof_kept_stamp(ElfFile::changedNs(St),
                          static_cast<uint64_t>(St.st_size), St.st_ino);
}

// A file that was asked about.
struct KnownFile {
  Request Query; // only the fields that describe the file
  ElfFile File, DebugFile;
  bool IsOpen = false, IsRight = false;
  const ElfFile *Source = nullptr; // has the debug information; nullptr: none
  std::unique_ptr<Symbolizer> S;   // nullptr: not needed yet
  std::unique_ptr<Cache> Kept;     // nullptr: answers are not kept

  KnownFile(const Request &R, const Keeping &Where) : Query(R) {
    std::string Id, DebugPath;
    std::vector<std::string> Absent;
    IsOpen = File.open(R.file) && File.buildId(Id);
    IsRight = IsOpen && (R.build_id[0] != '\0' ? Id == R.build_id
                                               : File.changedNs() < R.noted_ns);
    if (!IsRight)
      return;
    const ElfFile::Place Place = File.debugPlace(R.file, DebugPath, Absent);
    if (Place == ElfFile::Place::Here)
      Source = &File;
    else if (Place == ElfFile::Place::Separate && openDebugFile(DebugPath, Id))
      Source = &DebugFile;
    if (Source == nullptr || Where.Directory == nullptr)
      return;
    std::vector<NameSource> Sources = {{R.file, stamp(File.state())},
                                       {Where.Program, Where.ProgramStamp}};
    for (const std::string &P : Absent)
      Sources.push_back({P, MPROF_KEPT_ABSENT});
    if (Source == &DebugFile)
      Sources.push_back({DebugPath, stamp(DebugFile.state())});
    Kept = std::make_unique<Cache>(Where.Directory, R.build_id, Sources);
  }

  std::vector<Answer> symbolize(const std::vector<uint64_t> &Addresses) {
    if (S == nullptr)
      S = std::make_unique<Symbolizer>(File, *Source);
    return S->symbolize(Addresses);
  }

  // Returns the replies about the addresses. Answers what is not kept yet, and
  // keeps it.
  std::vector<std::string> answer(const std::vector<uint64_t> &Addresses);

  // Opens the separate file. Returns false if it is unusual.
  bool openDebugFile(const std::string &Path, const std::string &Id) {
    std::string Found;
    return DebugFile.open(Path.c_str()) && DebugFile.buildId(Found) &&
           Found == Id;
  }

  bool isFileOf(const Request &R) const {
    return strcmp(Query.file, R.file) == 0 &&
           strcmp(Query.build_id, R.build_id) == 0 &&
           (R.build_id[0] != '\0' || Query.noted_ns == R.noted_ns);
  }

  // The file at this path is another file than the one that was loaded, so the
  // addresses have no names. In the path of a mapping, \012 may stand for a
  // line break, which is left to llvm-symbolizer's caller.
  bool hasNoNames() const {
    return IsOpen && !IsRight && strstr(Query.file, "\\012") == nullptr;
  }
};

// Appends a field of a frame. Control characters would end a field or a line of
// an output file, so they are written as octal numbers.
void putField(std::string &Out, const std::string &Field) {
  for (const char C : Field) {
    const auto U = static_cast<unsigned char>(C);
    if (U >= 0x20 && U != 0x7f) {
      Out += C;
      continue;
    }
    Out += '\\';
    for (const unsigned Unit : {64u, 8u, 1u})
      Out += static_cast<char>('0' + U / Unit % 8);
  }
}

// Returns a reply that sends the runtime to llvm-symbolizer.
std::string askLLVM() { return {MPROF_REPLY_ASK_LLVM, '\0'}; }

std::string makeReply(const Answer &A) {
  std::string Reply(1, MPROF_REPLY_KNOWN);
  if (!A.IsKnown)
    return askLLVM();
  size_t After = A.Frames.size();
  for (const Frame &F : A.Frames) {
    After--;
    if (F.Function.empty())
      continue;
    std::string Function, Path;
    putField(Function, F.Function);
    putField(Path, F.File);
    mprof_source_path(Path.data());
    constexpr char Separator = '\x1f'; // MPROF_FRAME_SEPARATOR
    std::string Rest = Separator + std::to_string(F.Line) + Separator +
                       std::to_string(F.StartLine);
    Rest += '\0';
    // The reply begins with its kind, and ends with an empty string.
    const size_t Left = MPROF_REPLY_SIZE - 1 - Reply.size();
    mprof_cut_frame(Function.data(), Path.data(),
                    mprof_cut_room(Left, After) - Rest.size() - 1);
    Reply += Function.c_str() + (Separator + std::string(Path.c_str())) + Rest;
  }
  Reply += '\0';
  return Reply;
}

std::vector<std::string>
KnownFile::answer(const std::vector<uint64_t> &Addresses) {
  std::vector<std::string> Replies(Addresses.size());
  std::vector<uint64_t> New;
  for (size_t I = 0; I < Addresses.size(); I++) {
    const std::string *K = Kept ? Kept->find(Addresses[I]) : nullptr;
    if (K == nullptr)
      New.push_back(Addresses[I]);
    else
      Replies[I] = MPROF_REPLY_KNOWN + *K;
  }
  const std::vector<Answer> OfNew =
      New.empty() ? std::vector<Answer>() : symbolize(New);
  for (size_t I = 0, N = 0; N < New.size(); I++) {
    if (Addresses[I] != New[N])
      continue;
    Replies[I] = makeReply(OfNew[N++]);
    if (Kept && Replies[I][0] == MPROF_REPLY_KNOWN)
      Kept->add(Addresses[I], Replies[I].substr(1));
  }
  return Replies;
}

bool send(const std::string &Message) {
  return ::send(Connection, Message.data(), Message.size(), MSG_NOSIGNAL) >= 0;
}

// Answers a request. Returns false if the runtime has closed the connection.
bool serve(KnownFile &K, const Request &R) {
  std::vector<uint64_t> Addresses(R.addresses, R.addresses + R.count);
  std::sort(Addresses.begin(), Addresses.end());
  Addresses.erase(std::unique(Addresses.begin(), Addresses.end()),
                  Addresses.end());
  Answer None;
  None.IsKnown = K.hasNoNames();
  const std::vector<std::string> Replies =
      K.Source != nullptr
          ? K.answer(Addresses)
          : std::vector<std::string>(Addresses.size(), makeReply(None));
  std::string Message;
  for (uint32_t I = 0; I < R.count; I++) {
    const auto At =
        std::lower_bound(Addresses.begin(), Addresses.end(), R.addresses[I]);
    const std::string &Reply =
        Replies[static_cast<size_t>(At - Addresses.begin())];
    if (Message.size() + Reply.size() > MPROF_REPLY_SIZE) {
      if (!send(Message))
        return false;
      Message.clear();
    }
    Message += Reply;
  }
  return send(Message);
}

void save(const std::vector<std::unique_ptr<KnownFile>> &Files) {
  for (const auto &K : Files)
    if (K->Kept)
      K->Kept->save();
}

KnownFile &findFile(std::vector<std::unique_ptr<KnownFile>> &Files,
                    const Request &R, const Keeping &Where) {
  for (const auto &K : Files)
    if (K->isFileOf(R))
      return *K;
  if (Files.size() == FilesMax) {
    save(Files);
    Files.erase(Files.begin());
  }
  Files.push_back(std::make_unique<KnownFile>(R, Where));
  return *Files.back();
}

// Writes new names if no request follows soon.
void saveIfIdle(const std::vector<std::unique_ptr<KnownFile>> &Files) {
  enum { SoonMs = 1 };
  pollfd P = {Connection, POLLIN, 0};
  if (poll(&P, 1, SoonMs) == 0)
    save(Files);
}

// Reads a request. Returns false at the end of the connection.
bool receive(Request &R) {
  const ssize_t N = recv(Connection, &R, sizeof(R), 0);
  if (N < static_cast<ssize_t>(offsetof(Request, addresses)))
    return false;
  R.file[sizeof(R.file) - 1] = '\0';
  R.build_id[sizeof(R.build_id) - 1] = '\0';
  return R.count <= MPROF_REQUEST_ADDRESSES && R.count > 0;
}

} // namespace
} // namespace mprof

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3 || strcmp(argv[1], MPROF_SYMBOLIZER_VERSION) != 0) {
    fputs("mprof-symbolizer: finds function names for programs that are "
          "profiled with MProf; it is not for use by hand\n",
          stderr);
    return 2;
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // a crash leaves no core file
  // A damaged file must not take the memory or the time of the program's host.
  using namespace mprof;
  const rlimit Memory = {MemoryMax, MemoryMax}, Time = {SecondsMax, SecondsMax};
#ifndef MPROF_SYMBOLIZER_TEST // a sanitizer needs more memory
  setrlimit(RLIMIT_DATA, &Memory);
#endif
  setrlimit(RLIMIT_CPU, &Time);
  // The connection may stay open after its program has ended, because another
  // process has inherited it.
  const timeval Idle = {IdleSeconds, 0};
  setsockopt(Connection, SOL_SOCKET, SO_RCVTIMEO, &Idle, sizeof(Idle));
  std::set_new_handler([] { _exit(1); });
  std::vector<std::unique_ptr<mprof::KnownFile>> Files;
  static mprof::Request R;
  signal(SIGXFSZ, SIG_IGN); // a file of the cache may be too large
  mprof::Keeping Where;
  struct stat St;
  if (argc == 3 && argv[2][0] == '/' && stat(argv[0], &St) == 0)
    Where = {argv[2], argv[0], mprof::stamp(St)};
  while (mprof::receive(R) && mprof::serve(mprof::findFile(Files, R, Where), R))
    mprof::saveIfIdle(Files);
  mprof::save(Files);
  _exit(0); // nothing to flush or to free
}
