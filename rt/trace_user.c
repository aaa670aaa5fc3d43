// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the program itself puts into the trace: tasks, regions, messages. (Go:
// runtime/trace's NewTask, StartRegion, Log)

#include "clock.h"
#include "init.h"
#include "mprof/mprof.h"
#include "trace.h"

#include <string.h>

// --- names ---

// Texts that records name by a handle: few, and the same ones again and again.
// Found without a lock, added under one.
#define NAME_SLOTS 4096u
#define NAMES_MAX (NAME_SLOTS / 2)
#define NAME_LENGTH_MAX 255u

struct name {
  uint32_t len;
  char text[];
};

static struct {
  struct mprof_lock lock;             // guards what follows, for writers
  _Atomic uint32_t slots[NAME_SLOTS]; // handles; open addressing
  size_t len;
} names = {.lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE_BUF)};

const char *mprof_trace_name_text(uint32_t handle) {
  const struct name *n = mprof_persistent_pointer(handle);
  return n ? n->text : "";
}

static uint32_t find_name(const char *s, size_t len, size_t *slot) {
  uint64_t h = 0xcbf29ce484222325u; // FNV-1a
  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  for (*slot = (h ^ h >> 32) % NAME_SLOTS;; *slot = (*slot + 1) % NAME_SLOTS) {
    uint32_t handle =
        atomic_load_explicit(&names.slots[*slot], memory_order_acquire);
    const struct name *n = mprof_persistent_pointer(handle);
    if (!n || (n->len == len && memcmp(n->text, s, len) == 0))
      return handle;
  }
}

static uint32_t add_name_locked(const char *s, size_t len) {
  size_t slot;
  uint32_t handle = find_name(s, len, &slot);
  if (handle != 0 || names.len == NAMES_MAX)
    return handle;
  struct name *n = mprof_persistent_alloc(sizeof(*n) + len + 1);
  if (!n)
    return 0;
  n->len = (uint32_t)len;
  memcpy(n->text, s, len);
  names.len++;
  handle = mprof_persistent_handle(n);
  atomic_store_explicit(&names.slots[slot], handle, memory_order_release);
  return handle;
}

// 0 where there are too many, or no memory: then there is no name.
static uint32_t name_of(const char *s) {
  size_t slot;
  const size_t len = s ? strnlen(s, NAME_LENGTH_MAX) : 0;
  if (len == 0)
    return 0;
  uint32_t handle = find_name(s, len, &slot);
  if (handle == 0) {
    mprof_lock_acquire(&names.lock);
    handle = add_name_locked(s, len);
    mprof_lock_release(&names.lock);
  }
  return handle;
}

void mprof_trace_names_reset(void) {
  mprof_lock_reset(&names.lock);
  memset(names.slots, 0, sizeof(names.slots));
  names.len = 0;
}

// --- records ---

// Tasks of the process; 0 is the one that everything else belongs to.
static _Atomic uint64_t last_task;

// The row, of a thread that runs: what a signal handler does in the middle of a
// wait is not in the trace. True with the guard set and between enter and
// leave.
static bool begin(struct mprof_trace_row **r, uint32_t bytes) {
  if (mprof_likely(!mprof_trace_is_on()) || !mprof_guard_enter())
    return false;
  *r = mprof_trace_enter(bytes);
  if (*r && (*r)->waits_in == 0)
    return true;
  if (*r)
    mprof_trace_leave();
  mprof_guard_leave();
  return false;
}

static void end(struct mprof_trace_row *r, unsigned char *p) {
  mprof_trace_finish(r, p);
  mprof_trace_leave();
  mprof_guard_leave();
}

#define CALLER mprof_trace_stack(0, (uintptr_t)__builtin_frame_address(0))

MPROF_PUBLIC uint64_t mprof_trace_task_begin(uint64_t parent,
                                             const char *name) {
  struct mprof_trace_row *r;
  if (!begin(&r, MPROF_TRACE_RECORD_MAX))
    return 0;
  const uint64_t task =
      atomic_fetch_add_explicit(&last_task, 1, memory_order_relaxed) + 1;
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_TASK, mprof_clock_now());
  p = mprof_trace_put(p, task);
  p = mprof_trace_put(p, parent);
  p = mprof_trace_put(p, name_of(name));
  end(r, mprof_trace_put(p, CALLER));
  return task;
}

MPROF_PUBLIC void mprof_trace_task_end(uint64_t task) {
  struct mprof_trace_row *r;
  if (task == 0 || !begin(&r, MPROF_TRACE_RECORD_MAX))
    return;
  unsigned char *p =
      mprof_trace_begin(r, MPROF_TRACE_TASK_END, mprof_clock_now());
  p = mprof_trace_put(p, task);
  end(r, mprof_trace_put(p, CALLER));
}

static void put_region(struct mprof_trace_row *r, uint64_t task, bool is_end,
                       const char *name, uint32_t stack) {
  unsigned char *p =
      mprof_trace_begin(r, MPROF_TRACE_REGION, mprof_clock_now());
  p = mprof_trace_put(p, task);
  p = mprof_trace_put(p, is_end);
  p = mprof_trace_put(p, name_of(name));
  end(r, mprof_trace_put(p, stack));
}

MPROF_PUBLIC void mprof_trace_region_begin(uint64_t task, const char *name) {
  struct mprof_trace_row *r;
  if (!begin(&r, MPROF_TRACE_RECORD_MAX))
    return;
  put_region(r, task, false, name, CALLER);
}

MPROF_PUBLIC void mprof_trace_region_end(uint64_t task, const char *name) {
  struct mprof_trace_row *r;
  if (!begin(&r, MPROF_TRACE_RECORD_MAX))
    return;
  put_region(r, task, true, name, CALLER);
}

MPROF_PUBLIC void mprof_trace_log(uint64_t task, const char *key,
                                  const char *text) {
  struct mprof_trace_row *r;
  const size_t len = text ? strnlen(text, MPROF_TRACE_LOG_MAX) : 0;
  if (!begin(&r, MPROF_TRACE_RECORD_MAX + (uint32_t)len))
    return;
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_LOG, mprof_clock_now());
  p = mprof_trace_put(p, task);
  p = mprof_trace_put(p, name_of(key));
  p = mprof_trace_put(p, CALLER);
  p = mprof_trace_put(p, len);
  if (len > 0)
    memcpy(p, text, len);
  end(r, p + len);
}
