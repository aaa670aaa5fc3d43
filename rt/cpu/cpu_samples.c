// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples of the CPU profile, from the signal handler to the bucket; see
// cpu.h. A handler may interrupt any code, also the runtime while it holds a
// lock. So the handler takes no lock and allocates nothing: it claims a slot,
// unwinds into the slot, and marks the slot as full. The states of a slot:
//
//   FREE --handler--> WRITING --handler--> FULL --drain--> READING --> FREE
//
// (Go: profBuf, cpuProfile.add)

#include "cpu/cpu.h"

#include "bucket/bucket.h"
#include "options/flags.h"
#include "sys/context.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "trace/trace_events.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <signal.h>

enum {
  SLOTS = 512,
  WAKE_AT = SLOTS / 4, // number of full slots at which the collector wakes
  FREE = 0,
  WRITING,
  FULL,
  READING,
  // The handler unwinds on a stack of the runtime, because the one on which it
  // runs may be small: that of a coroutine, or an alternate signal stack.
  STACKS = 16,
  STACK_BYTES = 32768,
  OTHERS = 16384, // see mprof_cpu_seen_of
};

struct slot {
  uint32_t len;
  uint16_t labels;
  uint8_t end;    // enum mprof_stack_end
  uint64_t count; // periods
  uint64_t period_ns;
  bool is_traced;
  struct mprof_trace_moment moment; // valid if is_traced
  mprof_pc stack[];                 // as many as the option stack_depth
};

static struct {
  atomic_uchar states[SLOTS];
  atomic_uint next; // a handler begins here to look for a free slot
  atomic_uint full; // number of full slots
  char *memory;     // the slots; written before the first session
  size_t each;      // bytes of a slot
  struct mprof_cpu_seen *others; // as memory
} slots;

static struct {
  atomic_uchar in_use[STACKS];
  // A multiple of STACK_BYTES. Written before the first session.
  uintptr_t start;
} stacks;

static struct slot *slot_at(unsigned i) {
  return (struct slot *)(slots.memory + i * slots.each);
}

int mprof_cpu_slots_init(void) {
  if (slots.memory)
    return 0;
  slots.each = sizeof(struct slot) + mprof_flags.stack_depth * sizeof(mprof_pc);
  slots.each = (slots.each + 7) / 8 * 8;
  const size_t bytes = (STACKS + 1) * STACK_BYTES + SLOTS * slots.each;
  char *memory = mprof_os_map(bytes + OTHERS * sizeof(*slots.others));
  if (!memory)
    return -ENOMEM;
  slots.others = (void *)(memory + bytes);
  stacks.start =
      ((uintptr_t)memory + STACK_BYTES - 1) & -(uintptr_t)STACK_BYTES;
  slots.memory = (char *)stacks.start + STACKS * STACK_BYTES;
  return 0;
}

void mprof_cpu_slots_reset(void) {
  for (unsigned i = 0; i < SLOTS; i++)
    atomic_store(&slots.states[i], FREE);
  for (unsigned i = 0; i < STACKS; i++)
    atomic_store(&stacks.in_use[i], 0);
  atomic_store(&slots.full, 0);
}

// --- the handler ---

// Marks the signals of the runtime, so that those of the program's own timers
// are passed on.
#define OWN UINT64_C(0x6d704350)

uint64_t mprof_cpu_signal_value(unsigned session) {
  return OWN << 32 | session;
}

bool mprof_cpu_is_own_signal(const void *siginfo) {
  const siginfo_t *info = siginfo;
  return info->si_code == SI_TIMER &&
         (uintptr_t)info->si_value.sival_ptr >> 32 == OWN;
}

// Claims a free slot. Returns SLOTS if all are in use.
static unsigned claim(void) {
  unsigned i = atomic_load_explicit(&slots.next, memory_order_relaxed);
  for (unsigned tries = 0; tries < SLOTS; tries++, i++) {
    unsigned char expected = FREE;
    if (atomic_compare_exchange_strong(&slots.states[i % SLOTS], &expected,
                                       WRITING)) {
      atomic_store_explicit(&slots.next, i + 1, memory_order_relaxed);
      return i % SLOTS;
    }
  }
  return SLOTS;
}

static void publish(unsigned i) {
  atomic_store_explicit(&slots.states[i], FULL, memory_order_release);
  if (atomic_fetch_add(&slots.full, 1) == WAKE_AT)
    mprof_own_wake(MPROF_OWN_CPU);
}

// The thread's stack range is copied, because the unwinder may change it, and
// the interrupted code may be using the original.
static void unwind(struct slot *s, const void *context) {
  const struct mprof_registers from = mprof_context_frame(context);
  const int tid = mprof_sys_gettid();
  struct mprof_stack_range range =
      mprof_tls.self ? mprof_tls.self->range
                     : mprof_stack_range_of_thread(tid == mprof_sys_getpid());
  enum mprof_stack_end end;
  const size_t len = mprof_unwind_registers(&range, &from, tid, s->stack,
                                            mprof_flags.stack_depth, &end);
  s->len = (uint32_t)mprof_hide_own_code(s->stack, len);
  s->end = (uint8_t)end;
}

// What a stack of the runtime is used for. It is at the stack's lowest address.
struct call {
  struct slot *slot;
  const void *context;
};

static void unwind_here(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const struct call *c = (const struct call *)(here & -(uintptr_t)STACK_BYTES);
  unwind(c->slot, c->context);
}

