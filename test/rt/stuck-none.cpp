// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is not stuck if another thread can reach the condition or
// semaphore that it waits for. The address may be in globals, in a thread's
// stack, registers or thread-local memory, or in heap blocks of all sizes and
// arenas. It may be in mapped or shared memory, and it may have a tag. Or only
// epoll or a timer may have the address, which they will return later. In the
// end, the test wakes all threads, so it has not lost any address.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for level in -O0 -O2; do \
// RUN:   %mprof_clangxx -fmprof $level -g1 %s -o app && \
// RUN:   %run{stuck=1:stuck_report=1} timeout 600 ./app 5 && \
// RUN:   FileCheck %s < last.txt || exit 1; done
// RUN: not ls mprof.app.*.stuck.txt
//
// CHECK: Total: 0 threads
// CHECK-NOT: not checked
// CHECK: SUMMARY: MProf: threadleak: 0 threads, 0 certain, 0 likely, 0 cycles

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mprof/mprof.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <queue>
#include <semaphore.h>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>
struct Gate {
  std::mutex m;
  std::condition_variable c;
  bool open = false;
  char pad[64];
  void wait() {
    std::unique_lock<std::mutex> l(m);
    while (!open)
      c.wait(l);
  }
  void go() {
    std::lock_guard<std::mutex> l(m);
    open = true;
    c.notify_all();
  }
};
static std::atomic<int> stop;
static std::atomic<uintptr_t> tagged;
static void nap() { usleep(20000); }
static Gate global;
static Gate *root;
static sem_t *keep;
static std::map<int, std::function<void()>> handlers;
static thread_local Gate *tls_gate;
static int ep;
static std::atomic<Gate *> tgate;
static timer_t timer;
int main(int argc, char **argv) {
  std::vector<std::thread> all;
  all.emplace_back([] { global.wait(); });
  auto local = std::make_unique<Gate>();
  all.emplace_back([g = local.get()] { g->wait(); });
  // Thread-local memory.
  {
    Gate *g = new Gate;
    all.emplace_back([g] { g->wait(); });
    all.emplace_back([g] {
      tls_gate = g;
      while (!stop)
        nap();
      tls_gate->go();
    });
  }
  // A shared_ptr in a thread's lambda; the thread is in poll.
  {
    auto g = std::make_shared<Gate>();
    all.emplace_back([g] { g->wait(); });
    all.emplace_back([g] {
      while (!stop)
        poll(nullptr, 0, 20);
      g->go();
    });
  }
  // A semaphore in mapped memory that only a spinning thread knows, in a
  // register or on its stack.
  {
    sem_t *s = (sem_t *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sem_init(s, 0, 0);
    all.emplace_back([s] { sem_wait(s); });
    all.emplace_back([s] {
      while (!stop)
        for (volatile int i = 0; i < 1000; i = i + 1) {
        }
      sem_post(s);
    });
  }
  // A large block.
  {
    char *b = (char *)calloc(1, 1 << 20);
    sem_t *s = (sem_t *)(b + 700000);
    sem_init(s, 0, 0);
    all.emplace_back([s] { sem_wait(s); });
    all.emplace_back([b] {
      while (!stop)
        for (volatile int i = 0; i < 1000; i = i + 1) {
        }
      sem_post((sem_t *)(b + 700000));
    });
  }
  // Another arena.
  {
    Gate *g;
    std::thread t([&g] { g = new Gate; });
    t.join();
    all.emplace_back([g] { g->wait(); });
    all.emplace_back([h = std::vector<Gate *>{g}] {
      while (!stop)
        nap();
      h[0]->go();
    });
  }
  // Only epoll has the address.
  ep = epoll_create1(0);
  int ev = eventfd(0, 0);
  {
    struct R {
      Gate g;
    };
    R *r = new R;
    all.emplace_back([r] { r->g.wait(); });
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.ptr = r;
    epoll_ctl(ep, EPOLL_CTL_ADD, ev, &e);
    all.emplace_back([] {
      epoll_event e;
      while (epoll_wait(ep, &e, 1, -1) != 1) {
      }
      ((R *)e.data.ptr)->g.go();
    });
  }
  // An address with a tag.
  {
    Gate *g = new Gate;
    all.emplace_back([g] { g->wait(); });
    tagged = (uintptr_t)g | (uintptr_t)0x1234 << 48;
  }
  // A chain: a global has the address of b's gate. The thread that waits there
  // can open a's gate.
  {
    struct Node {
      Gate g;
      Node *next = nullptr;
    };
    auto *a = new Node;
    auto *b = new Node;
    b->next = a;
    root = &b->g;
    all.emplace_back([a] { a->g.wait(); });
    all.emplace_back([b] {
      b->g.wait();
      b->next->g.go();
    });
  }
  // Only a waiting thread, which another thread can wake, has the address.
  {
    auto *a = new Gate;
    static Gate first;
    all.emplace_back([a] { a->wait(); });
    all.emplace_back([a] {
      first.wait();
      a->go();
    });
    static bool f;
    (void)f;
    all.emplace_back([] {
      while (!stop)
        nap();
      first.go();
    });
  }
  // A condition on the stack of a running thread.
  {
    static std::atomic<Gate *> *slot = new std::atomic<Gate *>;
    all.emplace_back([] {
      Gate g;
      slot->store(&g);
      std::thread t([] { slot->load()->wait(); });
      while (!stop)
        nap();
      g.go();
      t.join();
    });
  }
  // Shared memory.
  {
    sem_t *s = (sem_t *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(s, 1, 0);
    keep = s;
    all.emplace_back([s] { sem_wait(s); });
  }
  // A std::function in a map.
  {
    auto *g = new Gate;
    handlers[3] = [g] { g->go(); };
    all.emplace_back([g] { g->wait(); });
  }
  // Only a timer has the address.
  {
    auto *g = new Gate;
    sigevent se{};
    se.sigev_notify = SIGEV_SIGNAL;
    se.sigev_signo = SIGUSR2;
    se.sigev_value.sival_ptr = g;
    struct sigaction sa{};
    sa.sa_flags = SA_SIGINFO;
    sa.sa_sigaction = [](int, siginfo_t *i, void *) {
      tgate = (Gate *)i->si_value.sival_ptr;
    };
    sigaction(SIGUSR2, &sa, nullptr);
    timer_create(CLOCK_MONOTONIC, &se, &timer);
    itimerspec its{{0, 0}, {1000, 0}};
    timer_settime(timer, 0, &its, nullptr);
    all.emplace_back([g] { g->wait(); });
  }
  {
    char b[20000];
    memset(b, 0, sizeof b);
    __asm__ volatile("" ::"r"(b) : "memory");
  }
  int rounds = argc > 1 ? atoi(argv[1]) : 20, bad = 0;
  static mprof_stack_record r[256];
  size_t n = 0;
  usleep(200000); // most threads wait then
  for (int i = 0; i < rounds; i++) {
    int e = mprof_thread_leak_profile(r, 256, &n);
    if (e || n) {
      bad++;
      mprof_write_profile("threadleak", "bad.txt", 2);
    }
    usleep(1000);
  }
  // On a busy machine, a thread may not answer in time.
  for (int i = 0; i < 100; i++) {
    mprof_write_profile("threadleak", "last.txt", 2);
    std::ifstream last("last.txt");
    const std::string text(std::istreambuf_iterator<char>(last), {});
    if (text.find("not checked") == text.npos)
      break;
  }
  printf("bad %d of %d\n", bad, rounds);
  fflush(stdout);
  stop = 1;
  global.go();
  local->go();
  eventfd_write(ev, 1);
  ((Gate *)(tagged & 0xffffffffffff))->go();
  root->go();
  sem_post(keep);
  handlers[3]();
  itimerspec now{{0, 0}, {0, 1}};
  timer_settime(timer, 0, &now, nullptr);
  while (!tgate)
    nap();
  tgate.load()->go();
  for (auto &t : all)
    t.join();
  puts("all ended");
  return bad != 0;
}
