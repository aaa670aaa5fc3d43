// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If LLVM's development files are there, its demangler is linked statically. It
// also knows the names of Rust and D. Otherwise the C++ library demangles.

#include "demangle.h"

#include <cstdlib>
#include <cstring>

#ifdef MPROF_HAS_LLVM_DEMANGLE
#include "llvm/Demangle/Demangle.h"

static bool startsWith(std::string_view Name, std::string_view Prefix) {
  return Name.substr(0, Prefix.size()) == Prefix;
}

// Does what llvm::nonMicrosoftDemangle does. That function would need more of
// the C++ library.
extern "C" char *demangle(const char *Name) {
  const std::string_view Mangled(Name);
  const std::string_view Plain =
      startsWith(Mangled, ".") ? Mangled.substr(1) : Mangled;
  char *Result = nullptr;
  if (startsWith(Plain, "_Z") || startsWith(Plain, "___Z"))
    Result = llvm::itaniumDemangle(Plain);
  else if (startsWith(Plain, "_R"))
    Result = llvm::rustDemangle(Plain);
  else if (startsWith(Plain, "_D"))
    Result = llvm::dlangDemangle(Plain);
  if (Result == nullptr || Plain.size() == Mangled.size())
    return Result;
  const size_t Size = strlen(Result) + 2;
  char *Dotted = static_cast<char *>(malloc(Size));
  if (Dotted != nullptr) {
    Dotted[0] = '.';
    memcpy(Dotted + 1, Result, Size - 1);
  }
  free(Result);
  return Dotted;
}
#else
#include <cxxabi.h>

extern "C" char *demangle(const char *Name) {
  return strncmp(Name, "_Z", 2) == 0
             ? abi::__cxa_demangle(Name, nullptr, nullptr, nullptr)
             : nullptr;
}
#endif
