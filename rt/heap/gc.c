// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles the collection events of libgc and finds the dead objects. (Go:
// gcMarkTermination, mProf_NextCycle, mProf_Flush, mProf_PostSweep; the sweep's
// mProf_Free)
//
// libgc calls the runtime's handler with libgc's lock held. So the handler must
// not allocate from libgc, and must not wait for a thread that allocates from
// libgc. In one garbage collection, the handler acts on the events below.
// "Cycle" means a cycle of the heap profile (counts.h). The world is stopped
// while the collector has stopped all other threads.
//
//   PRE_STOP_WORLD    Take gc_lock, so that no thread holds gc_lock while it is
//                     stopped.
//   MARK_END          The world is stopped. Begin the next cycle. Objects
//                     without libgc's mark are dead, unless a finalizer will
//                     use them.
//   POST_START_WORLD  Release gc_lock. Flush the cycles.
//   RECLAIM_END       libgc has also marked the objects that finalizers can
//                     reach. Objects that still have no mark are freed. Count
//                     their frees in index C+1, where C is the number of the
//                     current cycle. (Explicit frees are counted in index C+2.)
//                     Then publish index C+1 (mprof_cycle_publish_swept).
//
// libgc holds its lock from MARK_END to RECLAIM_END. In this time marks do not
// change, and the memory of a dead object is not allocated again. But libgc may
// release whole heap blocks of dead objects together with the blocks' headers.
// GC_is_marked reads the header of an object's heap block. So the handler first
// calls GC_base, which checks that the header exists.
//
// A collection that libgc abandons has no MARK_END.

#include "heap/gc.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "heap/alloc_log.h"
#include "heap/observers.h"
#include "process/process.h"
#include "sys/clock.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "trace/trace_events.h"

// --- the table of objects ---

// The table stores the complement of each object's address, so that the
// collector does not take the stored value for a reference to the object. The
// field `mark` is DEAD if the object was dead at the end of the last
// collection's mark phase.
//
// The table is in persistent memory, which is neither a stack nor data of a
// module. So no collector scans the table. The variables of this file are data
// of a module, which the collector scans. So no variable may hold a pointer to
// an object.
enum { ALIVE, DEAD };

struct mprof_lock mprof_gc_lock = MPROF_LOCK_INIT(MPROF_RANK_GC);

static struct mprof_bucket_map table; // guarded by gc_lock

size_t mprof_gc_count(void) { return mprof_bucket_map_count(&table); }

static void *revealed(const struct mprof_value *v) { return (void *)~v->word; }

bool mprof_gc_put(uintptr_t addr, uint32_t cell, uint32_t *stale) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  return mprof_bucket_map_put(&table, ~addr, cell, stale);
}

uint32_t mprof_gc_take(uintptr_t addr) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  return mprof_bucket_map_take(&table, ~addr);
}

// --- collections ---

// These symbols are weak, because the program may not be linked with libgc.
extern void *GC_base(void *p) __attribute__((weak));
extern int GC_is_marked(const void *p) __attribute__((weak));
extern uintptr_t GC_get_gc_no(void) __attribute__((weak));
extern void GC_set_on_collection_event(mprof_gc_handler f)
    __attribute__((weak));
extern mprof_gc_handler GC_get_on_collection_event(void) __attribute__((weak));

// The functions of libgc that the handler calls. These functions are looked up
// before the handler is installed. A lookup while the world is stopped could
// deadlock, because a stopped thread may hold the loader's lock.
static struct {
  void *(*_Atomic base)(void *);
  int (*_Atomic is_marked)(const void *);
  uintptr_t (*_Atomic collections)(void);
} gc;

// The program's own handler, which the runtime's handler calls; NULL: none.
static _Atomic mprof_gc_handler program_s;
// 1 + the number of the last collection that the runtime's handler has seen.
// Until the handler sees a collection: 1 + the number of collections when the
// handler was installed.
static _Atomic uintptr_t heard_of;

// State of the handler, guarded by libgc's lock. Other threads only read the
// field `thread`, to compare it with the address of their own mprof_tls.
static struct {
  _Atomic(void *) thread; // &mprof_tls of the holder of gc_lock, or NULL
  bool is_inside;         // true while the handler runs
  uintptr_t frame;        // frame address of the handler
  // The recursion guard was already set when the collection began, so the
  // runtime ignores this collection.
  bool is_skipped;
} collecting;

// Start times of the collection's phases, guarded by libgc's lock. The times
// are written to the trace after the world has started again, because nothing
// is written to the trace while the world is stopped.
static struct {
  uint64_t stop, mark, mark_end, reclaim;
} phases;

