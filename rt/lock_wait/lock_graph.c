// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of locks and its cycles; see lock_graph.h.
//
// Several edges may lead from A to B. They differ in whether A is held, and B
// is taken, by a reader, and in the gates: the other locks that the thread
// held. An edge with fewer gates makes one with more gates superfluous.
//
// A new edge can complete cycles. The search first goes backwards from A, and
// marks the locks that lead to A, with the number of edges. If B is among them,
// the search follows the marked locks from B to A, and checks at each edge
// whether all edges of the path can exist at the same time.

#include "lock_wait/lock_graph.h"

#include "lock_wait/lock_order.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/stats.h"

#include <string.h>

enum {
  NODES = 131072, // size of the hash table of locks
  PROBES = 64,    // slots in which a lock may be
  EDGES = 131072, // maximum number of edges
  PAIRS = 131072, // size of the hash table of edges
  FILTER = 16384, // words of the filter
  KEYS = 262144,  // size of the hash table of keys
  GATES = 14,     // maximum number of gates of an edge
  VARIANTS = 16,  // maximum number of edges between two locks
  MARKS = 20000,  // edges that the search goes backwards
  STEPS = 20000   // edges that the search goes forwards
};

// Numbers of edges are from 1; 0: no edge.
struct node {
  _Atomic uintptr_t lock; // 0: never used
  atomic_bool is_alive;
  uint8_t distance; // edges to the end of the search, if mark is its number
  uint32_t mark;
  uint32_t out, in; // first edges
};

struct edge {
  uint32_t from, to;           // indices of nodes
  uint32_t next_out, prev_out; // edges with the same `from`
  uint32_t next_in, prev_in;   // edges with the same `to`
  uint32_t next; // next edge with the same hash, or next unused edge
  uint16_t gates_len;
  uint16_t shared_gates; // bit i: gate i is held by a reader
  struct mprof_order_lock held, taken;
  int tid;
  uintptr_t gates[GATES];
};

struct graph {
  struct node nodes[NODES];
  struct edge edges[EDGES + 1];
  uint32_t pairs[PAIRS]; // first edges
  uint32_t edges_len;    // number of edges that were ever used
  uint32_t unused;       // first unused edge of those
  uint32_t searches;     // number of the last search
  uint32_t queue[NODES]; // indices of marked nodes
  // A set bit says that a lock may be in a granule of memory, by a hash of its
  // address. Read without order_lock.
  _Atomic uint64_t filter[FILTER];
  _Atomic uint64_t keys[KEYS]; // see mprof_graph_knows; a new one replaces
  struct mprof_order_cycle cycles[MPROF_ORDER_CYCLES];
};

static struct {
  struct mprof_lock lock; // order_lock
  // NULL before the first edge. Written under order_lock, as is all that it
  // points to. The first two fields of nodes are also read without the lock.
  _Atomic(struct graph *) graph;
  // Number of elements of graph->cycles; written under order_lock.
  _Atomic size_t cycles_len;
} order = {.lock = MPROF_LOCK_INIT(MPROF_RANK_ORDER)};

atomic_uint mprof_generations[MPROF_GENERATIONS];

static uint64_t hash_of(uint64_t x) {
  x *= 0x9e3779b97f4a7c15u;
  return (x ^ x >> 32) * 0xbf58476d1ce4e5b9u >> 16;
}

static struct graph *graph_now(void) {
  return atomic_load_explicit(&order.graph, memory_order_acquire);
}

// --- the node of a lock ---

// Returns the node of the lock. If there is none, returns a node that may
// become that of the lock, or NULL.
static struct node *place_of(struct graph *g, uintptr_t lock) {
  const uint64_t first = hash_of(lock);
  struct node *unused = NULL;
  for (size_t i = 0; i < PROBES; i++) {
    struct node *n = &g->nodes[(first + i) % NODES];
    if (n->lock == lock)
      return n;
    if (!unused && !n->is_alive)
      unused = n;
    if (n->lock == 0)
      break;
  }
  return unused;
}

// Returns the node of the lock, or NULL.
static struct node *node_of(struct graph *g, uintptr_t lock) {
  struct node *n = place_of(g, lock);
  return n != NULL && n->lock == lock && n->is_alive ? n : NULL;
}

// --- locks in freed memory ---

enum { GRANULE = 64, LARGE = 1 << 20 };

static _Atomic uint64_t *filter_of(struct graph *g, uintptr_t granule,
                                   uint64_t *bit) {
  const uint64_t h = hash_of(granule) % (FILTER * 64u);
  *bit = UINT64_C(1) << h % 64;
  return &g->filter[h / 64];
}

static bool may_have(struct graph *g, uintptr_t granule) {
  uint64_t bit;
  _Atomic uint64_t *word = filter_of(g, granule, &bit);
  return (atomic_load_explicit(word, memory_order_relaxed) & bit) != 0;
}

