// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A service with several threads. Evaluates JavaScript that it receives by
// HTTP, in a pool of Duktape heaps behind one lock. In one place it holds this
// lock too long, which the mutex profile must show. The client is a mode of the
// same program.
//   server                       prints its port on stdout and serves on
//                                127.0.0.1 until asked to stop
//   server client PORT REQUESTS [FILE]
//                                sends REQUESTS requests, checks the answers,
//                                stops the server and prints how fast it was.
//                                Halfway it writes to FILE what the server's
//                                threads do
// The service:
//   POST /eval   {"script": "function (args) {...}", "args": any, "name": text}
//                gives {"result": any}, or 400 and {"error": text}; the name is
//                the request's label in the profiles
//   GET /pool    gives {"heaps": number, "idle": number}
//   GET /threads gives the threads profile as text
//   POST /stop   stops the server

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <duktape.h>
#include <filesystem>
#include <fstream>
#include <httplib.h>
#include <iterator>
#include <memory>
#include <mprof/mprof.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using nlohmann::json;

namespace {

constexpr int Heaps = 3;
// A connection keeps a worker busy until it is closed, so there are as many
// workers as clients. httplib lets 5 connections wait to be accepted.
constexpr int Clients = 6;
constexpr int Workers = Clients;

// Makes data that all scripts share. The data stays reachable, so each
// collection visits it.
constexpr int CatalogSize = 10000;
const char *MakeCatalog = R"(function (size) {
  catalog = {};
  for (var i = 0; i < size; i++) {
    catalog['SKU-' + i] = { price: i * 37 % 1000 + 1, tags: ['item', i] };
  }
})";
int priceOf(int sku) { return sku * 37 % 1000 + 1; }

// A region in the execution trace: names what the thread is doing.
class Region {
public:
  explicit Region(const char *name) : Name(name) {
    mprof_trace_region_begin(0, Name);
  }
  ~Region() { mprof_trace_region_end(0, Name); }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;

private:
  const char *Name;
};

// A JavaScript heap. Only one thread may use it at a time.
class Heap {
public:
  Heap() : Context(duk_create_heap_default()) {
    if (!Context)
      throw std::runtime_error("no heap");
    run(MakeCatalog, CatalogSize);
  }
  ~Heap() { duk_destroy_heap(Context); }
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  // Calls the function in SCRIPT with ARGS. Throws if the script throws.
  json run(const std::string &script, const json &args) {
    Region region("eval");
    const std::string source = "(" + script + ")";
    const std::string text = args.dump();
    duk_push_lstring(Context, source.data(), source.size());
    duk_push_lstring(Context, text.data(), text.size());
    bool failed = duk_safe_call(Context, evaluate, nullptr, 2, 1) != 0;
    size_t size;
    const char *result = duk_safe_to_lstring(Context, -1, &size);
    std::string copy(result, size);
    duk_pop(Context);
    if (failed)
      throw std::runtime_error(copy);
    return json::parse(copy);
  }

  void collectGarbage() {
    Region region("garbage");
    duk_gc(Context, 0);
  }

private:
  // Replaces a script and its JSON argument on the stack by the JSON of the
  // result. An error leaves by longjmp, so this function has no C++ objects.
  static duk_ret_t evaluate(duk_context *context, void *) {
    duk_json_decode(context, -1);
    duk_swap_top(context, -2);
    duk_eval(context);
    duk_swap_top(context, -2);
    duk_call(context, 1);
    if (duk_is_undefined(context, -1))
      duk_push_null(context);
    duk_json_encode(context, -1);
    return 1;
  }

  duk_context *Context;
};

// Lends each heap to one worker at a time.
class HeapPool {
public:
  explicit HeapPool(int size) {
    mprof_name_lock(&Lock, "pool");
    for (int i = 0; i < size; i++) {
      All.push_back(std::make_unique<Heap>());
      Idle.push_back(All.back().get());
    }
  }

  // Waits for an idle heap and returns it.
  Heap *checkOut() {
    std::unique_lock<std::mutex> guard(Lock);
    HasIdle.wait(guard, [this] { return !Idle.empty(); });
    Heap *heap = Idle.back();
    Idle.pop_back();
    return heap;
  }

  // Slow on purpose: HEAP belongs to the caller until it is in Idle, so its
  // garbage could be collected before the lock is taken. Here all other workers
  // wait for the collection.
  void checkIn(Heap *heap) {
    {
      std::lock_guard<std::mutex> guard(Lock);
      heap->collectGarbage();
      Idle.push_back(heap);
    }
    HasIdle.notify_one();
  }

  size_t idle() {
    std::lock_guard<std::mutex> guard(Lock);
    return Idle.size();
  }

private:
  std::mutex Lock; // guards Idle
  std::condition_variable HasIdle;
  std::vector<std::unique_ptr<Heap>> All;
  std::vector<Heap *> Idle;
};

// Borrows a heap until the end of the scope.
class Lease {
public:
  explicit Lease(HeapPool &pool) : Pool(pool), Lent(pool.checkOut()) {}
  ~Lease() { Pool.checkIn(Lent); }
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;

  Heap *operator->() const { return Lent; }

private:
  HeapPool &Pool;
  Heap *Lent;
};

void reply(httplib::Response &response, int status, const json &body) {
  response.status = status;
  response.set_content(body.dump(), "application/json");
}

