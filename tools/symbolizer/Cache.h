// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps answers in the user's cache directory. Only answers from compressed
// debug information are kept, such as about libc with the package libc6-dbg,
// because it takes up to 40 ms to decompress that file.
//
// DIRECTORY/mprof has at most Slots files of answers of at most SizeMax bytes.
// A process writes a temporary file first, which stays only if the process is
// killed meanwhile. If two processes write a file at the same time, one of them
// wins. A file is used only if no other user can change it, and if it is about
// the same two files. DIRECTORY is made only in a directory of the user.

#ifndef MPROF_TOOLS_SYMBOLIZER_CACHE_H
#define MPROF_TOOLS_SYMBOLIZER_CACHE_H

#include "Symbolizer.h"

#include <map>
#include <string>

namespace mprof {

class Cache {
  enum { Slots = 64, SizeMax = 1 << 20 };

  const std::string Header; // says what the answers are about
  std::string Name;         // of the file
  int Directory = -1;       // descriptor of DIRECTORY/mprof, or -1
  std::map<uint64_t, Answer> Answers;
  size_t Size; // of the file
  bool IsChanged = false;

  void read(Bytes File);

public:
  // Path is the user's cache directory. BuildId must not be empty. ChangedNs
  // and DebugChangedNs are the times of the last changes of the two files.
  Cache(const char *Path, const std::string &BuildId, int64_t ChangedNs,
        int64_t DebugChangedNs);
  ~Cache();
  Cache(const Cache &) = delete;
  Cache &operator=(const Cache &) = delete;

  // Returns the answer about the address, or nullptr.
  const Answer *find(uint64_t Address) const;
  void add(uint64_t Address, const Answer &A);
  // Writes the file if there are new answers.
  void save();
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_CACHE_H
