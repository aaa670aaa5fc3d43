// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps names in the user's cache directory, for the next process. The runtime
// reads them itself (kept_format.h), so that most short processes do not start
// this program.
//
// A process writes a temporary file first, which stays only if the process is
// killed meanwhile. If two processes write a file at the same time, the names
// of one of them are not kept. A file is used only if no other user can change
// it. DIRECTORY is made only in a directory of the user.

#ifndef MPROF_TOOLS_SYMBOLIZER_CACHE_H
#define MPROF_TOOLS_SYMBOLIZER_CACHE_H

#include "Cursor.h"

#include "symbolize/kept_format.h"

#include <map>
#include <string>
#include <vector>

namespace mprof {

// A file from which names come, or would come if it existed.
struct NameSource {
  std::string Path;
  uint64_t Stamp; // see kept_format.h
};

class Cache {
  const std::string Header; // says what the names are about
  std::string Name;         // of the file
  int Directory = -1;       // descriptor of DIRECTORY/mprof, or -1
  std::map<uint64_t, std::string> Names;
  size_t Size; // of the file
  bool IsChanged = false;

  void load();
  void read(Bytes File);
  bool insert(uint64_t Address, const std::string &OfAddress);

public:
  // Path is the user's cache directory. BuildId is that of the module, or "".
  // The first of the sources is the module.
  Cache(const char *Path, const char *BuildId,
        const std::vector<NameSource> &Sources);
  ~Cache();
  Cache(const Cache &) = delete;
  Cache &operator=(const Cache &) = delete;

  // Returns the names of the address, in the form of the file, or nullptr.
  const std::string *find(uint64_t Address) const;
  void add(uint64_t Address, const std::string &OfAddress);
  // Writes the file if there are new names.
  void save();
};

} // namespace mprof

#endif // MPROF_TOOLS_SYMBOLIZER_CACHE_H
