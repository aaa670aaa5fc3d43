// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: frames of the libraries that compilers bring are recognized by their
// module, by their source file, or by their name if no source file is known.
// Functions of the program are not, also if they have a similar path or name.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "write/report.h"

static bool is_std(const char *function, const char *file) {
  const struct mprof_frame f = {
      .function = function, .file = file, .module = "app"};
  return mprof_is_std_frame(&f);
}

static bool is_std_library(const char *module) {
  const struct mprof_frame f = {
      .function = "f", .file = "", .module = module, .is_library = true};
  return mprof_is_std_frame(&f);
}

int main(void) {
  static const char *const files[] = {
      "/usr/include/c++/12/bits/stl_vector.h",
      "/usr/lib/llvm-19/include/c++/v1/vector",
      "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/"
      "option.rs",
      "/usr/src/rustc-1.63.0/library/std/src/thread/mod.rs",
      "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/"
      "src/vec/mod.rs",
      "/rust/deps/hashbrown-0.16.1/src/map.rs",
      "/usr/lib/gcc/x86_64-linux-gnu/12/include/d/std/array.d",
      "/usr/lib/zig/lib/std/heap.zig",
      "/usr/local/go/src/runtime/proc.go",
      "/_/GOROOT/src/runtime/cgo/gcc_libinit.c",
      "/usr/lib/go-1.19/src/runtime/proc.go",
  };
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    CHECK(is_std("f", files[i]));
  static const char *const own_files[] = {
      "/home/me/library/core/src/a.rs",
      "/home/me/.cargo/registry/src/index.crates.io-1/hashbrown-0.16.1/src/"
      "map.rs",
      "/home/me/include/app.h",
      "/home/me/lib/std/heap.c",
      "/home/me/src/runtime/main.c",
  };
  for (size_t i = 0; i < sizeof(own_files) / sizeof(own_files[0]); i++)
    CHECK(!is_std("std::f()", own_files[i]));
  static const char *const names[] = {
      "std::vector<int>::push_back(int const&)",
      "alloc::alloc::alloc",
      "core::ptr::drop_in_place<(alloc::string::String, u8)>",
      "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
      "<T as alloc::string::ToString>::to_string",
      "<&mut [u8] as core::fmt::Debug>::fmt",
      "<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()>> as "
      "core::ops::function::FnOnce<()>>::call_once",
      "<fn() -> i32 as core::ops::function::FnOnce<()>>::call_once",
      "<[u8]>::copy_within",
      "__rust_alloc",
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    CHECK(is_std(names[i], ""));
    CHECK(is_std(names[i], "std.4dd80272b5a2d1fc-cgu.1"));
  }
  static const char *const own_names[] = {
      "core::Engine::run(int)",
      "alloc::Pool::get(unsigned long) const",
      "<app::Point as core::fmt::Display>::fmt",
      "<&app::Point as core::fmt::Debug>::fmt",
      "<alloc::vec::Vec<T> as app::Make>::make",
      "<T as app::Make>::make",
      "app::main::{{closure}}",
      "<module>",
  };
  for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
    CHECK(!is_std(own_names[i], ""));
  CHECK(is_std_library("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  CHECK(is_std_library("/home/me/lib/libstd-4dd80272b5a2d1fc.so"));
  CHECK(is_std_library("/usr/lib/libphobos2-ldc-shared.so.100"));
  CHECK(!is_std_library("/usr/lib/libpthreadpool.so.0"));
}
