// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the records that the program itself requests: tasks, regions and
// messages. Also adds messages with the names and the labels of threads. Owns
// the table of names to which records refer. (Go: runtime/trace's NewTask,
// StartRegion, Log)

#include "trace/trace.h"

#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"

#include <string.h>

// --- names ---

// The table of names. Records refer to a name by its handle. A program has few
// names and uses them again and again. A lookup takes no lock; adding a name
// takes names.lock.
#define NAME_SLOTS 4096u
#define NAMES_MAX (NAME_SLOTS / 2)
#define NAME_LENGTH_MAX 255u

struct name {
  uint32_t len;
  char text[];
};

// Hash table of handles; 0: free slot. names.lock guards writes. The table is
// not a field of `names`, because the file of the program would then contain
// it.
static _Atomic uint32_t name_slots[NAME_SLOTS];

static struct {
  struct mprof_lock lock; // guards len, and writes to name_slots
  size_t len;
} names = {.lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE_BUF)};

const char *mprof_trace_name_text(uint32_t handle) {
  const struct name *n = mprof_persistent_pointer(handle);
  return n ? n->text : "";
}

// Returns the handle of text s, or 0 if the text is not in the table. *slot
// receives the index of the slot that holds the text, or of the free slot for
// it.
static uint32_t find_name(const char *s, size_t len, size_t *slot) {
  const uint64_t h = mprof_hash(MPROF_HASH_EMPTY, s, len);
  for (*slot = (h ^ h >> 32) % NAME_SLOTS;; *slot = (*slot + 1) % NAME_SLOTS) {
    uint32_t handle =
        atomic_load_explicit(&name_slots[*slot], memory_order_acquire);
    const struct name *n = mprof_persistent_pointer(handle);
    if (!n || (n->len == len && memcmp(n->text, s, len) == 0))
      return handle;
  }
}

static uint32_t add_name_locked(const char *s, size_t len) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE_BUF));
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
  atomic_store_explicit(&name_slots[slot], handle, memory_order_release);
  return handle;
}

static uint32_t get_name(const char *s, size_t len) {
  size_t slot;
  uint32_t handle = find_name(s, len, &slot);
  if (handle == 0) {
    mprof_lock_acquire(&names.lock);
    handle = add_name_locked(s, len);
    mprof_lock_release(&names.lock);
    if (handle == 0)
      mprof_stat_add(MPROF_STAT_trace_names_lost, 1);
  }
  return handle;
}

// Names that the calling thread used recently, with the addresses of their
// texts in the program. If the program passes the address of a recent text
// again, the name is found by one comparison, without a hash table.
static _Thread_local struct recent_name {
  const char *s;
  const struct name *name; // NULL: none
} recent_names[4];

// Returns the handle of name s of len bytes. Returns 0, which means no name, if
// the text is empty, if the table is full, or if there is no memory.
static uint32_t name_of(const char *s, size_t len) {
  if (len == 0)
    return 0;
  struct recent_name *r = &recent_names[((uintptr_t)s >> 3) & 3];
  if (r->s != s || !r->name || r->name->len != len ||
      memcmp(r->name->text, s, len) != 0)
    *r = (struct recent_name){s, mprof_persistent_pointer(get_name(s, len))};
  return mprof_persistent_handle(r->name);
}

void mprof_trace_names_reset(void) {
  mprof_lock_reset(&names.lock);
  memset(name_slots, 0, sizeof(name_slots));
  names.len = 0;
}

// Adds a message without a task and a stack.
static void put_message(struct mprof_trace_row *r, uint64_t now, uint32_t key,
                        const char *text, size_t len) {
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_LOG, now);
  p = mprof_trace_put(p, 0);
  p = mprof_trace_put(p, key);
  p = mprof_trace_put(p, 0);
  p = mprof_trace_put(p, len);
  memcpy(p, text, len);
  mprof_trace_finish(r, p + len);
}

// --- locks ---

#define LOCK_KEY "lock.name"

void mprof_trace_put_lock_name(struct mprof_trace_row *r, uint64_t now,
                               const char *name, size_t len) {
  const uint32_t key = name_of(LOCK_KEY, sizeof(LOCK_KEY) - 1);
  if (key != 0)
    put_message(r, now, key, name, len);
}

#define CHARGE_KEY "lock.waited_ns"

uint32_t mprof_trace_charge_key(void) {
  return name_of(CHARGE_KEY, sizeof(CHARGE_KEY) - 1);
}

// --- threads without a processor ---

#define PREEMPTED_KEY "thread.preempted_ns"
#define OFF_CPU_KEY "thread.off_cpu_ns"

