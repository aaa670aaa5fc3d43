// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes frames of standard libraries; see report.h.

#include "write/report.h"

#include "symbolize/short_name.h"

#include <string.h>

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool starts_with_any(const char *s, const char *const *prefixes) {
  for (; *prefixes != NULL; prefixes++)
    if (starts_with(s, *prefixes))
      return true;
  return false;
}

bool mprof_is_std_module(const char *file) {
  // The names end where those of other libraries differ, such as
  // libpthreadpool.so and ld-linux-demo.
  static const char *const libraries[] = {
      "libc.so",   "libpthread.so", "libstdc++.so",
      "libc++.so", "libc++abi.so",  "libgcc_s.so",
      NULL};
  static const char *const old[] = {"libc-2.", "libpthread-2.", "ld-2.", NULL};
  // Libraries of other languages: D, Fortran, Go by GCC, Rust.
  static const char *const others[] = {
      "libgphobos.so",   "libgdruntime.so", "libphobos2",
      "libdruntime-ldc", "libgfortran.so",  "libquadmath.so",
      "libgo.so",        "libstd-",         NULL};
  static const char *const loaders[] = {"ld-linux.so.", "ld-linux-", "ld-musl-",
                                        NULL};
  const char *slash = strrchr(file, '/');
  const char *name = slash == NULL ? file : slash + 1;
  if (starts_with_any(name, libraries)) {
    const char *end = strstr(name, ".so") + 3;
    return *end == '\0' || *end == '.';
  }
  return starts_with_any(name, old) || starts_with_any(name, others) ||
         (starts_with_any(name, loaders) && strstr(name, ".so.") != NULL);
}

// Returns whether the path has the part `last` behind the part `first`.
static bool has_parts(const char *path, const char *first, const char *last) {
  const char *found = strstr(path, first);
  return found != NULL && strstr(found, last) != NULL;
}

// Returns whether file is a source file of a library that compilers bring.
static bool is_std_source(const char *file) {
  // C++: /usr/include/c++/12/vector, /usr/lib/llvm-19/include/c++/v1/vector
  return has_parts(file, "/include/", "/c++/") ||
         // /rustc/HASH/library/core/src/option.rs, and in Debian
         // /usr/src/rustc-1.63.0/library; then crates that the library uses
         has_parts(file, "/rustc", "/library/") ||
         has_parts(file, "/rustlib/src/rust/", "/library/") ||
         starts_with(file, "/rust/deps/") ||
         // D: /usr/lib/gcc/x86_64-linux-gnu/12/include/d/std/array.d
         has_parts(file, "/include/d/", ".d") ||
         // /usr/lib/zig/lib/std/heap.zig
         has_parts(file, "/lib/std/", ".zig") ||
         // Go
         strstr(file, "/go/src/runtime/") != NULL ||
         strstr(file, "/GOROOT/src/runtime/") != NULL ||
         has_parts(file, "/go-1.", "/src/runtime/");
}

// Returns whether file is the name of a part of a Rust crate, which the symbol
// table has in place of a source file.
static bool is_codegen_unit(const char *file) {
  return strstr(file, "-cgu.") != NULL;
}

// Returns the demangled function name `name` without the result type, with
// which the names of template functions begin.
//   "void std::f<int, long>(int)"  ->  "std::f<int, long>(int)"
static const char *without_result(const char *name) {
  int depth = 0; // nesting of template arguments
  const char *start = name;
  for (const char *p = name; *p != '\0' && (depth > 0 || *p != '('); p++) {
    depth += *p == '<';
    depth -= *p == '>';
    if (depth == 0 && *p == ' ' && !starts_with(start, "operator"))
      start = p + 1;
  }
  return start;
}

// --- names of Rust ---

static bool is_of_rust_library(const char *path) {
  static const char *const crates[] = {
      "core::", "alloc::", "std::", "hashbrown::", "__rustc::", NULL};
  return starts_with_any(path, crates);
}

// Returns the trait in "<Type as Trait>::function", or NULL.
static const char *trait_of(const char *name) {
  int depth = 0;
  for (const char *p = name; *p != '\0'; p++) {
    depth += *p == '<';
    depth -= *p == '>' && p[-1] != '-';
    if (depth <= 0)
      return NULL;
    if (depth == 1 && starts_with(p, " as "))
      return p + strlen(" as ");
  }
  return NULL;
}

// Returns whether the type of Rust is one of the program: its path has another
// crate than the library's. The path follows characters such as "&mut [".
static bool is_type_of_program(const char *type) {
  static const char *const before[] = {"&",    "(",    "[", "*const ", "*mut ",
                                       "mut ", "dyn ", "<", NULL};
  while (starts_with_any(type, before))
    type += strcspn(type, "&([< ") + 1;
  const char *end = type;
  while (mprof_is_word(*end))
    end++;
  return starts_with(end, "::") && !is_of_rust_library(type);
}

// Returns whether the name has a list of parameters, as in C++.
static bool has_parameters(const char *name) {
  char none[1];
  struct mprof_text t = MPROF_TEXT(none);
  return mprof_short_name(&t, name, 0);
}

// Returns whether `name` is a function of Rust's library. Parameters of types
// have no crate, so "<T as core::ops::Fn>::call" is such a function.
static bool is_rust_library(const char *name) {
  static const char *const symbols[] = {"__rust_", "__rdl_", "rust_begin_",
                                        "rust_panic", NULL};
  if (*name != '<')
    // C++ also has namespaces of these names, but its functions have
    // parameters.
    return starts_with_any(name, symbols) ||
           (is_of_rust_library(name) && !has_parameters(name));
  // Other languages have names such as "<module>".
  const char *trait = trait_of(name);
  return strstr(name, ">::") != NULL && !is_type_of_program(name + 1) &&
         (trait == NULL || is_of_rust_library(trait));
}

bool mprof_is_std_frame(const struct mprof_frame *f) {
  static const char *const names[] = {"std::", "__gnu_cxx::", "operator new",
                                      "operator delete", NULL};
  if (f->is_library && mprof_is_std_module(f->module))
    return true;
  if (f->file[0] != '\0' && !is_codegen_unit(f->file))
    return is_std_source(f->file);
  return starts_with_any(without_result(f->function), names) ||
         is_rust_library(f->function);
}
