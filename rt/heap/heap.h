// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the allocations and frees of the heap. An entry of the runtime, such
// as __mprof_malloc, counts a block in these steps:
//
//   MPROF_SAMPLE_ALLOC   decides whether to count the block       (event.c)
//   mprof_place_block    allocates it on a page boundary, or the entry calls
//                        the program's own allocator     (page_placement.c)
//   mprof_event_alloc    finds the bucket, puts the block into the live map,
//                        and counts                   (event.c, livemap.c)
//
// A free takes the block from the live map: mprof_event_free. (Go:
// mProf_Malloc, mProf_Free)
//
// The callers need not set the recursion guard. If the guard is already set,
// the caller is a signal handler that has interrupted the runtime. An
// allocation in this handler is counted as lost.

#ifndef MPROF_RT_HEAP_HEAP_H
#define MPROF_RT_HEAP_HEAP_H

#include "bucket/bucket.h"
#include "sys/abi_words.h"
#include "sys/base.h"
#include "sys/lock.h"

// --- which allocations are counted ---
//
// Sample points form a Poisson process over the allocated bytes. So a block of
// `size` bytes is counted with probability 1 - exp(-size / rate). event.c
// explains the mathematics. (Go: nextSample, profilealloc)

// Largest sampling rate in bytes. (Go: 0x7000000 in nextSampleNoFP)
#define MPROF_MAX_RATE 0x7000000u
// Smallest sampling rate in bytes at which counted blocks are placed on page
// boundaries. At a smaller rate, so many blocks are counted that one page for
// each would cost too much memory. So no block is placed, and all frees call
// the runtime.
#define MPROF_MIN_PLACED_RATE 65536u

// Returns the current sampling rate, which is the mean number of bytes between
// samples.
uint64_t mprof_sample_rate(void);
// Sets the sampling rate, and adapts to this rate the address masks by which
// call sites of free and delete recognize blocks that may be counted
// (page_placement.c). Makes each thread draw a new distance to its next sample
// at its next allocation. Returns the previous rate.
uint64_t mprof_sample_set_rate(uint64_t rate);

// Decides whether to count an allocation of `size` bytes. The call site has
// already subtracted `size` from the countdown. If the size of the block is a
// product, as in calloc, `size` is this product modulo 2^64. If the allocation
// is counted, stores the sampling rate in *rate. If the countdown has run out,
// sets the countdown to the distance to the next sample.
bool mprof_sample_hit(size_t size, uint64_t *rate);

// Returns a random number of bytes to the next sample. The number is
// exponentially distributed with mean `rate`. random26 has the 26 random bits
// from which it is made. (Go: fastexprand)
int64_t mprof_sample_next(uint64_t rate, uint32_t random26);

// Sets the initial sampling rate. Call this at start.
void mprof_sample_init(uint64_t rate);

// --- where counted blocks lie ---
//
// The malloc family and the family of operator new may place their counted
// blocks on page boundaries. If a family does so, a call site that frees a
// block off a page boundary knows that the block is not counted
// (page_placement.c).

