// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See thread_pause.h.

#include "thread_stacks/thread_pause.h"

#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <limits.h>

unsigned mprof_pause_ms = 250;
enum { WATCH_MS = 2 };

static struct {
  // An odd number while threads that answer pause, an even number otherwise.
  // Only the reader changes it.
  atomic_uint round;
  atomic_bool has_watcher; // a thread watches for the end of this round
  // Threads pause by waiting for a change of one of these words. The next round
  // uses the other word, because some threads may not run again before it.
  atomic_uint lines[2];
} pauses;

// Returns the number of processors on which the threads may run, after adding
// those of thread tid. Returns UINT_MAX if the kernel does not tell.
static unsigned add_processors(struct mprof_asked *a, int tid) {
  uint64_t of_tid[sizeof(a->processors) / sizeof(a->processors[0])] = {0};
  if (!mprof_sys_affinity(tid, of_tid, sizeof(of_tid)))
    return UINT_MAX;
  unsigned n = 0;
  for (size_t i = 0; i < sizeof(of_tid) / sizeof(of_tid[0]); i++) {
    a->processors[i] |= of_tid[i];
    n += (unsigned)__builtin_popcountll(a->processors[i]);
  }
  return n;
}

bool mprof_pause_asked(struct mprof_asked *a, int tid) {
  a->threads++;
  if (atomic_load(&pauses.round) % 2 != 0 ||
      a->threads <= add_processors(a, tid))
    return false;
  atomic_store(&pauses.has_watcher, false);
  atomic_fetch_add(&pauses.round, 1);
  return true;
}

// Wakes no thread, because the kernel may let a woken thread run at once, in
// place of the reader, whose call would then last many time slices longer.
void mprof_pause_end(void) {
  const unsigned round = atomic_load(&pauses.round);
  if (round % 2 != 0)
    atomic_store(&pauses.round, round + 1);
}

void mprof_pause_reset(void) { atomic_fetch_and(&pauses.round, ~1u); }

// Waits until `round` is over. The first thread that pauses is the watcher: it
// looks every WATCH_MS. At the end of the round, it wakes two other threads,
// each of which wakes two others.
static void wait_for_end(unsigned round) {
  atomic_uint *line = &pauses.lines[round / 2 % 2];
  const unsigned value = atomic_load(line);
  if (atomic_exchange(&pauses.has_watcher, true))
    mprof_sys_futex_wait_ms(line, value, mprof_pause_ms);
  else
    for (unsigned ms = 0;
         ms < mprof_pause_ms && atomic_load(&pauses.round) == round;
         ms += WATCH_MS)
      mprof_sys_sleep_ms(WATCH_MS);
  atomic_fetch_add(line, 1);
  mprof_sys_futex_wake(line);
  mprof_sys_futex_wake(line);
}

void mprof_pause(void) {
  struct mprof_thread *t = mprof_tls.self;
  const unsigned round = atomic_load(&pauses.round);
  if (!t || mprof_tls.held != 0 || round % 2 == 0)
    return;
  atomic_store(&t->is_pausing, true);
  wait_for_end(round);
  atomic_store(&t->is_pausing, false);
}
