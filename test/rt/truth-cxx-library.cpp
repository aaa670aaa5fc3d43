// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each block that a C++ program and its C++ library allocate is counted
// once, with its size. No freed block counts as in use. This holds with
// libstdc++ and libc++. In sampled mode the program runs without error.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -shared -fPIC -fno-builtin -I%src/include \
// RUN:   %S/Inputs/ground_truth.c -o truth.so
// RUN: for lib in %stdlibs; do \
// RUN:   %mprof_clangxx -fmprof -O1 -std=c++17 -stdlib=$lib -I%S/Inputs %s -o $lib \
// RUN:     || exit 1; \
// RUN:   %run_quiet{heap_rate=0} LD_PRELOAD=$PWD/truth.so ./$lib || exit 1; \
// RUN:   %run_quiet{heap_rate=65536:seed=3} ./$lib || exit 1; done

#include "ground_truth.h"

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Node {
  std::string name;
  std::vector<std::shared_ptr<Node>> children;
};

static std::shared_ptr<Node> grow(int depth) {
  auto n = std::make_shared<Node>();
  n->name = "a node whose name is long enough to be allocated " +
            std::to_string(depth);
  for (int i = 0; i < depth; i++)
    n->children.push_back(grow(depth - 1));
  return n;
}

static void strings() {
  std::map<std::string, std::string> m;
  std::unordered_map<int, std::string> u;
  for (int i = 0; i < 500; i++) {
    std::string key =
        "key number " + std::to_string(i) + std::string(i % 40, '-');
    m[key] = key + key;
    u.emplace(i, key);
    m.erase("key number " + std::to_string(i / 2));
  }
  std::string all;
  for (auto &kv : m)
    all += kv.second;
  all.shrink_to_fit();
  std::multiset<std::string> words;
  std::istringstream in(all);
  for (std::string w; in >> w;)
    words.insert(w);
}

static void streams() {
  {
    std::ofstream out("lines");
    for (int i = 0; i < 1000; i++)
      out << "line " << i << ' ' << 1.5 * i << '\n';
  }
  std::ifstream in("lines");
  std::vector<std::string> lines;
  for (std::string l; std::getline(in, l);)
    lines.push_back(l);
  std::cout << lines.size() << " lines" << std::endl;
}

static void exceptions() {
  std::function<int(int)> f = [big = std::string(300, 'x')](int i) -> int {
    if (i % 3 == 0)
      throw std::runtime_error("a message that is allocated " + big);
    return (int)big.size();
  };
  int caught = 0;
  for (int i = 0; i < 60; i++) {
    try {
      f(i);
    } catch (const std::exception &e) {
      caught++;
    }
  }
  auto p = std::make_exception_ptr(std::out_of_range("kept"));
  auto *aligned = new (std::align_val_t(256)) char[1000];
  operator delete[](aligned, std::align_val_t(256));
  delete[] new (std::nothrow) std::string[7];
}

int main() {
  truth_begin();
  auto tree = grow(5);
  strings();
  streams();
  exceptions();
  std::vector<std::thread> threads;
  std::vector<std::string> shared;
  std::mutex lock;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; i++) {
        std::string s(100 + i, 'a' + t);
        std::lock_guard<std::mutex> guard(lock);
        shared.push_back(s);
        if (i % 2)
          shared.erase(shared.begin());
      }
    });
  for (auto &t : threads)
    t.join();
  return 0;
}