bool mprof_graph_may_have(uintptr_t begin, size_t size) {
  struct graph *g = graph_now();
  if (g == NULL || size == 0)
    return false;
  if (size >= LARGE)
    return true;
  for (uintptr_t i = begin / GRANULE; i <= (begin + size - 1) / GRANULE; i++)
    if (may_have(g, i))
      return true;
  return false;
}

void mprof_graph_remove_range(uintptr_t begin, size_t size) {
  enum { ALIGNMENT = 4 };
  struct graph *g = graph_now();
  if (g == NULL)
    return;
  for (size_t i = 0; size >= LARGE && i < NODES; i++)
    if (g->nodes[i].lock - begin < size)
      mprof_graph_remove(g->nodes[i].lock);
  for (uintptr_t i = begin; size < LARGE && i < begin + size;) {
    const uintptr_t next = (i / GRANULE + 1) * GRANULE;
    const uintptr_t limit = next < begin + size ? next : begin + size;
    for (; may_have(g, i / GRANULE) && i < limit; i += ALIGNMENT)
      mprof_graph_remove(i);
    i = next;
  }
}

// --- nodes and edges ---

static struct node *node_locked(struct graph *g, uintptr_t lock) {
  struct node *n = place_of(g, lock);
  if (n != NULL && (n->lock != lock || !n->is_alive)) {
    n->lock = lock;
    n->is_alive = true;
    n->mark = 0;
    uint64_t bit;
    _Atomic uint64_t *word = filter_of(g, lock / GRANULE, &bit);
    atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
  }
  return n;
}

static uint32_t *pair_of(struct graph *g, uint32_t from, uint32_t to) {
  return &g->pairs[hash_of((uint64_t)from << 32 | to) % PAIRS];
}

static struct edge *new_edge_locked(struct graph *g) {
  if (g->unused != 0) {
    struct edge *e = &g->edges[g->unused];
    g->unused = e->next;
    return e;
  }
  return g->edges_len == EDGES ? NULL : &g->edges[++g->edges_len];
}

static void link_edge_locked(struct graph *g, struct edge *e) {
  const uint32_t i = (uint32_t)(e - g->edges);
  struct node *from = &g->nodes[e->from], *to = &g->nodes[e->to];
  uint32_t *pair = pair_of(g, e->from, e->to);
  e->next = *pair;
  *pair = i;
  e->prev_out = e->prev_in = 0;
  e->next_out = from->out;
  e->next_in = to->in;
  g->edges[from->out].prev_out = i; // element 0 is not an edge
  g->edges[to->in].prev_in = i;
  from->out = to->in = i;
}

static void remove_edge_locked(struct graph *g, uint32_t i) {
  struct edge *e = &g->edges[i];
  uint32_t *p = pair_of(g, e->from, e->to);
  while (*p != i)
    p = &g->edges[*p].next;
  *p = e->next;
  *(e->prev_out ? &g->edges[e->prev_out].next_out : &g->nodes[e->from].out) =
      e->next_out;
  *(e->prev_in ? &g->edges[e->prev_in].next_in : &g->nodes[e->to].in) =
      e->next_in;
  g->edges[e->next_out].prev_out = e->prev_out;
  g->edges[e->next_in].prev_in = e->prev_in;
  e->next = g->unused;
  g->unused = i;
}

static void remove_node_locked(struct graph *g, struct node *n) {
  while (n->out != 0)
    remove_edge_locked(g, n->out);
  while (n->in != 0)
    remove_edge_locked(g, n->in);
  n->is_alive = false;
}

// --- whether edges can exist at the same time ---

static bool is_shared(const struct mprof_order_lock *l) {
  return (l->how & MPROF_TAKES_SHARED) != 0;
}

// Returns whether the thread of edge e holds a lock that keeps out a thread
// that holds `lock`.
static bool keeps_out(const struct edge *e, uintptr_t lock,
                      bool is_lock_shared) {
  if (e->held.lock == lock)
    return !is_lock_shared || !is_shared(&e->held);
  for (size_t i = 0; i < e->gates_len; i++)
    if (e->gates[i] == lock)
      return !is_lock_shared || !(e->shared_gates >> i & 1);
  return false;
}

static bool can_coexist(const struct edge *x, const struct edge *y) {
  if (keeps_out(y, x->held.lock, is_shared(&x->held)))
    return false;
  for (size_t i = 0; i < x->gates_len; i++)
    if (keeps_out(y, x->gates[i], x->shared_gates >> i & 1))
      return false;
  return true;
}