bool mprof_gc_is_collecting(void) {
  return atomic_load_explicit(&collecting.thread, memory_order_relaxed) ==
         (void *)&mprof_tls;
}

// Returns whether libgc has marked the object. GC_is_marked needs the object's
// base address. `object` may be another address, because GC_memalign may return
// a pointer into the middle of an object.
static bool is_live(void *object) {
  void *base = gc.base(object);
  return base && gc.is_marked(base);
}

static void count_free(void *object, uint32_t cell) {
  struct mprof_cell *c = mprof_persistent_pointer(cell);
  mprof_count_free(c, (mprof_cycle_read() + 1) % 3);
  if (mprof_is_observed())
    mprof_observe_gone(cell, object, MPROF_LOG_GC, collecting.frame);
}

// Marks each object as alive or dead.
static void mark_dead(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  for (size_t i = 0; i < table.size; i++) {
    struct mprof_value *v = &table.values[i];
    if (v->bucket != 0)
      v->mark = is_live(revealed(v)) ? ALIVE : DEAD;
  }
}

// Counts the frees of the objects that are marked as dead and still not live,
// and removes these objects.
static void sweep(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_GC));
  size_t i = 0;
  while (i < table.size) {
    struct mprof_value *v = &table.values[i];
    if (v->mark == DEAD && is_live(revealed(v)))
      v->mark = ALIVE;
    if (v->mark == DEAD) {
      count_free(revealed(v), v->bucket);
      mprof_value_remove_at(&table, i); // moves a later value to index i
    } else {
      i++;
    }
  }
}

// Sets the recursion guard and takes gc_lock for a collection. While the guard
// is set, events in the program's handler are not counted. Counting these
// events while the world is stopped could deadlock, because a stopped thread
// may hold another lock of the runtime.
static void take_objects(void) {
  if (atomic_load(&collecting.thread) || collecting.is_skipped)
    return;
  collecting.is_skipped = !mprof_guard_enter_as(MPROF_GUARD_KEPT);
  if (collecting.is_skipped)
    return;
  // Write to the trace before gc_lock is taken. The first trace record of a
  // thread takes trace_lock, which must not be taken after gc_lock.
  if (mprof_trace_is_on())
    mprof_trace_gc(false);
  mprof_lock_acquire(&mprof_gc_lock);
  atomic_store(&collecting.thread, (void *)&mprof_tls);
}

static void end_mark(void) {
  take_objects(); // libgc built without threads omits PRE_STOP_WORLD
  if (!mprof_gc_is_collecting())
    return;
  atomic_store(&heard_of, gc.collections() + 1);
  mprof_cycle_claim(MPROF_CYCLE_COLLECTOR);
  mprof_cycle_advance();
  mark_dead();
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
  mprof_cycle_publish_due();
  if (mprof_trace_is_on())
    trace_collection();
  if (mprof_is_observed())
    mprof_observe_collection(collecting.frame);
  mprof_guard_leave();
}

static void end_reclaim(void) {
  release_objects(); // libgc built without threads omits POST_START_WORLD
  if (!mprof_guard_enter())
    return; // the next collection will find these dead objects
  mprof_lock_acquire(&mprof_gc_lock);
  sweep();
  mprof_lock_release(&mprof_gc_lock);
  mprof_cycle_publish_swept();
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

// The runtime's handler, which libgc calls. The handler may call itself: a
// library may install its own handler, which calls this handler, and then this
// handler may be installed again. In this case the two handlers would call each
// other forever, so is_inside ends the recursion.
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

// Evaluates to the address of libgc's function f, or to NULL if libgc is too
// old to have f. If the program is not linked with libgc, finds the f that the
// calling library uses (libc.h). The variable `caller` must be an address in
// this library.
#define FIND(f)                                                                \
  ({                                                                           \
    static struct mprof_found found_;                                          \
    __typeof__(&f) real_ = f;                                                  \
    if (mprof_unlikely(!real_))                                                \
      real_ = (__typeof__(&f))mprof_resolve_late(#f, &found_, caller);         \
    real_;                                                                     \
  })

// Installs the runtime's handler. The previous handler becomes the program's
// handler. Returns false if libgc lacks a function that the runtime's handler
// needs. Two threads may call this function at the same time, because both find
// the same functions.
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

// Installs the runtime's handler again if libgc's number of collections differs
// from heard_of, that is, if the handler has missed a collection. The reason
// may be that uninstrumented code has replaced the runtime's handler by one
// that does not call it. The next collection finds the objects that died in the
// missed collections.
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
  mprof_lock_reset(&mprof_gc_lock);
  mprof_bucket_map_reset(&table);
  atomic_store(&collecting.thread, NULL);
  collecting.is_inside = false;
  collecting.is_skipped = false;
}