// Decides once, at start, which families of functions place their counted
// blocks on page boundaries. page_placement.c explains the rules. free_entry:
// the runtime's entry of free, which sites call for each block if the malloc
// family does not place its counted blocks.
void mprof_place_init(void (*free_entry)(void *ptr));
extern MPROF_HIDDEN struct mprof_place {
  // Whether the malloc family may place its counted blocks on page boundaries,
  // by calling posix_memalign.
  bool c;
  // Whether operator new may place its counted blocks on page boundaries, by
  // calling posix_memalign.
  bool cxx;
  bool is_glibc; // malloc is glibc's malloc
  void (*free_entry)(void *ptr);
} mprof_place; // written once by mprof_place_init
// Return whether the malloc family (c) or operator new (cxx) places its counted
// blocks on page boundaries at the current sampling rate.
static inline bool mprof_place_c(void) {
  // Acquire: a thread that counts a block off a page boundary also sees the
  // change of __mprof_free_off_page.
  return mprof_place.c &&
         __atomic_load_n(&__mprof_free_mask, __ATOMIC_ACQUIRE) != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets __mprof_free_mask (malloc family) and __mprof_delete_mask (operator new)
// to 0 if the family does not place its counted blocks on page boundaries at
// this sampling rate, and __mprof_free_off_page to the entry of free. Call
// sites use a mask other than 0 to test whether a freed block is on a page
// boundary. A mask that is 0 stays 0.
void mprof_place_set_masks(uint64_t rate);
// Allocates a block of at least `size` bytes on a page boundary, with the
// alignment `align`, a power of two. Returns NULL if there is no memory. Keeps
// errno. The allocator's functions free and resize the block.
void *mprof_place_block(size_t size, size_t align);
// Does the same for a block that the program resizes or is likely to resize. If
// the block is large, the memory behind it is free, so that the next resize
// need not move the block.
void *mprof_place_resized_block(size_t size);
// Frees a block that the runtime, not the program, wants to free. The free does
// not change how glibc gets memory for later blocks. p may be NULL.
void mprof_place_free(void *p);
// Returns whether glibc's malloc has allocated the block at p as a memory
// mapping of its own, and not in its heap. Other allocators: false.
static inline bool mprof_place_is_mapping(const void *p) {
  // Bit 1 of the size word before a block.
  return mprof_place.is_glibc && (((const size_t *)p)[-1] & 2) != 0;
}
// Returns whether all bytes of a block of mprof_place_block are known to be 0,
// before the program has got the block.
bool mprof_place_is_zeroed(const void *p, size_t size);

// --- events ---

// The family of functions that allocated a block. C: malloc and related
// functions. CXX: operator new. OTHER: any other function.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

// The family of the blocks that a file of entries counts. A file with entries
// of malloc or operator new defines this macro before it includes this header.
#ifndef MPROF_ALLOCATOR_FAMILY
#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_OTHER
#endif

// An allocation that is to be counted.
struct mprof_alloc {
  size_t size;
  uint64_t rate;   // heap_rate at which the sample was chosen
  uintptr_t frame; // frame address of the runtime's entry
  enum mprof_family family;
  // True: count the block only if it is on a page boundary, because call sites
  // free all other blocks without a call of the runtime.
  bool must_place;
};

// Decides whether to count an allocation of `bytes` bytes. If so, fills the
// struct mprof_alloc at a, and the expression is true. may_place: whether the
// family of functions, malloc's or operator new's, places counted blocks on
// page boundaries. Use this macro in the entry itself, because the recorded
// stack starts at the return address of the function that uses the macro.
#define MPROF_SAMPLE_ALLOC(a, bytes, may_place)                                \
  ((a)->size = (bytes), (a)->frame = (uintptr_t)__builtin_frame_address(0),    \
   mprof_sample_hit((bytes), &(a)->rate) &&                                    \
       ((a)->family = MPROF_ALLOCATOR_FAMILY, (a)->must_place = (may_place),   \
        true))

// Counts the block at ptr, which the allocator has returned for the allocation
// a. Returns ptr. Does nothing if ptr is NULL, because the allocation has
// failed. If the block cannot be counted, counts the event as lost.
void *mprof_event_alloc(const struct mprof_alloc *a, void *ptr);

// mprof_event_release removes the block at ptr from the live map and returns
// facts about it. Call this function before the allocator can give the block's
// address to another thread. Then pass the result to mprof_event_freed,
// mprof_event_resized or mprof_event_kept. If the block is not counted, `cell`
// is 0.
struct mprof_released {
  uint32_t cell; // handle of the cell that has counted the block (bucket.h)
  // Only for observers, the heapx counters: the results of mprof_heapx_is_last
  // and mprof_heapx_slack for the block (heapx.h). 0 if the option heapx is
  // off.
  bool is_last;
  size_t slack;
};
struct mprof_released mprof_event_release(void *ptr);
// Counts the free of a block that mprof_event_release has removed. The free is
// counted in index C+2 of the cycle machine (bucket.h), where C is the number
// of the current cycle. Only the frees of a garbage collector are counted in
// another index. (Go: mProf_Free)
void mprof_event_freed(struct mprof_released r);
// Counts the free of the block at ptr, if the block is counted. Call this
// before the block is freed.
void mprof_event_free(void *ptr);
// Counts that the block at ptr was resized to `size` bytes and is now at
// moved_to. moved_to is NULL if the reallocation has freed the block. r is the
// result of mprof_event_release. countdown is the value of the thread's
// sampling countdown before the call site subtracted `size`.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// Inserts a block into the live map again after mprof_event_release, because
// the reallocation of the block has failed. If this is not possible, counts the
// free of the block, because its later free would not be recognized.
void mprof_event_kept(struct mprof_released r, void *ptr);

// Events of blocks of the program's own allocators. A block of such an
// allocator and a heap block at the same address are counted separately. ptr
// must not be NULL.
struct mprof_alloc_owner {
  uintptr_t arena; // address that identifies the block's arena; 0: none
  // True: the new block contains the blocks that are already counted at ptr,
  // and these blocks stay counted.
  bool is_outer;
};
void mprof_event_custom_alloc(const struct mprof_alloc *a, void *ptr,
                              const struct mprof_alloc_owner *owner);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena. Call this when the program resets
// the arena.
void mprof_event_arena_reset(const void *arena);

// --- observers ---
//
// An event is passed to the trace and to observers: the heapx counters, the
// counters of the peak, the allocation log, and the probes of other tools.

// The allocator that owns a logged block. Blocks of different allocators may
// have the same address at the same time, because an arena's first block has
// the address of the arena.
enum mprof_log_kind {
  MPROF_LOG_HEAP,
  MPROF_LOG_CUSTOM, // an allocator that the program defines
  MPROF_LOG_GC,     // a garbage collector
};

// Who observes events. If the word is 0, an event is only counted. The read is
// not atomic, because the compiler would need one instruction more. Each event
// is a call, so it reads the word anew.
union mprof_event_watch {
  uint64_t any;
  struct {
    // Written at start and in a forked child.
    bool has_heapx, has_peak, has_log;
    // Semaphores of the probes otel_memory:alloc and otel_memory:free (usdt.h):
    // numbers of the tools that observe these probes. Written by the kernel.
    _Alignas(4) uint16_t alloc_probes;
    uint16_t free_probes;
  };
};
extern MPROF_HIDDEN union mprof_event_watch mprof_event_watch;
static inline bool mprof_is_observed(void) {
  return mprof_unlikely(mprof_event_watch.any != 0);
}
// Set mprof_event_watch. Call mprof_observe_init at start. Call
// mprof_observe_init_child in a forked child; is_profiled tells whether the
// child is profiled.
void mprof_observe_init(void);
void mprof_observe_init_child(bool is_profiled);

// Pass an event to the observers. Call these functions only if
// mprof_is_observed returns true, and, except mprof_observe_release, with the
// recursion guard set.

// A block was allocated. b: its bucket, or NULL if it could not be counted.
// is_measured: whether malloc_usable_size may be called for the block.
void mprof_observe_alloc(struct mprof_bucket *b, const void *ptr,
                         enum mprof_log_kind kind, bool is_measured);
// The block at ptr was removed from the live map, and its address is not yet
// free. r->cell: the block's cell; 0 if it was not counted. Sets the other
// fields of *r.
void mprof_observe_release(struct mprof_released *r, const void *ptr,
                           enum mprof_log_kind kind);
// The block at ptr, which was released, stays allocated, because its
// reallocation has failed.
void mprof_observe_kept(const struct mprof_released *r, const void *ptr,
                        enum mprof_log_kind kind);
// A block has gone without a call that frees this block. ptr: its address, or
// NULL if this was noticed later, when the address had another block. frame:
// see mprof_alloc_log_free.
void mprof_observe_gone(uint32_t cell, const void *ptr,
                        enum mprof_log_kind kind, uintptr_t frame);
// A garbage collection has ended.
void mprof_observe_collection(uintptr_t frame);

// --- the live map ---
//
// Maps the address of each live counted block to the block's cell: the counters
// of the thread that has counted the block (bucket.h). (Go: setprofilebucket,
// the special of a span)
//
// Heap blocks are in two radix trees of 32-bit handles. One tree has a slot for
// each 4 KiB page and contains the blocks on page boundaries, so all sampled
// blocks that the runtime has placed there (page_placement.c). It is small,
// also if the heap is large. The other tree contains the other blocks. The
// trees need no lock, because only one thread at a time owns a block. If every
// block is counted (heap_rate=1), the second tree takes 8 bytes for every 256
// bytes of the heap, and 64 bytes more if these contain several blocks.
//
// Blocks off a 16-byte boundary are in a hash table with a lock. Such blocks
// come from the program's own allocators and from small size classes of some
// mallocs.
//
// Blocks of the program's own allocators have a third tree. The first block of
// an arena may have the same address as the malloc'ed block that contains the
// arena. The map must contain both blocks.

// Inserts a block with its cell. If the map already has a block at addr, the
// runtime did not see the free of the old block. In this case stores the old
// block's cell in *stale; otherwise stores 0. Returns false if there is no
// memory. Call with the recursion guard set.
bool mprof_live_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes the block at addr and returns its cell, or 0 if the map does not
// contain the block. If mprof_live_needs_guard(addr), call with the recursion
// guard set.
uint32_t mprof_live_take(uintptr_t addr);
// The trees have slots for addresses of at most this many bits.
#define MPROF_LIVE_ADDRESS_BITS 47
// Returns whether the trees have no slot for addr. A block at such an address
// is in the hash table, whose lock must only be taken with the recursion guard
// set.
static inline bool mprof_live_needs_guard(uintptr_t addr) {
  return (addr & 15) != 0 || addr >> MPROF_LIVE_ADDRESS_BITS != 0;
}
// Forgets all blocks of the heap, and the addresses of custom blocks. Call this
// in a forked child, with mprof_custom_reset.
void mprof_live_reset(void);

// --- custom blocks: those of the program's own allocators ---

// If the program frees a single block, the runtime finds it by its address. If
// the program frees a whole arena, the runtime finds the arena's blocks by the
// address that identifies the arena. Call these functions with the recursion
// guard set.

// Maximum number of nested blocks at one address. Blocks are nested if one
// allocator of the program takes its memory from another.
#define MPROF_CUSTOM_LEVELS 8

struct mprof_custom_block {
  uintptr_t addr;
  uintptr_t arena; // the address that identifies the arena; 0: no arena
  uint32_t cell;   // handle
  // This block contains the blocks that are already at addr. Those stay
  // counted.
  bool is_outer;
};

// Inserts the block b. If b->is_outer is false and the map has other blocks at
// the same address, the program must have freed those blocks unseen by the
// runtime. In this case, removes them and calls `stale` with the cell of each.
// Returns false if there is no memory.
bool mprof_custom_put(const struct mprof_custom_block *b,
                      void (*stale)(uint32_t cell));
// Removes the block at addr and returns its cell, or returns 0 if there is no
// block. If there are nested blocks at addr, removes the outermost block.
uint32_t mprof_custom_take(uintptr_t addr);
// Removes all blocks of an arena and calls `gone` with the address and the cell
// of each block. If the arena's slot of the hash table has no arena with
// counted blocks, takes no lock.
void mprof_custom_empty(uintptr_t arena,
                        void (*gone)(uintptr_t addr, uint32_t cell));
// Forgets all arenas. Call this in a forked child.
void mprof_custom_reset(void);

// --- the allocation log ---
//
// The log (option alloc_log) is a text file with a record for each allocation
// and each free of a counted block, that is, of a block that sampling has
// selected, and for each garbage collection. (Go: tracealloc, tracefree,
// tracegc)
//
// Each record is written to the file immediately, so the log of a killed
// process is complete. When the file is full, it is renamed to PATH.1, and a
// new file begins at PATH. An older PATH.1 is replaced.

// Opens the log if the option alloc_log names a file. Call this at the start of
// the process. Returns whether the log is open. Reports a failure on stderr.
bool mprof_alloc_log_init(void);
// Call these functions in a forked child. First, mprof_alloc_log_leave closes
// the parent's file. If the child is profiled, mprof_alloc_log_start_in_child
// then opens a new file, or reports on stderr that the child has no log. The
// result tells whether the log is open.
void mprof_alloc_log_leave(void);
bool mprof_alloc_log_start_in_child(void);

// The next functions record events. Call them with the recursion guard set,
// while the log is open, and before the allocator can give the block's address
// to another thread. The parameter `frame` is the frame address of a function
// whose caller is the first frame of the record's stack. If `frame` is 0, the
// record's stack begins with the caller of the runtime's entry.

// Records the allocation of the block at ptr, which is counted in the bucket b.
// The record shows the stack of b.
void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind);
// Records the free of the block at ptr. b is the block's bucket, or NULL if the
// block is not counted. If b is NULL, the free is recorded only if heap_rate is
// 1. With this rate every block is counted, so a block without a bucket was
// freed twice, or was allocated by uninstrumented code.
void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame);
// Records the end of a garbage collection. Do not call this while the collector
// has stopped the other threads, because a stopped thread may hold log_lock.
void mprof_alloc_log_collection(uintptr_t frame);
// Adds 1 to the number of lost events. Call this for an event that cannot be
// recorded. The recursion guard need not be set.
void mprof_alloc_log_lose(void);

