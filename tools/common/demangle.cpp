// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If LLVM's development files are there, its demangler is linked statically. It
// also knows the names of Rust and D. The C++ library demangles the other names
// of C++: LLVM's demangler does not understand some generic lambdas.

#include "demangle.h"

#include <cstdlib>
#include <cstring>

// <cxxabi.h> declares it, but clang 19 does not compile this header together
// with <exception> of GCC 12.
extern "C" char *__cxa_demangle(const char *Name, char *Buffer, size_t *Length,
                                int *Status);

static char *byLibrary(const char *Name) {
  return __cxa_demangle(Name, nullptr, nullptr, nullptr);
}

#ifdef MPROF_HAS_LLVM_DEMANGLE
#include "llvm/Config/llvm-config.h"
#include "llvm/Demangle/Demangle.h"

#include <string_view>

// The demanglers take C strings until LLVM 16.
#if LLVM_VERSION_MAJOR < 17
static char *itanium(std::string_view Name) {
  return llvm::itaniumDemangle(Name.data(), nullptr, nullptr, nullptr);
}
static char *rust(std::string_view Name) {
  return llvm::rustDemangle(Name.data());
}
static char *dlang(std::string_view Name) {
  return llvm::dlangDemangle(Name.data());
}
#else
static char *itanium(std::string_view Name) {
  return llvm::itaniumDemangle(Name);
}
static char *rust(std::string_view Name) { return llvm::rustDemangle(Name); }
static char *dlang(std::string_view Name) { return llvm::dlangDemangle(Name); }
#endif

static bool startsWith(std::string_view Name, std::string_view Prefix) {
  return Name.substr(0, Prefix.size()) == Prefix;
}

// Does what llvm::nonMicrosoftDemangle does. That function would need more of
// the C++ library. Plain ends where the C string Name ends. The C++ library
// does not know the names of Apple's blocks, which begin with ___Z.
extern "C" char *demangle(const char *Name) {
  const std::string_view Mangled(Name);
  const std::string_view Plain =
      startsWith(Mangled, ".") ? Mangled.substr(1) : Mangled;
  char *Result = nullptr;
  const bool IsUsual = startsWith(Plain, "_Z");
  if (IsUsual || startsWith(Plain, "___Z"))
    Result = itanium(Plain);
  else if (startsWith(Plain, "_R"))
    Result = rust(Plain);
  else if (startsWith(Plain, "_D"))
    Result = dlang(Plain);
  if (Result == nullptr && IsUsual)
    Result = byLibrary(Name + (Mangled.size() - Plain.size()));
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
extern "C" char *demangle(const char *Name) {
  return strncmp(Name, "_Z", 2) == 0 ? byLibrary(Name) : nullptr;
}
#endif