// Returns whether the thread of edge x waits while the thread of edge y holds
// the lock that x takes.
static bool waits_for(const struct edge *x, const struct edge *y) {
  return !is_shared(&x->taken) || !is_shared(&y->held) ||
         x->taken.how & MPROF_TAKES_AFTER_WRITERS;
}

// Returns whether the gates of x are among those of y.
static bool has_gates_of(const struct edge *y, const struct edge *x) {
  for (size_t i = 0; i < x->gates_len; i++) {
    size_t k = 0;
    while (k < y->gates_len &&
           (y->gates[k] != x->gates[i] ||
            ((x->shared_gates >> i ^ y->shared_gates >> k) & 1) != 0))
      k++;
    if (k == y->gates_len)
      return false;
  }
  return true;
}

// Returns whether edge x makes edge y superfluous.
static bool covers(const struct edge *x, const struct edge *y) {
  return x->from == y->from && x->to == y->to &&
         is_shared(&x->held) == is_shared(&y->held) &&
         is_shared(&x->taken) == is_shared(&y->taken) && has_gates_of(y, x);
}

// --- cycles ---

static struct mprof_order_cycle make_cycle(const struct edge *const *path,
                                           uint32_t len) {
  struct mprof_order_cycle c = {.len = len};
  for (uint32_t i = 0; i < len; i++) {
    const struct edge *e = path[i];
    c.edges[i] = (struct mprof_cycle_edge){e->held, e->taken, e->tid};
    c.stacks += hash_of((uint64_t)e->held.stack << 32 | e->taken.stack);
    c.locks += hash_of(e->held.lock * 31 + e->taken.lock);
  }
  return c;
}

// Stores the whole stack of the lock `held` in the edges of cycles from `held`
// to `taken` that lack it.
static void complete_cycles_locked(struct graph *g, const struct edge *e) {
  for (size_t i = 0; i < order.cycles_len; i++)
    for (uint32_t k = 0; k < g->cycles[i].len; k++) {
      struct mprof_cycle_edge *x = &g->cycles[i].edges[k];
      if (x->from.is_partial && x->from.lock == e->held.lock &&
          x->to.lock == e->taken.lock)
        x->from = e->held;
    }
}

static void add_cycle_locked(struct graph *g, const struct edge *const *path,
                             uint32_t len) {
  const struct mprof_order_cycle c = make_cycle(path, len);
  const size_t n = order.cycles_len;
  for (size_t i = 0; i < n; i++)
    if (g->cycles[i].locks == c.locks || g->cycles[i].stacks == c.stacks) {
      g->cycles[i].others += g->cycles[i].locks != c.locks;
      return;
    }
  if (n == MPROF_ORDER_CYCLES) {
    mprof_stat_add(MPROF_STAT_order_lost, 1);
    return;
  }
  g->cycles[n] = c;
  order.cycles_len = n + 1;
}

// Marks the nodes from which at most MPROF_CYCLE_LOCKS - 1 edges lead to
// `target`.
static void mark_locked(struct graph *g, uint32_t target) {
  size_t done = 0, len = 0, steps = 0;
  g->searches++;
  g->queue[len++] = target;
  g->nodes[target].mark = g->searches;
  g->nodes[target].distance = 0;
  while (done < len) {
    const struct node *n = &g->nodes[g->queue[done++]];
    if (n->distance == MPROF_CYCLE_LOCKS - 1)
      return;
    for (uint32_t i = n->in; i != 0; i = g->edges[i].next_in) {
      struct node *from = &g->nodes[g->edges[i].from];
      if (++steps > MARKS) {
        mprof_stat_add(MPROF_STAT_order_lost, 1);
        return;
      }
      if (from->mark == g->searches)
        continue;
      from->mark = g->searches;
      from->distance = n->distance + 1;
      g->queue[len++] = g->edges[i].from;
    }
  }
}

struct search {
  const struct edge *path[MPROF_CYCLE_LOCKS];
  uint32_t len, steps;
};

// Returns whether edge e can follow the path.
static bool can_follow(const struct graph *g, const struct search *s,
                       const struct edge *e) {
  const struct node *to = &g->nodes[e->to];
  if (to->mark != g->searches ||
      s->len + 1 + to->distance > MPROF_CYCLE_LOCKS ||
      !waits_for(s->path[s->len - 1], e))
    return false;
  for (uint32_t i = 0; i < s->len; i++)
    if (s->path[i]->from == e->from || !can_coexist(s->path[i], e))
      return false;
  return true;
}

