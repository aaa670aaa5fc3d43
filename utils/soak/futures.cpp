// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads use futures, condition variables and shared locks of the C++ library.
// In each round some threads wait for one another's results, one of which comes
// late.

#include "soak.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

template <typename T> class Channel {
public:
  void put(T value) {
    {
      std::lock_guard<std::mutex> guard(Lock);
      Values.push(value);
    }
    HasValue.notify_one();
  }
  T get() {
    std::unique_lock<std::mutex> guard(Lock);
    HasValue.wait(guard, [this] { return !Values.empty(); });
    T value = Values.front();
    Values.pop();
    return value;
  }

private:
  std::mutex Lock;
  std::condition_variable HasValue;
  std::queue<T> Values;
};

// Sends values through a pipeline. Each stage adds 1 to a value; -1 ends the
// stage.
int sumThroughPipeline(int stages, int values) {
  std::vector<Channel<int>> channels(stages + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < stages; i++)
    threads.emplace_back([&channels, i] {
      for (int value; (value = channels[i].get()) >= 0;)
        channels[i + 1].put(value + 1);
      channels[i + 1].put(-1);
    });
  for (int i = 0; i < values; i++)
    channels[0].put(i);
  channels[0].put(-1);
  int sum = 0;
  for (int value; (value = channels[stages].get()) >= 0;)
    sum += value;
  for (std::thread &thread : threads)
    thread.join();
  return sum;
}

int sumOfFutures(int count) {
  std::shared_mutex lock;
  std::promise<int> late;
  std::shared_future<int> first = late.get_future().share();
  std::vector<std::future<int>> futures;
  int base = 1;
  for (int i = 0; i < count; i++)
    futures.push_back(std::async(std::launch::async, [&, i] {
      std::shared_lock<std::shared_mutex> guard(lock);
      return first.get() + base * i;
    }));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  late.set_value(1);
  int sum = 0;
  for (std::future<int> &future : futures)
    sum += future.get();
  std::unique_lock<std::shared_mutex> guard(lock);
  return sum;
}

int roundOfAll() {
  constexpr int Stages = 4, Values = 300, Futures = 5;
  return sumThroughPipeline(Stages, Values) ==
             Values * (Values - 1) / 2 + Stages * Values &&
         sumOfFutures(Futures) == Futures + Futures * (Futures - 1) / 2;
}

} // namespace

int main(int argc, char **argv) { return soak_run(argc, argv, roundOfAll); }