void handleEval(HeapPool &pool, const httplib::Request &request,
                httplib::Response &response) {
  Region region("request");
  try {
    const json body = json::parse(request.body);
    const std::string name = body.value("name", "script");
    MPROF_LABELS("request", name.c_str());
    const std::string &script =
        body.at("script").get_ref<const std::string &>();
    json result = Lease(pool)->run(script, body.value("args", json()));
    reply(response, 200, {{"result", std::move(result)}});
  } catch (const std::exception &error) {
    reply(response, 400, {{"error", error.what()}});
  }
}

// Answers with the threads profile: what every thread does at this moment.
// Equal stacks are counted.
void handleThreads(const httplib::Request &, httplib::Response &response) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("server.threads." + std::to_string(getpid()));
  int error = mprof_write_profile("threads", path.c_str(), 1);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::remove(path.c_str());
  response.status = error == 0 ? 200 : 500;
  response.set_content(error == 0 ? text : std::strerror(error), "text/plain");
}

int serve() {
  HeapPool pool(Heaps);
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(Workers); };
  server.set_tcp_nodelay(true);
  // A client keeps its connection open for all requests.
  server.set_keep_alive_max_count(1000000);
  server.Post("/eval", [&pool](const httplib::Request &request,
                               httplib::Response &response) {
    handleEval(pool, request, response);
  });
  server.Get("/pool",
             [&pool](const httplib::Request &, httplib::Response &response) {
               reply(response, 200, {{"heaps", Heaps}, {"idle", pool.idle()}});
             });
  server.Get("/threads", handleThreads);
  server.Post("/stop",
              [&server](const httplib::Request &, httplib::Response &response) {
                reply(response, 200, json::object());
                server.stop();
              });

  int port = server.bind_to_any_port("127.0.0.1");
  if (port < 0) {
    std::perror("server: bind");
    return 1;
  }
  // The kernel queues connections from here on, so clients may come.
  std::printf("%d\n", port);
  std::fflush(stdout);
  return server.listen_after_bind() ? 0 : 1;
}

// A request and the answer that it must have.
struct Task {
  std::string Body;
  json Expected;
};

// Makes an invoice: the script looks up each line in the catalog.
Task makeInvoice(std::minstd_rand &random) {
  const char *script = R"(function (lines) {
    return lines.map(function (line) {
      return { sku: line.sku, total: line.n * catalog[line.sku].price };
    }).reduce(function (sum, line) { return sum + line.total; }, 0);
  })";
  json lines = json::array();
  long total = 0;
  for (int i = 0; i < 300; i++) {
    int sku = int(random() % CatalogSize), n = 1 + int(random() % 9);
    lines.push_back({{"sku", "SKU-" + std::to_string(sku)}, {"n", n}});
    total += long(n) * priceOf(sku);
  }
  return {json{{"name", "invoice"}, {"script", script}, {"args", lines}}.dump(),
          total};
}

// Makes statistics: the script sorts numbers.
Task makeStatistics(std::minstd_rand &random) {
  const char *script = R"(function (values) {
    values.sort(function (a, b) { return a - b; });
    return { min: values[0], median: values[values.length >> 1],
             max: values[values.length - 1] };
  })";
  std::vector<int> values;
  for (int i = 0; i < 300; i++)
    values.push_back(int(random() % 100000));
  std::string body =
      json{{"name", "statistics"}, {"script", script}, {"args", values}}.dump();
  std::sort(values.begin(), values.end());
  return {std::move(body),
          {{"min", values.front()},
           {"median", values[values.size() / 2]},
           {"max", values.back()}}};
}

// Saves what the service's threads do. Returns whether a request is being
// handled and has its label already; if not, another moment shows more.
bool saveThreads(httplib::Client &client, const char *file) {
  auto result = client.Get("/threads");
  if (!result || result->status != 200)
    return false;
  std::ofstream(file) << result->body;
  return result->body.find("{\"request\":") != std::string::npos;
}

// Sends requests until none is left. Returns the number of wrong answers. If
// file is not null, saves there what the threads do when half of the requests
// are left.
int sendRequests(int port, unsigned seed, std::atomic<int> &left, int half,
                 const char *file) {
  httplib::Client client("127.0.0.1", port);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  client.set_read_timeout(60);
  std::minstd_rand random(seed);
  int wrong = 0;
  for (int n = left--; n > 0; n = left--) {
    Task task = n % 2 ? makeInvoice(random) : makeStatistics(random);
    auto result = client.Post("/eval", task.Body, "application/json");
    wrong += !result || result->status != 200 ||
             json::parse(result->body).at("result") != task.Expected;
    if (n % 8 == 0) {
      auto pool = client.Get("/pool");
      wrong += !pool || json::parse(pool->body).at("heaps") != Heaps;
    }
    if (file && n <= half && saveThreads(client, file))
      file = nullptr;
  }
  return wrong;
}

int drive(int port, int requests, const char *file) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> left = requests;
  std::atomic<int> wrong = 0;
  Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < Clients; i++)
    threads.emplace_back([&, i] {
      wrong += sendRequests(port, i + 1, left, requests / 2,
                            i == 0 ? file : nullptr);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::chrono::duration<double> seconds = Clock::now() - start;

  httplib::Client client("127.0.0.1", port);
  auto failed =
      client.Post("/eval", R"js({"script": "function () { throw 'no'; }"})js",
                  "application/json");
  wrong += !failed || failed->status != 400;
  wrong += !client.Post("/stop");
  std::printf("%d requests on %d connections, %d wrong: %.0f requests/s\n",
              requests, Clients, wrong.load(), requests / seconds.count());
  return wrong != 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc == 1)
      return serve();
    if ((argc == 4 || argc == 5) && std::string(argv[1]) == "client")
      return drive(std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: server [client PORT REQUESTS [FILE]]\n");
  return 2;
}