// Finds the cycles that contain the edge `first`.
static void search_locked(struct graph *g, const struct edge *first) {
  struct search s = {.path = {first}, .len = 1};
  mark_locked(g, first->from);
  if (g->nodes[first->to].mark != g->searches)
    return;
  uint32_t next = g->nodes[first->to].out;
  for (;;) {
    if (next == 0) {
      if (--s.len == 0)
        return;
      next = s.path[s.len]->next_out;
      continue;
    }
    const struct edge *e = &g->edges[next];
    if (++s.steps > STEPS) {
      mprof_stat_add(MPROF_STAT_order_lost, 1);
      return;
    }
    if (!can_follow(g, &s, e)) {
      next = e->next_out;
    } else if (e->to != first->from) {
      s.path[s.len++] = e;
      next = g->nodes[e->to].out;
    } else {
      s.path[s.len] = e;
      if (waits_for(e, first))
        add_cycle_locked(g, s.path, s.len + 1);
      next = e->next_out;
    }
  }
}

// --- new edges ---

// Inserts the edge, unless it is superfluous, and finds its cycles. Edges that
// differ in their gates only are superfluous if there are many, because one of
// those in the graph will do for a cycle.
static void insert_locked(struct graph *g, const struct edge *wanted) {
  uint32_t variants = 0;
  for (uint32_t i = *pair_of(g, wanted->from, wanted->to); i != 0;
       i = g->edges[i].next) {
    struct edge *x = &g->edges[i];
    if (covers(x, wanted)) {
      if (x->held.is_partial && !wanted->held.is_partial) {
        x->held = wanted->held;
        complete_cycles_locked(g, x);
      }
      return;
    }
    variants += x->from == wanted->from && x->to == wanted->to;
  }
  if (variants == VARIANTS)
    return;
  struct edge *e = new_edge_locked(g);
  if (e == NULL) {
    mprof_stat_add(MPROF_STAT_order_lost, 1);
    return;
  }
  *e = *wanted;
  link_edge_locked(g, e);
  search_locked(g, e);
}

static void add_locked(struct graph *g, const struct mprof_order_lock *held,
                       size_t n, const struct mprof_order_lock *taken,
                       int tid) {
  struct node *to = node_locked(g, taken->lock);
  for (size_t i = 0; i < n; i++) {
    struct node *from = node_locked(g, held[i].lock);
    if (to == NULL || from == NULL || n - 1 > GATES) {
      mprof_stat_add(MPROF_STAT_order_lost, 1);
      return;
    }
    struct edge e = {.from = (uint32_t)(from - g->nodes),
                     .to = (uint32_t)(to - g->nodes),
                     .held = held[i],
                     .taken = *taken,
                     .tid = tid};
    for (size_t k = 0; k < n; k++)
      if (k != i) {
        e.shared_gates |= (uint16_t)(is_shared(&held[k]) << e.gates_len);
        e.gates[e.gates_len++] = held[k].lock;
      }
    insert_locked(g, &e);
  }
}

void mprof_graph_add(const struct mprof_order_lock *held, size_t n,
                     const struct mprof_order_lock *taken, int tid,
                     uint64_t key) {
  mprof_lock_acquire(&order.lock);
  struct graph *g = graph_now();
  if (g == NULL) {
    g = mprof_os_map(sizeof(*g));
    atomic_store_explicit(&order.graph, g, memory_order_release);
  }
  if (g != NULL) {
    add_locked(g, held, n, taken, tid);
    if (key != 0)
      atomic_store_explicit(&g->keys[key % KEYS], key, memory_order_relaxed);
  } else {
    mprof_stat_add(MPROF_STAT_order_lost, 1);
  }
  mprof_lock_release(&order.lock);
}

bool mprof_graph_knows(uint64_t key) {
  struct graph *g = graph_now();
  return g != NULL && atomic_load_explicit(&g->keys[key % KEYS],
                                           memory_order_relaxed) == key;
}

void mprof_graph_remove(uintptr_t lock) {
  struct graph *g = graph_now();
  if (g == NULL || node_of(g, lock) == NULL)
    return;
  mprof_lock_acquire(&order.lock);
  struct node *n = node_of(g, lock);
  if (n != NULL) {
    remove_node_locked(g, n);
    atomic_fetch_add_explicit(mprof_generation_of(lock), 1,
                              memory_order_relaxed);
  }
  mprof_lock_release(&order.lock);
}

size_t mprof_graph_cycles_len(void) { return order.cycles_len; }

size_t mprof_graph_cycles(struct mprof_order_cycle v[MPROF_ORDER_CYCLES]) {
  mprof_lock_acquire(&order.lock);
  const size_t n = order.cycles_len;
  if (n > 0)
    memcpy(v, graph_now()->cycles, n * sizeof(*v));
  mprof_lock_release(&order.lock);
  return n;
}

void mprof_graph_reset(void) {
  struct graph *g = graph_now();
  mprof_lock_reset(&order.lock);
  order.cycles_len = 0;
  atomic_store(&order.graph, NULL);
  if (g != NULL)
    mprof_os_unmap(g, sizeof(*g));
}
