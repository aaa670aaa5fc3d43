// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See gc_events.h. libgc calls the handler with its lock held, so nothing here
// may allocate from it or wait for a thread that does. A collection's events
// are, with what they mean for the cycle machine:
//
//   PRE_STOP_WORLD    gc_lock is taken: no thread that will be stopped has it
//   MARK_END          the world is stopped: next cycle. Objects without a mark
//                     are dead, but for those that finalizers are to see
//   POST_START_WORLD  gc_lock is released; flush
//   RECLAIM_END       finalizable objects and what they refer to were marked:
//                     those still without are freed, in the next cycle but one
//                     less than an explicit free would be (C+1); post sweep
//
// Between MARK_END and RECLAIM_END libgc's lock is held throughout, so marks
// stay as they are, and no dead object's memory is handed out again. But blocks
// of dead objects are given back: GC_is_marked would follow a header that is
// gone, so GC_base is asked first, which looks whether there is one. A
// collection that is given up has no MARK_END. (Go: gcMarkTermination,
// mProf_NextCycle, mProf_Flush, mProf_PostSweep; the sweep's mProf_Free)

#include "gc_events.h"

#include "alloc_log.h"
#include "clock.h"
#include "counts.h"
#include "cycle.h"
#include "event.h"
#include "gc_objects.h"
#include "lock.h"
#include "persistent.h"
#include "process.h"
#include "real.h"
#include "tls.h"
#include "trace_events.h"
#include "trace_hooks.h"
#include "trace_user.h"

// Weak, as all of libgc.
extern void *GC_base(void *p) __attribute__((weak));
extern int GC_is_marked(const void *p) __attribute__((weak));
extern uintptr_t GC_get_gc_no(void) __attribute__((weak));
extern void GC_set_on_collection_event(mprof_gc_handler f)
    __attribute__((weak));
extern mprof_gc_handler GC_get_on_collection_event(void) __attribute__((weak));

// What the handler calls, found before it is set: with the world stopped, the
// loader's lock may be a stopped thread's.
static struct {
  void *(*_Atomic base)(void *);
  int (*_Atomic is_marked)(const void *);
  uintptr_t (*_Atomic collections)(void);
} gc;

// The program's handler, which ours calls.
static _Atomic mprof_gc_handler program_s;
// Number of the last collection that our handler has heard of, or that came
// before it was set; + 1.
static _Atomic uintptr_t heard_of;

// Guarded by libgc's lock but for the thread, which others compare with theirs.
static struct {
  _Atomic(void *) thread; // &mprof_tls of the one that has gc_lock, or NULL
  bool is_inside;         // in the handler
  uintptr_t frame;        // of the handler
  bool is_skipped;        // a collection that the guard forbids to follow
} collecting;

// When they began, for the trace: while the world is stopped nothing is put
// into it. Guarded as collecting.
static struct {
  uint64_t stop, mark, mark_end, reclaim;
} phases;

bool mprof_gc_is_collecting(void) {
  return atomic_load_explicit(&collecting.thread, memory_order_relaxed) ==
         (void *)&mprof_tls;
}

// GC_memalign may give a pointer into an object.
static bool is_live(void *object) {
  void *base = gc.base(object);
  return base && gc.is_marked(base);
}

static void count_free(void *object, uint32_t handle) {
  (void)object;
  mprof_count_free(mprof_persistent_pointer(handle),
                   (mprof_cycle_read() + 1) % 3);
}

static void count_and_log_free(void *object, uint32_t handle) {
  count_free(object, handle);
  mprof_alloc_log_free(mprof_persistent_pointer(handle), object, MPROF_LOG_GC,
                       collecting.frame);
}

// With the guard: what the program's handler does while the world is stopped is
// not counted, since any other lock of ours may be a stopped thread's.
static void take_objects(void) {
  if (atomic_load(&collecting.thread) || collecting.is_skipped)
    return;
  collecting.is_skipped = !mprof_guard_enter();
  if (collecting.is_skipped)
    return;
  if (mprof_trace_is_on()) // first: a thread's first record takes trace_lock
    mprof_trace_gc(false);
  mprof_lock_acquire(&mprof_gc_lock);
  atomic_store(&collecting.thread, (void *)&mprof_tls);
}

static void end_mark(void) {
  take_objects(); // a libgc without threads has not told of a world to stop
  if (!mprof_gc_is_collecting())
    return;
  atomic_store(&heard_of, gc.collections() + 1);
  mprof_cycle_claim(MPROF_CYCLE_COLLECTOR);
  mprof_cycle_next();
  mprof_gc_mark_dead(is_live);
}