// Adds a message that tells for how many nanoseconds a thread that the trace
// shows as running had no processor. Its key is "thread.preempted_ns", or, if
// the thread may also have waited, "thread.off_cpu_ns". Row r has room for it.
static void put_off_cpu(struct mprof_trace_row *r, uint64_t now,
                        bool is_preempted, uint64_t ns) {
  char text[24];
  struct mprof_text t = MPROF_TEXT(text);
  const uint32_t key = is_preempted
                           ? name_of(PREEMPTED_KEY, sizeof(PREEMPTED_KEY) - 1)
                           : name_of(OFF_CPU_KEY, sizeof(OFF_CPU_KEY) - 1);
  mprof_text_dec(&t, ns);
  put_message(r, now, key, text, t.len);
}

// --- labels of threads ---

#define LABELS_KEY "labels"

uint32_t mprof_trace_labels_key(void) {
  return name_of(LABELS_KEY, sizeof(LABELS_KEY) - 1);
}

void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now) {
  unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_LABELS, now);
  r->labels = mprof_tls.labels;
  mprof_persist_note_labels(r->labels);
  mprof_trace_finish(r, mprof_trace_put(p, r->labels));
}

// Adds no record if the caller is a signal handler that has interrupted a wait;
// see mprof_trace_runs.
void mprof_trace_labels(uintptr_t frame) {
  if (!mprof_guard_enter())
    return;
  struct mprof_trace_row *r = mprof_trace_enter(2 * MPROF_TRACE_RECORD_MAX);
  const uint64_t now = mprof_clock_about();
  if (r && r->labels != mprof_tls.labels && mprof_trace_runs(r, frame, now))
    mprof_trace_put_labels(r, now);
  if (r)
    mprof_trace_leave();
  mprof_guard_leave();
}

// --- names of threads ---

// A thread may get its name late, and from another thread. Therefore the name
// is read before the thread's first wait, and again at the end of the thread or
// of the session. If the name equals the name of the program, it is not
// recorded.

// Reads the name of the calling thread without opening a file, because an open
// file would take the lowest free descriptor. The program may expect to get
// this descriptor for the next file that it opens.
static bool get_own_name(char name[MPROF_THREAD_NAME]) {
  char text[MPROF_THREAD_NAME] = "";
  struct mprof_text out = {.buf = name, .cap = MPROF_THREAD_NAME};
  mprof_sys_own_name(text);
  mprof_text_clean(&out, text, strnlen(text, sizeof(text)));
  return true;
}

static bool has_new_name(struct mprof_trace_row *r) {
  char name[MPROF_THREAD_NAME];
  r->is_named = true;
  if (!(r == mprof_tls.trace_row ? get_own_name(name)
                                 : mprof_proc_thread_name(r->tid, name)) ||
      strcmp(name, r->name) == 0)
    return false;
  strcpy(r->name, name);
  r->has_own_name = true;
  return true;
}

#define NAME_KEY "thread.name"

uint32_t mprof_trace_name_key(void) {
  return name_of(NAME_KEY, sizeof(NAME_KEY) - 1);
}

void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now) {
  if (has_new_name(r))
    put_message(r, now, mprof_trace_name_key(), r->name, strlen(r->name));
}

// --- records ---

// Number of the task that was begun last in this process. Everything outside of
// tasks belongs to task 0.
static _Atomic uint64_t last_task;

// A record that the calling thread is adding to its row.
struct record {
  // name, stack: handles of the record's name and stack.
  uint32_t name;
  uint32_t stack;
  struct mprof_trace_row *row;
  unsigned char *p;
};

// Begins a record, with room for `bytes` bytes of text. frame: frame address of
// the caller. Reads `name` before setting the recursion guard, so that a crash
// at a bad pointer happens without the guard. Returns false if no record can be
// added, for example in a signal handler that interrupts a wait. If the result
// is true, the guard is set and the caller must call end.
static bool begin(struct record *r, enum mprof_trace_type type,
                  const char *name, size_t bytes, uintptr_t frame) {
  const size_t len = name ? strnlen(name, NAME_LENGTH_MAX) : 0;
  if (!mprof_guard_enter_as(mprof_guard_of(frame)))
    return false;
  r->name = name_of(name, len);
  r->stack = mprof_trace_stack(0, frame);
  r->row = mprof_trace_enter(2 * MPROF_TRACE_RECORD_MAX + (uint32_t)bytes);
  const uint64_t now = mprof_clock_about();
  if (r->row && mprof_trace_runs(r->row, frame, now)) {
    r->p = mprof_trace_begin(r->row, type, now);
    return true;
  }
  if (r->row)
    mprof_trace_leave();
  mprof_guard_leave();
  return false;
}

static void put(struct record *r, uint64_t v) {
  r->p = mprof_trace_put(r->p, v);
}

static void end(struct record *r) {
  mprof_trace_finish(r->row, r->p);
  mprof_trace_leave();
  mprof_guard_leave();
}

#define FRAME ((uintptr_t)__builtin_frame_address(0))

