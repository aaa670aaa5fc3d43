// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of locks that threads have taken while they held other locks, and
// the cycles in it; see lock_order.h. An edge from lock A to lock B says that a
// thread that held A has waited, or might have waited, for B.
//
// A cycle of edges is a potential deadlock if all its edges can exist at the
// same time, in different threads:
// - No two of the threads hold the same lock, unless both are readers. So a
//   cycle is no deadlock if a further lock, a gate, lets only one of the
//   threads in.
// - Each thread waits for the next one. A reader does not wait for a reader,
//   unless the lock lets waiting writers go first.
//
// The graph consists of locks and not of classes of locks, so objects of the
// same type may be locked in any order that has no cycle, such as by address.
// Cycles with equal stacks, and cycles of the same locks, are one cycle.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_GRAPH_H
#define MPROF_RT_LOCK_WAIT_LOCK_GRAPH_H

#include "sys/base.h"

enum {
  MPROF_CYCLE_LOCKS = 8,   // maximum number of locks in a cycle
  MPROF_ORDER_CYCLES = 128 // maximum number of cycles that are kept
};

// A lock that a thread holds or takes.
struct mprof_order_lock {
  uintptr_t lock;
  uint32_t stack;  // handle of the bucket with the stack that took it; 0: none
  uint8_t kind;    // enum mprof_kind
  uint8_t how;     // MPROF_TAKES_*
  bool is_partial; // the stack has only the innermost function
};

// An edge of a cycle: thread tid held `from`, and then took `to`.
struct mprof_cycle_edge {
  struct mprof_order_lock from, to;
  int tid;
};

struct mprof_order_cycle {
  uint32_t len;
  uint64_t others; // number of times that other locks had the same stacks
  // Sums of hashes of all edges, with their stacks and with their locks.
  uint64_t stacks, locks;
  struct mprof_cycle_edge edges[MPROF_CYCLE_LOCKS];
};

// Numbers of the locks that have ended, by a hash of their addresses. Atomic.
enum { MPROF_GENERATIONS = 4096 };
extern MPROF_HIDDEN atomic_uint mprof_generations[MPROF_GENERATIONS];
// Returns the number for a lock. It differs between successive locks at the
// same address.
static inline atomic_uint *mprof_generation_of(uintptr_t lock) {
  return &mprof_generations[(lock >> 3) % MPROF_GENERATIONS];
}

// Adds the edges from each of the n locks that the calling thread holds to
// *taken. Call with the guard set. tid: id of the calling thread. key: a hash
// of the locks.
void mprof_graph_add(const struct mprof_order_lock *held, size_t n,
                     const struct mprof_order_lock *taken, int tid,
                     uint64_t key);
// Returns whether mprof_graph_add was called with this key. Takes no lock, and
// may forget a key.
bool mprof_graph_knows(uint64_t key);
// Removes a lock and its edges from the graph.
void mprof_graph_remove(uintptr_t lock);
// Returns whether the graph may have locks in a range of memory. Takes no lock.
bool mprof_graph_may_have(uintptr_t begin, size_t size);
// Removes the locks in a range of memory. Call with the guard set.
void mprof_graph_remove_range(uintptr_t begin, size_t size);

// Copies the cycles to v, oldest first, and returns their number.
size_t mprof_graph_cycles(struct mprof_order_cycle v[MPROF_ORDER_CYCLES]);
// Returns the number of cycles. Takes no lock.
size_t mprof_graph_cycles_len(void);

// Empties the graph in a forked child, whose persistent memory is empty.
void mprof_graph_reset(void);

#endif // MPROF_RT_LOCK_WAIT_LOCK_GRAPH_H
