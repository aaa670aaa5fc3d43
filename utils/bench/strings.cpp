// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A word count by std::string, whose memory the C++ library allocates: builds
// lines, takes them apart, counts the words in a map and joins them again. A
// step is a line.
//
//   strings STEPS REPEATS

#include "bench.h"

#include <map>
#include <sstream>
#include <string>
#include <vector>

static std::string line_of(unsigned seed) {
  std::string line;
  for (int i = 0; i < 12; i++) {
    seed = seed * 1103515245 + 12345;
    line += "a word with the number " + std::to_string(seed >> 16 & 255);
    line += i % 3 ? ", " : "; ";
  }
  return line;
}

// libc's memchr takes more instructions if the string crosses a cache line. The
// alignment keeps this equal in all variants.
alignas(64) static const char separators[] = ",;";

static std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> words;
  size_t begin = 0;
  for (size_t at;
       (at = line.find_first_of(separators, begin)) != std::string::npos;
       begin = at + 2)
    words.push_back(line.substr(begin, at - begin));
  return words;
}

static void loop(int thread, long steps, long) {
  std::map<std::string, int> counts;
  std::string all;
  for (long k = 0; k < steps; k++) {
    std::istringstream in(line_of((unsigned)k + (unsigned)thread));
    std::string line;
    std::getline(in, line);
    for (auto &word : split(line)) {
      counts[word]++;
      all += word;
    }
    if (all.size() > 100000) {
      bench_sink(all.data());
      all = std::string();
    }
  }
  bench_sink(&counts);
}

int main(int argc, char **argv) {
  static struct bench b = {};
  b.loop = loop;
  b.threads = 1;
  b.steps = bench_arg(argc, argv, 1);
  b.repeats = (int)bench_arg(argc, argv, 2);
  bench_run(&b);
  return 0;
}
