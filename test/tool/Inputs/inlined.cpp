// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program with many functions and inlined functions. It is compiled once as
// it is, and once with -DSECOND for the second half.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

int second(const std::vector<std::string> &words);

namespace app {
template <typename T> struct Box {
  T value;
  __attribute__((always_inline)) T get(int n) const {
    auto add = [&](T v) { return v + static_cast<T>(n); };
    return add(value) * add(value);
  }
};

#ifdef SECOND
static int local(const std::string &s) { return Box<long>{7}.get(s.size()); }
} // namespace app

int second(const std::vector<std::string> &words) {
  int sum = 0;
  std::map<std::string, int> counts;
  for (const std::string &w : words)
    sum += app::local(w) + counts[w]++;
  return sum;
}
#else
static int local(int n) { return Box<int>{n}.get(n); }

class Sorter {
public:
  explicit Sorter(std::vector<std::string> &words) : words(words) {}
  void run() {
    std::sort(words.begin(), words.end(),
              [](const auto &a, const auto &b) { return a.size() < b.size(); });
  }

private:
  std::vector<std::string> &words;
};
} // namespace app

int main(int argc, char **argv) {
  std::vector<std::string> words(argv, argv + argc);
  app::Sorter(words).run();
  return second(words) + app::local(argc) == 1;
}
#endif
