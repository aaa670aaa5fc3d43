// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small library with an inlined function and global variables.

namespace app {
template <typename T> struct Box {
  T value;
  [[gnu::always_inline]] T get(T n) const { return value * n + 1; }
};
int queue[8];
[[gnu::noinline]] static int local(int n) {
  return Box<int>{n}.get(n + queue[1]);
}
} // namespace app
extern "C" int run(int n) { return app::local(n) + app::Box<int>{2}.get(n); }