static void trace_collection(void) {
  if (phases.mark_end != 0)
    mprof_trace_phases(
        (const struct mprof_trace_phase[]){
            {"GC: world stopped", phases.stop, false},
            {"GC: mark", phases.mark, false},
            {"GC: mark", phases.mark_end, true},
            {"GC: world stopped", mprof_clock_about(), true}},
        4);
  mprof_trace_gc(true);
}

static void release_objects(void) {
  collecting.is_skipped = false;
  if (!mprof_gc_is_collecting())
    return;
  atomic_store(&collecting.thread, NULL);
  mprof_lock_release(&mprof_gc_lock);
  mprof_cycle_flush();
  if (mprof_trace_is_on())
    trace_collection();
  if (mprof_events_log())
    mprof_alloc_log_collection(collecting.frame);
  mprof_guard_leave();
}

static void end_reclaim(void) {
  release_objects(); // as above
  if (!mprof_guard_enter())
    return; // the next collection finds these objects
  mprof_lock_acquire(&mprof_gc_lock);
  mprof_gc_sweep(is_live, mprof_events_log() ? count_and_log_free : count_free);
  mprof_lock_release(&mprof_gc_lock);
  mprof_cycle_post_sweep();
  if (mprof_trace_is_on())
    mprof_trace_phases(
        (const struct mprof_trace_phase[]){
            {"GC: sweep", phases.reclaim, false},
            {"GC: sweep", mprof_clock_about(), true}},
        2);
  mprof_guard_leave();
}

static void follow(int event) {
  if (!atomic_load_explicit(&mprof_is_ready, memory_order_acquire))
    return;
  switch (event) {
  case MPROF_GC_PRE_STOP_WORLD:
    phases.mark_end = 0;
    phases.stop = mprof_clock_about();
    take_objects();
    break;
  case MPROF_GC_MARK_START:
    phases.mark = mprof_clock_about();
    break;
  case MPROF_GC_MARK_END:
    phases.mark_end = mprof_clock_about();
    end_mark();
    break;
  case MPROF_GC_RECLAIM_START:
    phases.reclaim = mprof_clock_about();
    break;
  case MPROF_GC_POST_START_WORLD:
    release_objects();
    break;
  case MPROF_GC_RECLAIM_END:
    end_reclaim();
    break;
  default:
    break;
  }
}

// A library may have set a handler over ours that calls ours only at times, and
// ours was then set over that: its call ends here.
static void on_event(int event) {
  if (collecting.is_inside)
    return;
  collecting.is_inside = true;
  collecting.frame = (uintptr_t)__builtin_frame_address(0);
  follow(event);
  mprof_gc_handler next = atomic_load(&program_s);
  if (next)
    next(event);
  collecting.is_inside = false;
}

// A function of libgc's for a caller that the program was not linked with it
// for, see real.h; NULL in a libgc that is too old.
#define FIND(f)                                                                \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    __typeof__(&f) real_ = f;                                                  \
    if (mprof_unlikely(!real_))                                                \
      real_ = (__typeof__(&f))mprof_find_real(#f, &found_, caller);            \
    real_;                                                                     \
  })

// Puts our handler in its place, before what is there; false where libgc lacks
// what it needs. Two threads may do so at once; both find the same.
static bool install(void *caller) {
  gc.base = FIND(GC_base);
  gc.is_marked = FIND(GC_is_marked);
  gc.collections = FIND(GC_get_gc_no);
  if (!gc.base || !gc.is_marked || !gc.collections ||
      !FIND(GC_set_on_collection_event) || !FIND(GC_get_on_collection_event))
    return false;
  mprof_gc_handler now = FIND(GC_get_on_collection_event)();
  if (now != on_event) {
    atomic_store(&program_s, now);
    FIND(GC_set_on_collection_event)(on_event);
  }
  return true;
}

// Code without MProf may set a handler over ours. If that does not call ours,
// there will have been a collection that ours has not heard of. Its dead are
// found by the next.
void mprof_gc_listen(void *caller) {
  uintptr_t (*collections)(void) = FIND(GC_get_gc_no);
  if (!collections)
    return;
  uintptr_t now = collections() + 1;
  if (mprof_likely(atomic_load(&heard_of) == now))
    return;
  install(caller);
  atomic_store(&heard_of, now);
}

void mprof_gc_set_handler(mprof_gc_handler handler, void *caller) {
  if (install(caller))
    atomic_store(&program_s, handler);
  else
    FIND(GC_set_on_collection_event)(handler);
}

mprof_gc_handler mprof_gc_get_handler(void *caller) {
  mprof_gc_handler now = FIND(GC_get_on_collection_event)();
  return now == on_event ? atomic_load(&program_s) : now;
}

void mprof_gc_reset(void) {
  mprof_gc_objects_reset();
  atomic_store(&collecting.thread, NULL);
  collecting.is_inside = false;
  collecting.is_skipped = false;
}