// Unwinds on a stack of the runtime. Returns false if all are in use.
static bool unwind_elsewhere(struct slot *s, const void *context) {
  for (unsigned i = 0; i < STACKS; i++) {
    char *stack = (char *)stacks.start + i * STACK_BYTES;
    if (atomic_exchange_explicit(&stacks.in_use[i], 1, memory_order_acquire))
      continue;
    *(struct call *)stack = (struct call){s, context};
    mprof_call_on_stack(unwind_here, stack + STACK_BYTES);
    atomic_store_explicit(&stacks.in_use[i], 0, memory_order_release);
    return true;
  }
  return false;
}

// Stores a sample of `count` periods. context: the registers; NULL: the stack
// has only the function at `start`, or no function if this is 0.
static void store(uint64_t count, uint64_t period_ns, const void *context,
                  uintptr_t start) {
  const unsigned i = claim();
  if (i == SLOTS) {
    mprof_stat_add(MPROF_STAT_cpu_lost, count);
    return;
  }
  struct slot *s = slot_at(i);
  *s = (struct slot){
      .labels = mprof_tls.labels, .count = count, .period_ns = period_ns};
  s->is_traced = context && mprof_trace_moment(&s->moment);
  if (context && !unwind_elsewhere(s, context)) {
    mprof_stat_add(MPROF_STAT_cpu_lost, count);
    atomic_store(&slots.states[i], FREE);
    return;
  }
  if (!context && start != 0 && mprof_flags.stack_depth > 0) {
    s->stack[0] = start + 1; // as a return address
    s->len = 1;
  }
  publish(i);
}

struct mprof_cpu_seen *mprof_cpu_seen_of(int timer) {
  return &slots.others[(unsigned)timer % OTHERS];
}

// Returns the data of the timer that has sent the signal. Returns NULL if the
// signal is to be ignored, because it comes from a timer that the collector has
// made before the thread has made its own. (Go: validSIGPROF)
static struct mprof_cpu_seen *find_seen(const siginfo_t *info) {
  struct mprof_thread *t = mprof_tls.self;
  const unsigned own =
      t ? atomic_load_explicit(&t->cpu.timer_plus_1, memory_order_relaxed) : 0;
  if (own == 0)
    return mprof_cpu_seen_of(info->si_timerid);
  return own == (unsigned)info->si_timerid + 1 ? &t->cpu.seen : NULL;
}

// Returns how many of n periods are not in the profile yet.
static uint64_t leave_out_early(struct mprof_cpu_seen *seen, uint64_t n) {
  uint64_t early = atomic_load(&seen->early), both;
  do
    both = early < n ? early : n;
  while (!atomic_compare_exchange_weak(&seen->early, &early, early - both));
  return n - both;
}

void mprof_cpu_take_sample(const void *siginfo, const void *context,
                           uint64_t period_ns) {
  const siginfo_t *info = siginfo;
  const uint64_t missed = info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0;
  struct mprof_cpu_seen *seen = find_seen(info);
  if (!seen)
    return;
  atomic_fetch_add(&seen->periods, missed + 1);
  const uint64_t n = leave_out_early(seen, missed + 1);
  if (n == 0)
    return;
  const bool was_blocked = missed * period_ns > MPROF_CPU_BLOCKED_NS;
  store(was_blocked ? 1 : n, period_ns, context, 0);
  if (was_blocked && n > 1)
    store(n - 1, period_ns, NULL, 0);
}

void mprof_cpu_take_rest(uint64_t periods, uint64_t period_ns,
                         uintptr_t start) {
  // Many threads may end at once.
  if (atomic_load(&slots.full) > WAKE_AT)
    mprof_cpu_drain();
  store(periods, period_ns, NULL,
        periods * period_ns > MPROF_CPU_BLOCKED_NS ? 0 : start);
}

// --- buckets ---

static void add_to_bucket(const struct slot *s) {
  const struct mprof_bucket_key key = {.type = MPROF_BUCKET_CPU,
                                       .stack = s->stack,
                                       .stack_len = s->len,
                                       .end = s->end,
                                       .labels = s->labels};
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  if (!b) // the failed allocation is already counted as lost
    return;
  atomic_fetch_add_explicit(&b->cpu.samples, s->count, memory_order_relaxed);
  atomic_fetch_add_explicit(&b->cpu.ns, s->count * s->period_ns,
                            memory_order_relaxed);
  if (mprof_unlikely(s->is_traced))
    mprof_trace_sample(&s->moment, b);
}

void mprof_cpu_take_blocked(uint64_t periods, uint64_t period_ns,
                            uint16_t labels) {
  add_to_bucket(&(struct slot){
      .labels = labels, .count = periods, .period_ns = period_ns});
}

void mprof_cpu_drain(void) {
  for (unsigned i = 0; i < SLOTS; i++) {
    unsigned char expected = FULL;
    if (atomic_load_explicit(&slots.states[i], memory_order_relaxed) != FULL ||
        !atomic_compare_exchange_strong(&slots.states[i], &expected, READING))
      continue;
    add_to_bucket(slot_at(i));
    atomic_fetch_sub(&slots.full, 1);
    atomic_store_explicit(&slots.states[i], FREE, memory_order_release);
  }
}

void mprof_cpu_wait_for_samples(unsigned ms) {
  const unsigned news = mprof_own_news(MPROF_OWN_CPU);
  if (atomic_load(&slots.full) <= WAKE_AT)
    mprof_own_wait(MPROF_OWN_CPU, news, ms);
}