MPROF_PUBLIC uint64_t mprof_trace_task_begin(uint64_t parent,
                                             const char *name) {
  struct record r;
  if (mprof_likely(!mprof_trace_is_on()) ||
      !begin(&r, MPROF_TRACE_TASK, name, 0, FRAME))
    return 0;
  const uint64_t task =
      atomic_fetch_add_explicit(&last_task, 1, memory_order_relaxed) + 1;
  put(&r, task);
  put(&r, parent);
  put(&r, r.name);
  put(&r, r.stack);
  mprof_slow_task_begin(task, r.name, r.row->ticks);
  end(&r);
  return task;
}

MPROF_PUBLIC void mprof_trace_task_end(uint64_t task) {
  struct record r;
  if (mprof_likely(!mprof_trace_is_on()) || task == 0 ||
      !begin(&r, MPROF_TRACE_TASK_END, NULL, 0, FRAME))
    return;
  put(&r, task);
  put(&r, r.stack);
  mprof_slow_task_end(task, r.row->ticks);
  end(&r);
}

static void put_region(uint64_t task, bool is_end, const char *name,
                       uintptr_t frame) {
  struct record r;
  if (!begin(&r, MPROF_TRACE_REGION, name, 0, frame))
    return;
  put(&r, task);
  put(&r, is_end);
  put(&r, r.name);
  put(&r, r.stack);
  end(&r);
}

MPROF_PUBLIC void mprof_trace_region_begin(uint64_t task, const char *name) {
  if (mprof_unlikely(mprof_trace_is_on()))
    put_region(task, false, name, FRAME);
}

MPROF_PUBLIC void mprof_trace_region_end(uint64_t task, const char *name) {
  if (mprof_unlikely(mprof_trace_is_on()))
    put_region(task, true, name, FRAME);
}

void mprof_trace_phases(const struct mprof_trace_phase *v, size_t n) {
  struct mprof_trace_row *r =
      mprof_trace_enter((uint32_t)n * MPROF_TRACE_RECORD_MAX);
  if (!r)
    return;
  for (size_t i = 0; i < n && r->waits_in == 0; i++) {
    unsigned char *p = mprof_trace_begin(r, MPROF_TRACE_REGION, v[i].when);
    p = mprof_trace_put(p, 0);
    p = mprof_trace_put(p, v[i].is_end);
    p = mprof_trace_put(p, name_of(v[i].name, strlen(v[i].name)));
    mprof_trace_finish(r, mprof_trace_put(p, 0));
  }
  mprof_trace_leave();
}

MPROF_PUBLIC void mprof_trace_log(uint64_t task, const char *key,
                                  const char *text) {
  struct record r;
  if (mprof_likely(!mprof_trace_is_on()))
    return;
  const size_t len = text ? strnlen(text, MPROF_TRACE_LOG_MAX) : 0;
  if (!begin(&r, MPROF_TRACE_LOG, key, len, FRAME))
    return;
  put(&r, task);
  put(&r, r.name);
  put(&r, r.stack);
  put(&r, len);
  if (len > 0)
    memcpy(r.p, text, len);
  r.p += len;
  end(&r);
}

// --- threads without a processor ---
//
// With the option trace_schedule, adds messages to the trace that say for how
// long a thread that the trace shows as running had no processor.
//
// At each begin and end of a wait, the thread asks the kernel how often it was
// switched out: by the scheduler, or because it waited. If neither happened
// between two waits, it had a processor all the time. So the clock of the
// thread, which takes longer to read, is read only if it was switched out. If
// the thread has also waited, for example for a page of a file, the times of
// both are not known separately.

// Shorter times are not recorded.
#define LEAST_NS 1000u

void mprof_trace_schedule_begin(struct mprof_trace_row *r, uint64_t now) {
  if (mprof_likely(mprof_flags.trace_schedule == 0))
    return;
  const struct mprof_thread_switches s = mprof_sys_own_switches();
  // The kernel has updated the processor time when the thread waited.
  const bool has_waited =
      r->runs.switches.waits != 0 && s.waits != r->runs.switches.waits;
  r->runs.cpu_ns = has_waited ? s.cpu_ns : mprof_sys_thread_ran_ns(r->tid);
  r->runs.switches = s;
  r->runs.since = now;
}

void mprof_trace_schedule_end(struct mprof_trace_row *r, uint64_t now) {
  if (mprof_likely(mprof_flags.trace_schedule == 0))
    return;
  const uint64_t since = r->runs.since;
  bool is_certain = false, is_switched = true;
  if (r == mprof_tls.trace_row) {
    const struct mprof_thread_switches s = mprof_sys_own_switches();
    is_certain = s.waits == r->runs.switches.waits;
    is_switched = !is_certain || s.preemptions != r->runs.switches.preemptions;
    r->runs.switches = s;
  }
  r->runs.since = 0;
  if (since == 0 || now <= since || !is_switched)
    return;
  const uint64_t ran = mprof_sys_thread_ran_ns(r->tid) - r->runs.cpu_ns;
  const uint64_t took = mprof_clock_ns(now - since);
  if (took > ran + LEAST_NS)
    put_off_cpu(r, now, is_certain, took - ran);
}
