// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GCC's libiberty demangles the names of Rust and D. If LLVM's development
// files are there, its demangler is linked statically, for C++. The C++ library
// demangles the other names of C++: LLVM's demangler does not understand some
// generic lambdas.

#include "demangle.h"

#include <cstdlib>
#include <cstring>

// <cxxabi.h> declares it, but clang 19 does not compile this header together
// with <exception> of GCC 12.
extern "C" char *__cxa_demangle(const char *Name, char *Buffer, size_t *Length,
                                int *Status);

// <libiberty/demangle.h> declares them, but needs a configured program.
extern "C" char *rust_demangle(const char *Name, int Options);
extern "C" char *dlang_demangle(const char *Name, int Options);

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
#else
static char *itanium(std::string_view Name) {
  return llvm::itaniumDemangle(Name);
}
#endif

// The C++ library does not know the names of Apple's blocks, which begin with
// ___Z.
static char *cxx(const char *Name) {
  char *Result = itanium(Name);
  return Result == nullptr && Name[1] == 'Z' ? byLibrary(Name) : Result;
}
#else
static char *cxx(const char *Name) { return byLibrary(Name); }
#endif

// Returns the name of a procedure of a Fortran module as gdb prints it:
// "__module_MOD_procedure" is module::procedure.
static char *fortran(const char *Name) {
  static const char Mark[] = "_MOD_";
  const char *End = strstr(Name + 2, Mark);
  char *Result = End == nullptr ? nullptr : strdup(Name + 2);
  if (Result == nullptr)
    return nullptr;
  char *Colons = Result + (End - Name - 2);
  Colons[0] = Colons[1] = ':';
  strcpy(Colons + 2, End + sizeof(Mark) - 1);
  return Result;
}

static char *undotted(const char *Name) {
  char *Result = nullptr;
  if (strncmp(Name, "_R", 2) == 0 || strncmp(Name, "_ZN", 3) == 0)
    Result = rust_demangle(Name, 0);
  else if (strncmp(Name, "_D", 2) == 0)
    Result = dlang_demangle(Name, 0);
  else if (strncmp(Name, "__", 2) == 0)
    Result = fortran(Name);
  const bool IsCxx =
      strncmp(Name, "_Z", 2) == 0 || strncmp(Name, "___Z", 4) == 0;
  return Result == nullptr && IsCxx ? cxx(Name) : Result;
}

// A name of PowerPC or of XCOFF may have a dot before it.
extern "C" char *demangle(const char *Name) {
  char *Result = undotted(Name + (*Name == '.'));
  if (Result == nullptr || *Name != '.')
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
