// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations in functions, inlined functions, members, templates and
// recursion, with labels, and waits for a mutex. -DMORE adds a large block.

#include <mprof/mprof.h>

#include "../../Inputs/sync-observe.h"
#include <mutex>
#include <thread>
#include <vector>

static std::vector<void *> kept;

namespace app {
class Cache {
public:
  template <typename T> __attribute__((noinline)) T *get(int n) {
    return static_cast<T *>(make(n * sizeof(T)));
  }

private:
  __attribute__((always_inline)) void *make(size_t n) {
    kept.push_back(malloc(n));
    return kept.back();
  }
};

__attribute__((noinline)) int recurse(Cache &c, int n) {
  c.get<long>(n);
  return n ? recurse(c, n - 1) + 1 : 0;
}
} // namespace app

static std::mutex m;

int main() {
  app::Cache cache;
  app::recurse(cache, 5);
  mprof_label_set("request", "a \"quoted\" \xe2\x82\xac label");
  auto add = [&](int n) { cache.get<char>(n); };
  add(10);
#ifdef MORE
  add(1000000);
#endif
  m.lock();
  static pid_t tid;
  std::thread t([] {
    about_to_wait(&tid);
    std::lock_guard<std::mutex> guard(m);
  });
  until_waits_for(&tid, &m, sizeof(m));
  m.unlock();
  t.join();
}
