// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of all Gs (goroutines), Ps (processors of Go's scheduler) and Ms
// (threads) while a trace is read. Decides which event can come next.

#ifndef MPROF_TRACE_STATES_H
#define MPROF_TRACE_STATES_H

#include "common/idmap.h"
#include "text.h"

struct trace;
struct trace_event;

enum g_status {
  G_ABSENT,
  G_RUNNABLE,
  G_RUNNING,
  G_IN_CALL,
  G_WAITING,
  G_KINDS
};
extern const char *const g_status_names[];

enum p_status { P_ABSENT, P_RUNNING, P_IDLE, P_IN_CALL, P_ABANDONED, P_KINDS };
extern const char *const p_status_names[];

struct region {
  uint64_t task;
  struct trace_text name;
};

struct g_state {
  enum g_status status;
  // Sequence number, and the generation in which seq counts. seq begins at 0 in
  // each generation.
  uint64_t generation, seq;
  bool assist, stop;      // a GC assist or a stop of the world is open
  struct region *regions; // open regions, innermost last
  size_t region_count, region_capacity;
};

struct p_state {
  enum p_status status;
  // Sequence number, and the generation in which seq counts. seq begins at 0 in
  // each generation.
  uint64_t generation, seq;
  bool sweep; // a sweep is open
};

struct m_state {
  uint64_t g, p; // G and P of the thread; TRACE_NONE: none
};

struct states {
  struct trace *trace;
  uint64_t first_generation;
  struct idmap g_ids, p_ids, m_ids, task_ids;
  struct g_state *gs;
  size_t g_count, g_capacity;
  struct p_state *ps;
  size_t p_count, p_capacity;
  struct m_state *ms;
  size_t m_count, m_capacity;
  uint64_t last_m; // the last thread that was looked up, and its index in ms
  size_t last_m_index;
  bool *tasks; // for each task: has begun and not ended
  size_t task_count, task_capacity;
  bool collections_known; // an event of a garbage collection has been seen
  bool collecting;
  // Sequence number of the last event of a garbage collection.
  uint64_t collection_seq;
};

struct states *states_new(struct trace *t);
void states_free(struct states *state);
void states_begin_generation(struct states *state);

// Return the state of a G (goroutine), a P (processor of Go's scheduler) or an
// M (thread). If the id is new, the function adds a state to the array. Adding
// may move the array, so earlier pointers to states of the same kind are then
// invalid.
struct g_state *state_of_g(struct states *s, uint64_t id);
struct p_state *state_of_p(struct states *s, uint64_t id);
struct m_state *state_of_m(struct states *s, uint64_t id);

// Returns whether `new` is the next sequence number after `old`, and `old` was
// set in the current generation. generation: the generation in which `old` was
// set.
bool is_next_in_sequence(const struct states *s, uint64_t generation,
                         uint64_t old, uint64_t new);

// Returns whether the event of thread ev->m can come next. If so, applies the
// event and sets ev->g and ev->p to the G and the P of the thread. If not,
// events of other threads have to come first.
bool states_advance(struct states *states, struct trace_event *ev);

// Reports that event ev breaks the rule. The arguments after rule are those of
// printf.
#define VIOLATE(s, ev, rule, ...)                                              \
  violate((s)->trace, TRACE_RULE_##rule, (ev)->offset, __VA_ARGS__)

#endif