// Returns the path of the log, or NULL if there is no log. Stores the number of
// records in *records. Call this at the end of the process.
const char *mprof_alloc_log_path(uint64_t *records);

// --- objects of a garbage collector ---
//
// A table has the counted objects of Boehm's garbage collector, libgc. After
// each collection, the runtime's handler of these events finds the dead objects
// and begins the next cycle of the heap profile (bucket.h). gc.c declares
// libgc's types itself instead of including <gc/gc.h>, because the runtime is
// built without libgc. (Go: the profile specials of a span)

// gc_lock guards the table. The collecting thread holds gc_lock while the world
// is stopped (all other threads are stopped), so that no stopped thread holds
// gc_lock. A thread that holds gc_lock must not call the collector.
extern MPROF_HIDDEN struct mprof_lock mprof_gc_lock;

// Inserts an object with the handle of the cell that counts it (bucket.h). If
// the table already has an object at addr, the runtime did not see the death of
// the old object. In this case stores the old object's cell in *stale;
// otherwise stores 0. Returns false if there is no memory. Call with gc_lock
// held.
bool mprof_gc_put(uintptr_t addr, uint32_t cell, uint32_t *stale);
// Removes an object and returns its cell, or 0 if the table does not have the
// object. Call with gc_lock held.
uint32_t mprof_gc_take(uintptr_t addr);
// Returns the number of objects. gc_lock need not be held.
size_t mprof_gc_count(void);
// The values of libgc's GC_EventType. These values are part of libgc's ABI
// since version 7.6. A test compares the values with libgc's header.
enum mprof_gc_event {
  MPROF_GC_MARK_START = 1,
  MPROF_GC_MARK_END = 2,
  MPROF_GC_RECLAIM_START = 3,
  MPROF_GC_RECLAIM_END = 4,
  MPROF_GC_PRE_STOP_WORLD = 6,
  MPROF_GC_POST_START_WORLD = 9,
};

// A handler of collection events. (libgc: GC_on_collection_event_proc)
typedef void (*mprof_gc_handler)(int event);

// Installs the runtime's handler of collection events, unless it is already
// installed. Call this with no lock held, before mprof_gc_put inserts an
// object. `caller` is an address in the program's code that called the runtime.
void mprof_gc_listen(void *caller);
// Set and get the program's own handler. The runtime's handler calls the
// program's handler after its own work. `caller` is an address in the program's
// code that called the runtime.
void mprof_gc_set_handler(mprof_gc_handler handler, void *caller);
mprof_gc_handler mprof_gc_get_handler(void *caller);
// Returns whether the calling thread is in a collection and therefore holds
// gc_lock.
bool mprof_gc_is_collecting(void);
// Forgets all objects and collections. Call this in a forked child.
void mprof_gc_reset(void);

#endif // MPROF_RT_HEAP_HEAP_H
